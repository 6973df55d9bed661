use criterion::async_executor::FuturesExecutor;
use criterion::{criterion_group, criterion_main, BatchSize, Criterion};
use std::time::Duration;

fn wait(c: &mut Criterion) {
    let pause = Duration::from_millis(1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    c.bench_function("tokio", |b| b.to_async(&runtime).iter(|| tokio::time::sleep(pause)));
    c.bench_function("handle", |b| {
        b.to_async(runtime.handle()).iter_with_large_drop(|| async { 1 })
    });
    c.bench_function("custom", |b| {
        b.to_async(FuturesExecutor).iter_custom(|loops| async move { pause * loops as u32 })
    });
    c.bench_function("batched", |b| {
        b.to_async(FuturesExecutor).iter_batched(
            || vec![1],
            |v| async move { v.len() },
            BatchSize::SmallInput,
        )
    });
    c.bench_function("batched_ref", |b| {
        b.to_async(FuturesExecutor).iter_batched_ref(
            || vec![1],
            |v| std::future::ready(v.len()),
            BatchSize::PerIteration,
        )
    });
    c.bench_function("setup", |b| {
        b.to_async(FuturesExecutor).iter_with_setup(|| 1, |n| async move { n })
    });
}

criterion_group!(benches, wait);
criterion_main!(benches);

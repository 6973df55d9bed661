use criterion::{black_box, criterion_group, criterion_main};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use std::time::Duration;

fn first(c: &mut Criterion) {
    let text = "The quick brown Fox jumps over the lazy Dog ".repeat(50);
    c.bench_function("words", |b| b.iter(|| words::words(black_box(&text))));
    let mut group = c.benchmark_group("checksum");
    for n in [100usize, 2000].iter() {
        group.throughput(Throughput::Bytes(*n as u64));
        let data = &text.as_bytes()[..*n];
        group.bench_with_input(BenchmarkId::from_parameter(n), data, |b, d| {
            b.iter(|| words::checksum(black_box(d)))
        });
    }
    group.finish();
}

fn second(c: &mut Criterion) {
    c.bench_function("sort", |b| {
        b.iter_batched(
            || vec![3, 1, 2],
            |mut v| {
                v.sort();
                v
            },
            BatchSize::SmallInput,
        )
    });
    c.bench_function("fails", |b| b.iter(|| panic!("it is broken")));
}

criterion_group!(one, first);
criterion_group! {
    name = two;
    config = Criterion::default().warm_up_time(Duration::from_millis(100)).sample_size(10);
    targets = second
}
criterion_main!(one, two);

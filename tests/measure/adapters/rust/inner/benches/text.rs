use criterion::{criterion_group, criterion_main, Criterion};

fn reads(c: &mut Criterion) {
    c.bench_function("reads", |b| b.iter(|| std::fs::read("src/lib.rs").unwrap()));
}

criterion_group!(benches, reads);
criterion_main!(benches);

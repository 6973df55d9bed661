use criterion::{black_box, criterion_group, criterion_main, Criterion};
use std::time::Duration;

fn count(c: &mut Criterion) {
    let text = "to be or not to be ".repeat(100);
    c.bench_function("count", |b| b.iter(|| words::count(black_box(&text))));
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(200));
    targets = count
}
criterion_main!(benches);

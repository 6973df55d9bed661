use criterion::{black_box, criterion_group, criterion_main, Criterion};

fn all(c: &mut Criterion) {
    let text = "The quick brown Fox ";
    c.bench_function("Checksum", |b| b.iter(|| words::checksum(black_box(text))));
    let twice = text.repeat(2);
    c.bench_function("Slug", |b| b.iter(|| words::slug(black_box(&twice))));
    let v: Vec<i32> = (0..1000).map(|i| 3 * i).collect();
    c.bench_function("Find", |b| b.iter(|| words::find(black_box(&v))));
    c.bench_function("Long", |b| b.iter(|| words::long(black_box(text))));
}

criterion_group!(benches, all);
criterion_main!(benches);

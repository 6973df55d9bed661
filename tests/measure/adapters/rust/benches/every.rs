//! What Criterion has from version 0.3 to 0.8, but async.
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::profiler::Profiler;
use criterion::{criterion_group, criterion_main, AxisScale, BatchSize, Bencher, BenchmarkGroup};
use criterion::{BenchmarkId, Criterion, PlotConfiguration, SamplingMode, Throughput};
use std::path::Path;
use std::time::{Duration, Instant};

struct Ticks;
impl ValueFormatter for Ticks {
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        "ticks"
    }
    fn scale_throughputs(&self, _: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
        "ticks"
    }
    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "ticks"
    }
}
impl Measurement for Ticks {
    type Intermediate = ();
    type Value = u64;
    fn start(&self) {}
    fn end(&self, _: ()) -> u64 {
        0
    }
    fn add(&self, one: &u64, other: &u64) -> u64 {
        one + other
    }
    fn zero(&self) -> u64 {
        0
    }
    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        &Ticks
    }
}

struct Silent;
impl Profiler for Silent {
    fn start_profiling(&mut self, _: &str, _: &Path) {}
    fn stop_profiling(&mut self, _: &str, _: &Path) {}
}

fn ticks(c: &mut Criterion<Ticks>) {
    c.bench_function("ticks ", |b| b.iter(|| std::thread::sleep(Duration::from_millis(1))));
    c.bench_function("ticks/custom", |b| {
        b.iter_custom(|loops| {
            std::thread::sleep(Duration::from_millis(loops));
            1
        })
    });
}

fn fill(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, size: BatchSize) {
    group.bench_function(BenchmarkId::new(name, 1), |b| {
        b.iter_batched(|| vec![3, 1, 2], |mut v| v.sort(), size)
    });
    group.bench_function(BenchmarkId::new(name, "ref"), |b| {
        b.iter_batched_ref(|| vec![3, 1, 2], |v| v.sort(), size)
    });
}

fn batches(c: &mut Criterion) {
    let mut group = c.benchmark_group("batch");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(1))
        .measurement_time(Duration::from_millis(1))
        .nresamples(1000)
        .noise_threshold(0.1)
        .confidence_level(0.9)
        .significance_level(0.1)
        .plot_config(PlotConfiguration::default().summary_scale(AxisScale::Logarithmic))
        .sampling_mode(SamplingMode::Flat)
        .throughput(Throughput::Elements(3));
    fill(&mut group, "small", BatchSize::SmallInput);
    fill(&mut group, "large", BatchSize::LargeInput);
    fill(&mut group, "one", BatchSize::PerIteration);
    fill(&mut group, "3 batches", BatchSize::NumBatches(3));
    fill(&mut group, "of 7", BatchSize::NumIterations(7));
    group.finish();
}

fn others(c: &mut Criterion) {
    c.bench_with_input(BenchmarkId::new("input", 5), &5, |b, n| b.iter(|| n + 1))
        .bench_function("large drop", |b| b.iter_with_large_drop(|| vec![1u8; 100]))
        .bench_function("setup", |b| b.iter_with_setup(|| 1, |n| n + 1))
        .bench_function("custom", |b: &mut Bencher<'_>| {
            b.iter_custom(|loops| {
                let start = Instant::now();
                let wasted = Duration::from_millis(1);
                std::thread::sleep(wasted);
                let _ = start.elapsed();
                wasted * loops as u32 * 1000
            })
        })
        .bench_function("twice", |b| b.iter(|| 1))
        .bench_function("twice", |b| b.iter(|| 1))
        .bench_function("nothing", |_| ());
    let mut group = c.benchmark_group("str");
    group.bench_with_input("slice", "text"[..2].as_bytes(), |b, s: &[u8]| b.iter(|| s.len()));
    group.bench_with_input(BenchmarkId::from_parameter(2), &2, |b, n| b.iter(|| n + 1));
}

criterion_group!(plain, batches, others,);
criterion_group! {
    name = custom;
    config = Criterion::default().with_measurement(Ticks);
    targets = ticks
}
criterion_group! {
    name = configured;
    config = Criterion::default()
        .with_profiler(Silent)
        .with_plots()
        .without_plots()
        .with_output_color(false)
        .output_directory(Path::new("none"))
        .save_baseline("none".to_owned())
        .configure_from_args();
    targets = old
}
criterion_main!(plain, custom, configured);

#[allow(deprecated)]
fn old(c: &mut Criterion) {
    use criterion::{Benchmark, Fun, ParameterizedBenchmark};
    let two = Benchmark::new("one", |b| b.iter(|| 1)).with_function("two", |b| b.iter(|| 2));
    c.bench("functions", two.throughput(Throughput::Bytes(1)).sample_size(10));
    let several = ParameterizedBenchmark::new("add", |b, n| b.iter(|| n + 1), vec![1, 2]);
    c.bench("several", several.throughput(|n| Throughput::Bytes(*n)).sample_size(10));
    c.bench_function_over_inputs("over", |b, n: &i32| b.iter(|| n + 1), vec![1, 2]);
    c.bench_functions("fun", vec![Fun::new("named", |b, n: &i32| b.iter(|| n + 1))], 1);
}

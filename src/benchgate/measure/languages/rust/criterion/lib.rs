//! Takes the place of the crate criterion, and serves benchgate; see docs/worker-protocol.md.

mod worker;

use std::fmt::{self, Debug, Display};
use std::future::Future;
use std::marker::PhantomData;
use std::time::Duration;

pub use std::hint::black_box;

use worker::{Spent, Start};

/// What `criterion_main!` calls.
pub fn benchgate_main(run_all: &dyn Fn()) {
    worker::main("criterion", env!("CARGO_PKG_VERSION"), run_all);
}

pub mod measurement {
    use std::time::{Duration, Instant};

    pub trait ValueFormatter {
        fn format_value(&self, value: f64) -> String {
            value.to_string()
        }
        fn format_throughput(&self, _throughput: &crate::Throughput, value: f64) -> String {
            value.to_string()
        }
        fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str;
        fn scale_throughputs(
            &self,
            typical: f64,
            throughput: &crate::Throughput,
            values: &mut [f64],
        ) -> &'static str;
        fn scale_for_machines(&self, values: &mut [f64]) -> &'static str;
    }

    /// What benchgate takes is always wall time.
    pub trait Measurement {
        type Intermediate;
        type Value;
        fn start(&self) -> Self::Intermediate;
        fn end(&self, start: Self::Intermediate) -> Self::Value;
        fn add(&self, one: &Self::Value, other: &Self::Value) -> Self::Value;
        fn zero(&self) -> Self::Value;
        fn to_f64(&self, value: &Self::Value) -> f64;
        fn formatter(&self) -> &dyn ValueFormatter;

        #[doc(hidden)]
        fn benchgate_time(_value: Self::Value, elapsed: Duration) -> Duration {
            elapsed
        }
    }

    struct Nanoseconds;
    impl ValueFormatter for Nanoseconds {
        fn scale_values(&self, _typical: f64, _values: &mut [f64]) -> &'static str {
            "ns"
        }
        fn scale_throughputs(
            &self,
            _typical: f64,
            _throughput: &crate::Throughput,
            _values: &mut [f64],
        ) -> &'static str {
            ""
        }
        fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
            "ns"
        }
    }

    pub struct WallTime;
    impl Measurement for WallTime {
        type Intermediate = Instant;
        type Value = Duration;
        fn start(&self) -> Instant {
            Instant::now()
        }
        fn end(&self, start: Instant) -> Duration {
            start.elapsed()
        }
        fn add(&self, one: &Duration, other: &Duration) -> Duration {
            *one + *other
        }
        fn zero(&self) -> Duration {
            Duration::new(0, 0)
        }
        fn to_f64(&self, value: &Duration) -> f64 {
            value.as_nanos() as f64
        }
        fn formatter(&self) -> &dyn ValueFormatter {
            &Nanoseconds
        }
        fn benchgate_time(value: Duration, _elapsed: Duration) -> Duration {
            value
        }
    }
}

pub mod async_executor {
    use std::future::Future;

    pub trait AsyncExecutor {
        fn block_on<T>(&self, future: impl Future<Output = T>) -> T;
    }

    macro_rules! executor {
        ($feature:literal, $type:ty, $self:ident, $block_on:expr) => {
            #[cfg(feature = $feature)]
            impl AsyncExecutor for $type {
                fn block_on<T>(&$self, future: impl Future<Output = T>) -> T {
                    $block_on(future)
                }
            }
        };
    }

    pub struct FuturesExecutor;
    pub struct SmolExecutor;
    pub struct AsyncStdExecutor;
    executor!("async_futures", FuturesExecutor, self, futures::executor::block_on);
    executor!("async_smol", SmolExecutor, self, smol::block_on);
    executor!("async_std", AsyncStdExecutor, self, async_std::task::block_on);
    executor!("async_tokio", tokio::runtime::Runtime, self, |it| self.block_on(it));
    executor!("async_tokio", &tokio::runtime::Runtime, self, |it| (*self).block_on(it));
    executor!("async_tokio", tokio::runtime::Handle, self, |it| self.block_on(it));
    executor!("async_tokio", &tokio::runtime::Handle, self, |it| (*self).block_on(it));
}

pub mod profiler {
    pub trait Profiler {
        fn start_profiling(&mut self, _id: &str, _folder: &std::path::Path) {}
        fn stop_profiling(&mut self, _id: &str, _folder: &std::path::Path) {}
    }
    pub struct ExternalProfiler;
    impl Profiler for ExternalProfiler {}
}

use async_executor::AsyncExecutor;
use measurement::{Measurement, WallTime};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchSize {
    SmallInput,
    LargeInput,
    PerIteration,
    NumBatches(u64),
    NumIterations(u64),
}

impl BatchSize {
    fn calls(self, loops: u64) -> u64 {
        let calls = match self {
            BatchSize::SmallInput => (loops + 9) / 10,
            BatchSize::LargeInput => (loops + 999) / 1000,
            BatchSize::PerIteration => 1,
            BatchSize::NumBatches(count) => (loops + count - 1) / count,
            BatchSize::NumIterations(count) => count,
        };
        calls.max(1)
    }
}

#[derive(Debug, Clone)]
pub enum Throughput {
    Bits(u64),
    Bytes(u64),
    BytesDecimal(u64),
    Elements(u64),
    ElementsAndBytes { elements: u64, bytes: u64 },
}

#[derive(Debug, Clone, Copy)]
pub enum SamplingMode {
    Auto,
    Linear,
    Flat,
}

#[derive(Debug, Clone, Copy)]
pub enum AxisScale {
    Linear,
    Logarithmic,
}

#[derive(Debug, Clone, Copy)]
pub enum PlottingBackend {
    Gnuplot,
    Plotters,
    None,
}

#[derive(Debug, Clone, Default)]
pub struct PlotConfiguration;

impl PlotConfiguration {
    pub fn summary_scale(self, _scale: AxisScale) -> Self {
        self
    }
}

#[derive(Debug, Clone)]
pub struct BenchmarkId(String);

impl BenchmarkId {
    pub fn new<S: Into<String>, P: Display>(function: S, parameter: P) -> Self {
        BenchmarkId(format!("{}/{}", function.into(), parameter))
    }
    pub fn from_parameter<P: Display>(parameter: P) -> Self {
        BenchmarkId(parameter.to_string())
    }
}

impl Display for BenchmarkId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

pub trait IntoBenchmarkId {
    fn into_benchmark_id(self) -> BenchmarkId;
}

impl IntoBenchmarkId for BenchmarkId {
    fn into_benchmark_id(self) -> BenchmarkId {
        self
    }
}

impl<S: Into<String>> IntoBenchmarkId for S {
    fn into_benchmark_id(self) -> BenchmarkId {
        BenchmarkId(self.into())
    }
}

pub struct Bencher<'a, M: Measurement = WallTime> {
    loops: u64,
    spent: Option<Spent>,
    measurement: PhantomData<&'a M>,
}

impl<'a, M: Measurement> Bencher<'a, M> {
    #[inline(never)]
    pub fn iter<O, R: FnMut() -> O>(&mut self, mut routine: R) {
        let mut spent = Spent::default();
        let start = Start::now();
        for _ in 0..self.loops {
            black_box(routine());
        }
        spent.add(start);
        self.spent = Some(spent);
    }

    #[inline(never)]
    pub fn iter_custom<R: FnMut(u64) -> M::Value>(&mut self, mut routine: R) {
        let mut spent = Spent::default();
        let start = Start::now();
        let value = routine(self.loops);
        spent.add(start);
        spent.wall = M::benchgate_time(value, spent.wall);
        self.spent = Some(spent);
    }

    pub fn to_async<'b, A: AsyncExecutor>(&'b mut self, runner: A) -> AsyncBencher<'a, 'b, A, M> {
        AsyncBencher { bencher: self, runner }
    }

    pub fn iter_with_large_drop<O, R: FnMut() -> O>(&mut self, mut routine: R) {
        self.iter_batched(|| (), |_| routine(), BatchSize::SmallInput);
    }

    pub fn iter_with_setup<I, O, S: FnMut() -> I, R: FnMut(I) -> O>(&mut self, setup: S, routine: R) {
        self.iter_batched(setup, routine, BatchSize::PerIteration);
    }

    pub fn iter_with_large_setup<I, O, S: FnMut() -> I, R: FnMut(I) -> O>(&mut self, setup: S, routine: R) {
        self.iter_batched(setup, routine, BatchSize::NumBatches(1));
    }

    #[inline(never)]
    pub fn iter_batched<I, O, S: FnMut() -> I, R: FnMut(I) -> O>(
        &mut self,
        mut setup: S,
        mut routine: R,
        size: BatchSize,
    ) {
        let (most, mut left) = (size.calls(self.loops), self.loops);
        let mut spent = Spent::default();
        while left > 0 {
            let count = left.min(most);
            let inputs = black_box((0..count).map(|_| setup()).collect::<Vec<_>>());
            let mut outputs = Vec::with_capacity(count as usize);
            let start = Start::now();
            outputs.extend(inputs.into_iter().map(&mut routine));
            spent.add(start);
            black_box(outputs);
            left -= count;
        }
        self.spent = Some(spent);
    }

    #[inline(never)]
    pub fn iter_batched_ref<I, O, S: FnMut() -> I, R: FnMut(&mut I) -> O>(
        &mut self,
        mut setup: S,
        mut routine: R,
        size: BatchSize,
    ) {
        let (most, mut left) = (size.calls(self.loops), self.loops);
        let mut spent = Spent::default();
        while left > 0 {
            let count = left.min(most);
            let mut inputs = black_box((0..count).map(|_| setup()).collect::<Vec<_>>());
            let mut outputs = Vec::with_capacity(count as usize);
            let start = Start::now();
            outputs.extend(inputs.iter_mut().map(&mut routine));
            spent.add(start);
            black_box(outputs);
            left -= count;
        }
        self.spent = Some(spent);
    }
}

pub struct AsyncBencher<'a, 'b, A: AsyncExecutor, M: Measurement = WallTime> {
    bencher: &'b mut Bencher<'a, M>,
    runner: A,
}

impl<'a, 'b, A: AsyncExecutor, M: Measurement> AsyncBencher<'a, 'b, A, M> {
    #[inline(never)]
    pub fn iter<O, F: Future<Output = O>, R: FnMut() -> F>(&mut self, mut routine: R) {
        let AsyncBencher { bencher, runner } = self;
        runner.block_on(async {
            let mut spent = Spent::default();
            let start = Start::now();
            for _ in 0..bencher.loops {
                black_box(routine().await);
            }
            spent.add(start);
            bencher.spent = Some(spent);
        });
    }

    #[inline(never)]
    pub fn iter_custom<F: Future<Output = M::Value>, R: FnMut(u64) -> F>(&mut self, mut routine: R) {
        let AsyncBencher { bencher, runner } = self;
        runner.block_on(async {
            let mut spent = Spent::default();
            let start = Start::now();
            let value = routine(bencher.loops).await;
            spent.add(start);
            spent.wall = M::benchgate_time(value, spent.wall);
            bencher.spent = Some(spent);
        });
    }

    pub fn iter_with_large_drop<O, F: Future<Output = O>, R: FnMut() -> F>(&mut self, mut routine: R) {
        self.iter_batched(|| (), |_| routine(), BatchSize::SmallInput);
    }

    pub fn iter_with_setup<I, O, S, R, F>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(setup, routine, BatchSize::PerIteration);
    }

    pub fn iter_with_large_setup<I, O, S, R, F>(&mut self, setup: S, routine: R)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(setup, routine, BatchSize::NumBatches(1));
    }

    #[inline(never)]
    pub fn iter_batched<I, O, S, R, F>(&mut self, mut setup: S, mut routine: R, size: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(I) -> F,
        F: Future<Output = O>,
    {
        let AsyncBencher { bencher, runner } = self;
        let (most, mut left) = (size.calls(bencher.loops), bencher.loops);
        let mut spent = Spent::default();
        runner.block_on(async {
            while left > 0 {
                let count = left.min(most);
                let inputs = black_box((0..count).map(|_| setup()).collect::<Vec<_>>());
                let mut outputs = Vec::with_capacity(count as usize);
                let start = Start::now();
                for input in inputs {
                    outputs.push(routine(input).await);
                }
                spent.add(start);
                black_box(outputs);
                left -= count;
            }
        });
        bencher.spent = Some(spent);
    }

    pub fn iter_batched_ref<I, O, S, R, F>(&mut self, setup: S, mut routine: R, size: BatchSize)
    where
        S: FnMut() -> I,
        R: FnMut(&mut I) -> F,
        F: Future<Output = O>,
    {
        self.iter_batched(setup, |mut input| routine(&mut input), size);
    }
}

fn run<M: Measurement>(id: &str, body: &mut dyn FnMut(&mut Bencher<'_, M>)) {
    worker::measure(id, &mut |loops| {
        let mut bencher = Bencher { loops, spent: None, measurement: PhantomData };
        body(&mut bencher);
        bencher.spent.expect("the benchmark calls no method of Bencher")
    });
}

macro_rules! ignored {
    ($owner:ty: $($name:ident($type:ty))*) => {
        $(pub fn $name(self: $owner, _: $type) -> $owner { self })*
    };
}

pub struct Criterion<M: Measurement = WallTime>(PhantomData<M>);

impl Default for Criterion {
    fn default() -> Self {
        Criterion(PhantomData)
    }
}

impl<M: Measurement> Criterion<M> {
    ignored!(Self: sample_size(usize) warm_up_time(Duration) measurement_time(Duration)
        nresamples(usize) noise_threshold(f64) confidence_level(f64) significance_level(f64)
        plotting_backend(PlottingBackend) save_baseline(String) profile_time(Option<Duration>));

    pub fn with_plots(self) -> Self {
        self
    }
    pub fn without_plots(self) -> Self {
        self
    }
    pub fn configure_from_args(self) -> Self {
        self
    }
    pub fn output_directory(self, _folder: &std::path::Path) -> Self {
        self
    }
    pub fn with_output_color(self, _enabled: bool) -> Self {
        self
    }
    pub fn with_filter<S: Into<String>>(self, _filter: S) -> Self {
        self
    }
    pub fn with_profiler<P: profiler::Profiler + 'static>(self, _profiler: P) -> Self {
        self
    }
    pub fn with_measurement<N: Measurement>(self, _measurement: N) -> Criterion<N> {
        Criterion(PhantomData)
    }
    pub fn final_summary(&self) {}

    pub fn benchmark_group<S: Into<String>>(&mut self, name: S) -> BenchmarkGroup<'_, M> {
        BenchmarkGroup { name: name.into(), criterion: PhantomData }
    }

    pub fn bench_function<F: FnMut(&mut Bencher<'_, M>)>(&mut self, id: &str, mut body: F) -> &mut Self {
        run(id, &mut body);
        self
    }

    pub fn bench_with_input<F: FnMut(&mut Bencher<'_, M>, &I), I>(
        &mut self,
        id: BenchmarkId,
        input: &I,
        mut body: F,
    ) -> &mut Self {
        run(&id.0, &mut |bencher: &mut Bencher<'_, M>| body(bencher, input));
        self
    }
}

/// Of Criterion 0.3.
pub trait BenchmarkDefinition<M: Measurement = WallTime>: Sized {
    fn run(self, group: &str, criterion: &mut Criterion<M>);
}

type Routine<T, M> = Box<dyn FnMut(&mut Bencher<'_, M>, &T)>;

pub struct Fun<I, M: Measurement = WallTime>(String, Routine<I, M>);

impl<I, M: Measurement> Fun<I, M> {
    pub fn new<F: FnMut(&mut Bencher<'_, M>, &I) + 'static>(name: &str, body: F) -> Self {
        Fun(name.to_owned(), Box::new(body))
    }
}

pub struct ParameterizedBenchmark<T, M: Measurement = WallTime> {
    functions: Vec<Fun<T, M>>,
    parameters: Vec<T>,
}

impl<T: Debug, M: Measurement> ParameterizedBenchmark<T, M> {
    ignored!(Self: sample_size(usize) warm_up_time(Duration) measurement_time(Duration)
        nresamples(usize) noise_threshold(f64) confidence_level(f64) significance_level(f64)
        plot_config(PlotConfiguration) sampling_mode(SamplingMode));

    pub fn new<S, F, I>(id: S, body: F, parameters: I) -> Self
    where
        S: Into<String>,
        F: FnMut(&mut Bencher<'_, M>, &T) + 'static,
        I: IntoIterator<Item = T>,
    {
        let parameters = parameters.into_iter().collect();
        ParameterizedBenchmark { functions: Vec::new(), parameters }.with_function(id, body)
    }

    pub fn with_function<S, F>(mut self, id: S, body: F) -> Self
    where
        S: Into<String>,
        F: FnMut(&mut Bencher<'_, M>, &T) + 'static,
    {
        self.functions.push(Fun(id.into(), Box::new(body)));
        self
    }

    pub fn throughput<F: Fn(&T) -> Throughput + 'static>(self, _throughput: F) -> Self {
        self
    }
}

impl<T: Debug, M: Measurement> BenchmarkDefinition<M> for ParameterizedBenchmark<T, M> {
    fn run(self, group: &str, _criterion: &mut Criterion<M>) {
        let is_only = self.functions.len() == 1;
        for Fun(name, mut body) in self.functions {
            for parameter in &self.parameters {
                let mut id = group.to_owned();
                if !is_only || name != group {
                    id += &format!("/{}", name);
                }
                if self.parameters.len() > 1 {
                    id += &format!("/{:?}", parameter);
                }
                run(&id, &mut |bencher: &mut Bencher<'_, M>| body(bencher, parameter));
            }
        }
    }
}

pub struct Benchmark<M: Measurement = WallTime>(ParameterizedBenchmark<(), M>);

impl<M: Measurement> Benchmark<M> {
    ignored!(Self: sample_size(usize) warm_up_time(Duration) measurement_time(Duration)
        nresamples(usize) noise_threshold(f64) confidence_level(f64) significance_level(f64)
        plot_config(PlotConfiguration) throughput(Throughput) sampling_mode(SamplingMode));

    pub fn new<S: Into<String>, F>(id: S, mut body: F) -> Self
    where
        F: FnMut(&mut Bencher<'_, M>) + 'static,
    {
        Benchmark(ParameterizedBenchmark::new(id, move |b, _| body(b), Some(())))
    }

    pub fn with_function<S: Into<String>, F>(self, id: S, mut body: F) -> Self
    where
        F: FnMut(&mut Bencher<'_, M>) + 'static,
    {
        Benchmark(self.0.with_function(id, move |b, _| body(b)))
    }
}

impl<M: Measurement> BenchmarkDefinition<M> for Benchmark<M> {
    fn run(self, group: &str, criterion: &mut Criterion<M>) {
        self.0.run(group, criterion);
    }
}

impl<M: Measurement> Criterion<M> {
    pub fn bench<B: BenchmarkDefinition<M>>(&mut self, group: &str, benchmark: B) -> &mut Self {
        benchmark.run(group, self);
        self
    }

    pub fn bench_functions<I: Debug>(&mut self, id: &str, functions: Vec<Fun<I, M>>, input: I) -> &mut Self {
        self.bench(id, ParameterizedBenchmark { functions, parameters: vec![input] })
    }

    pub fn bench_function_over_inputs<I, F>(&mut self, id: &str, body: F, inputs: I) -> &mut Self
    where
        I: IntoIterator,
        I::Item: Debug,
        F: FnMut(&mut Bencher<'_, M>, &I::Item) + 'static,
    {
        self.bench(id, ParameterizedBenchmark::new(id, body, inputs))
    }
}

pub struct BenchmarkGroup<'a, M: Measurement = WallTime> {
    name: String,
    criterion: PhantomData<&'a mut M>,
}

impl<'a, M: Measurement> BenchmarkGroup<'a, M> {
    ignored!(&mut Self: sample_size(usize) warm_up_time(Duration) measurement_time(Duration)
        nresamples(usize) noise_threshold(f64) confidence_level(f64) significance_level(f64)
        plot_config(PlotConfiguration) throughput(Throughput) sampling_mode(SamplingMode));

    pub fn bench_function<ID: IntoBenchmarkId, F: FnMut(&mut Bencher<'_, M>)>(
        &mut self,
        id: ID,
        mut body: F,
    ) -> &mut Self {
        run(&format!("{}/{}", self.name, id.into_benchmark_id().0), &mut body);
        self
    }

    pub fn bench_with_input<ID: IntoBenchmarkId, F: FnMut(&mut Bencher<'_, M>, &I), I: ?Sized>(
        &mut self,
        id: ID,
        input: &I,
        mut body: F,
    ) -> &mut Self {
        let id = format!("{}/{}", self.name, id.into_benchmark_id().0);
        run(&id, &mut |bencher: &mut Bencher<'_, M>| body(bencher, input));
        self
    }

    pub fn finish(self) {}
}

#[macro_export]
macro_rules! criterion_group {
    (name = $name:ident; config = $config:expr; targets = $($target:path),+ $(,)*) => {
        pub fn $name() {
            let mut criterion: $crate::Criterion<_> = $config.configure_from_args();
            $($target(&mut criterion);)+
        }
    };
    ($name:ident, $($target:path),+ $(,)*) => {
        $crate::criterion_group! {
            name = $name;
            config = $crate::Criterion::default();
            targets = $($target),+
        }
    };
}

#[macro_export]
macro_rules! criterion_main {
    ($($group:path),+ $(,)*) => {
        fn main() {
            $crate::benchgate_main(&|| {
                $($group();)+
            });
        }
    };
}

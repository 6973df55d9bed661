//! Takes the place of the crate criterion, and serves benchgate; see docs/worker-protocol.md.
//!
//! A program calls its benchmarks one after the other. Each is measured when it is called, if
//! benchgate has asked for it; if it has been passed, the program calls all of them once more.

use std::cell::RefCell;
use std::fmt::{self, Display};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::marker::PhantomData;
use std::os::unix::io::FromRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::{Duration, Instant};

pub use std::hint::black_box;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    fn fcntl(descriptor: i32, command: i32, ...) -> i32;
}

#[cfg(target_os = "macos")]
const PROCESS_CPU_TIME: i32 = 12;
#[cfg(not(target_os = "macos"))]
const PROCESS_CPU_TIME: i32 = 2;

fn cpu_ns() -> i64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(PROCESS_CPU_TIME, &mut time) };
    time.seconds * 1_000_000_000 + time.nanoseconds
}

struct Worker {
    input: BufReader<File>,
    output: File,
    /// The benchmark to open; None while all are listed.
    target: Option<String>,
    found: Vec<String>,
    is_answered: bool,
    is_ended: bool,
}

thread_local! {
    static WORKER: RefCell<Option<Worker>> = RefCell::new(None);
}

fn quoted(text: &str) -> String {
    let mut all = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' | '\0'..='\x1f' => all += &format!("\\u{:04x}", c as u32),
            _ => all.push(c),
        }
    }
    all + "\""
}

fn refusal(text: &str) -> String {
    format!("{{\"error\": {}, \"trace\": \"\"}}", quoted(text))
}

impl Worker {
    fn start() -> Option<Worker> {
        let descriptor: i32 = std::env::var("BENCHGATE_FD").ok()?.parse().ok()?;
        std::env::remove_var("BENCHGATE_FD");
        let output = unsafe {
            fcntl(descriptor, 2, 1); // F_SETFD, FD_CLOEXEC
            File::from_raw_fd(descriptor)
        };
        let input = BufReader::new(output.try_clone().ok()?);
        let (target, found) = (None, Vec::new());
        let mut worker = Worker { input, output, target, found, is_answered: true, is_ended: false };
        worker.send(&format!("{{\"protocol\": 1, \"pid\": {}}}", std::process::id()));
        Some(worker)
    }

    fn send(&mut self, line: &str) {
        if writeln!(self.output, "{}", line).is_err() {
            std::process::exit(1);
        }
    }

    fn next(&mut self) -> Option<(String, String)> {
        let mut line = String::new();
        if self.input.read_line(&mut line).unwrap_or(0) == 0 {
            self.is_ended = true;
            return None;
        }
        let line = line.trim_end_matches('\n');
        let (word, argument) = line.split_once(' ').unwrap_or((line, ""));
        Some((word.to_owned(), argument.to_owned()))
    }

    /// Answer requests until one needs the program's benchmarks.
    fn wait(&mut self) {
        while let Some((word, argument)) = self.next() {
            match word.as_str() {
                "hello" => {
                    let line = hello();
                    self.send(&line);
                }
                "list" | "open" => {
                    self.target = if word == "open" { Some(argument) } else { None };
                    self.is_answered = false;
                    return;
                }
                _ => self.send(&refusal("no benchmark is open")),
            }
        }
    }

    /// Measure a benchmark if it is the one that benchgate has asked for.
    fn serve(&mut self, id: &str, run: &mut dyn FnMut(u64) -> Duration) {
        if self.target.is_none() {
            self.found.push(id.to_owned());
        }
        while !self.is_ended && !self.is_answered && self.target.as_deref() == Some(id) {
            self.is_answered = true;
            self.send("{}");
            self.measure(run);
            self.wait();
        }
    }

    fn measure(&mut self, run: &mut dyn FnMut(u64) -> Duration) {
        let mut loops = 1;
        while let Some((word, argument)) = self.next() {
            let reply = match word.as_str() {
                "s" => {
                    let start_ns = cpu_ns();
                    match catch_unwind(AssertUnwindSafe(|| run(loops))) {
                        Ok(time) => format!("{} {}", time.as_nanos(), cpu_ns() - start_ns),
                        Err(problem) => refusal(&message(problem)),
                    }
                }
                "loops" => {
                    loops = argument.parse().unwrap_or(1);
                    "{}".to_owned()
                }
                "close" => "{}".to_owned(),
                _ => refusal(&format!("a benchmark is open, and there is no step {}", word)),
            };
            self.send(&reply);
            if word == "close" {
                return;
            }
        }
    }
}

fn message(problem: Box<dyn std::any::Any + Send>) -> String {
    let text = problem.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| problem.downcast_ref::<String>().cloned());
    format!("it panicked: {}", text.unwrap_or_default())
}

fn hello() -> String {
    let steps: Vec<String> =
        (0..1000).map(|_| Instant::now().elapsed().as_nanos().to_string()).collect();
    format!(
        "{{\"language\": \"Rust\", \"tool\": \"criterion\", \"versions\": {{\"criterion\": {}}}, \
         \"clock\": \"Instant\", \"clock_steps_ns\": [{}]}}",
        quoted(env!("CARGO_PKG_VERSION")),
        steps.join(", ")
    )
}

/// Run all benchmarks, as `criterion_main!` asks for: once to list them, and again for what was passed.
pub fn benchgate_main(run_all: fn()) {
    let mut worker = match Worker::start() {
        Some(worker) => worker,
        None => {
            eprintln!("benchgate built this program: it measures only for benchgate");
            std::process::exit(1);
        }
    };
    worker.wait();
    WORKER.with(|place| *place.borrow_mut() = Some(worker));
    let mut is_first_pass = true;
    loop {
        let ended = WORKER.with(|place| place.borrow().as_ref().map_or(true, |one| one.is_ended));
        if ended {
            break;
        }
        let before = WORKER.with(|place| place.borrow().as_ref().and_then(|one| one.target.clone()));
        run_all();
        WORKER.with(|place| {
            let mut place = place.borrow_mut();
            let worker = place.as_mut().unwrap();
            if worker.is_answered || worker.is_ended {
                return;
            }
            if worker.target.is_none() {
                let found: Vec<String> =
                    worker.found.drain(..).map(|id| format!("{{\"id\": {}}}", quoted(&id))).collect();
                worker.send(&format!("{{\"benchmarks\": [{}], \"faults\": {{}}}}", found.join(", ")));
            } else if is_first_pass || worker.target != before {
                is_first_pass = false;
                return; // it may have been passed
            } else {
                let text = format!("there is no benchmark {}", worker.target.as_deref().unwrap_or(""));
                worker.send(&refusal(&text));
            }
            worker.is_answered = true;
            worker.wait();
            is_first_pass = true;
        });
    }
    WORKER.with(|place| place.borrow_mut().as_mut().unwrap().send("bye"));
    std::process::exit(0);
}

fn measure(id: &str, run: &mut dyn FnMut(u64) -> Duration) {
    let worker = WORKER.with(|place| place.borrow_mut().take());
    if let Some(mut worker) = worker {
        worker.serve(id, run);
        WORKER.with(|place| *place.borrow_mut() = Some(worker));
    }
}

pub mod measurement {
    pub trait Measurement {}
    pub struct WallTime;
    impl Measurement for WallTime {}
}

pub mod profiler {
    pub trait Profiler {
        fn start_profiling(&mut self, _id: &str, _folder: &std::path::Path) {}
        fn stop_profiling(&mut self, _id: &str, _folder: &std::path::Path) {}
    }
    pub struct ExternalProfiler;
    impl Profiler for ExternalProfiler {}
}

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
    elapsed: Duration,
    measurement: PhantomData<&'a M>,
}

impl<'a, M: Measurement> Bencher<'a, M> {
    #[inline(never)]
    pub fn iter<O, R: FnMut() -> O>(&mut self, mut routine: R) {
        let start = Instant::now();
        for _ in 0..self.loops {
            black_box(routine());
        }
        self.elapsed = start.elapsed();
    }

    #[inline(never)]
    pub fn iter_custom<R: FnMut(u64) -> Duration>(&mut self, mut routine: R) {
        self.elapsed = routine(self.loops);
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
        self.elapsed = Duration::new(0, 0);
        while left > 0 {
            let count = left.min(most);
            let inputs = black_box((0..count).map(|_| setup()).collect::<Vec<_>>());
            let mut outputs = Vec::with_capacity(count as usize);
            let start = Instant::now();
            outputs.extend(inputs.into_iter().map(&mut routine));
            self.elapsed += start.elapsed();
            black_box(outputs);
            left -= count;
        }
    }

    #[inline(never)]
    pub fn iter_batched_ref<I, O, S: FnMut() -> I, R: FnMut(&mut I) -> O>(
        &mut self,
        mut setup: S,
        mut routine: R,
        size: BatchSize,
    ) {
        let (most, mut left) = (size.calls(self.loops), self.loops);
        self.elapsed = Duration::new(0, 0);
        while left > 0 {
            let count = left.min(most);
            let mut inputs = black_box((0..count).map(|_| setup()).collect::<Vec<_>>());
            let mut outputs = Vec::with_capacity(count as usize);
            let start = Instant::now();
            outputs.extend(inputs.iter_mut().map(&mut routine));
            self.elapsed += start.elapsed();
            black_box(outputs);
            left -= count;
        }
    }
}

fn run<M: Measurement>(id: &str, body: &mut dyn FnMut(&mut Bencher<'_, M>)) {
    measure(id, &mut |loops| {
        let elapsed = Duration::new(0, 0);
        let mut bencher = Bencher { loops, elapsed, measurement: PhantomData };
        body(&mut bencher);
        bencher.elapsed
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
        plotting_backend(PlottingBackend) save_baseline(String));

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
            fn run_all() {
                $($group();)+
            }
            $crate::benchgate_main(run_all);
        }
    };
}

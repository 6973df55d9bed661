//! Serves benchgate; see docs/worker-protocol.md.
//!
//! A program calls its benchmarks one after the other. Each is measured when it is called, if
//! benchgate has asked for it; if it has been passed, the program calls all of them once more.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::io::FromRawFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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

/// The time that counts in a sample.
#[derive(Clone, Copy, Default)]
pub struct Spent {
    pub wall: Duration,
    cpu_ns: i64,
}

impl Spent {
    pub fn add(&mut self, start: Start) {
        self.wall += start.wall.elapsed();
        self.cpu_ns += cpu_ns() - start.cpu_ns;
    }
}

pub struct Start {
    cpu_ns: i64,
    wall: Instant,
}

impl Start {
    pub fn now() -> Start {
        Start { cpu_ns: cpu_ns(), wall: Instant::now() }
    }
}

struct Worker {
    tool: &'static str,
    version: &'static str,
    input: BufReader<File>,
    output: File,
    /// The benchmark to open; None while all are listed.
    target: Option<String>,
    /// The benchmarks that this pass has come to.
    found: Vec<String>,
    is_answered: bool,
    is_ended: bool,
}

static WORKER: Mutex<Option<Worker>> = Mutex::new(None);

/// The worker, which is not in its place while a benchmark runs.
fn place() -> MutexGuard<'static, Option<Worker>> {
    WORKER.lock().unwrap_or_else(PoisonError::into_inner)
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

/// Leaves holes in the heap: the same on both sides, and others in each round. Where an object lies
/// can decide how fast the code is that uses it.
fn scatter_heap() {
    let text = std::env::var("BENCHGATE_SEED").unwrap_or_default();
    std::env::remove_var("BENCHGATE_SEED");
    let mut state: u64 = text.parse().unwrap_or(0);
    if state == 0 {
        return;
    }
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % limit
    };
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    for _ in 0..500 {
        let limit = 16 << below(9);
        blocks.push(Vec::with_capacity(1 + below(limit)));
    }
    blocks.retain(|_| below(2) == 0);
    std::mem::forget(blocks);
}

impl Worker {
    fn start(tool: &'static str, version: &'static str) -> Option<Worker> {
        let descriptor: i32 = std::env::var("BENCHGATE_FD").ok()?.parse().ok()?;
        std::env::remove_var("BENCHGATE_FD");
        scatter_heap();
        let output = unsafe {
            fcntl(descriptor, 2, 1); // F_SETFD, FD_CLOEXEC
            File::from_raw_fd(descriptor)
        };
        let input = BufReader::new(output.try_clone().ok()?);
        let mut worker = Worker {
            tool,
            version,
            input,
            output,
            target: None,
            found: Vec::new(),
            is_answered: true,
            is_ended: false,
        };
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
                    let line = hello(self.tool, self.version);
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
    fn serve(&mut self, id: &str, run: &mut dyn FnMut(u64) -> Spent) {
        let mut name = id.to_owned();
        for number in 2.. {
            if !self.found.contains(&name) {
                break;
            }
            name = format!("{} #{}", id, number);
        }
        while !self.is_ended && !self.is_answered && self.target.as_ref() == Some(&name) {
            self.is_answered = true;
            self.send("{}");
            self.measure(run);
            self.wait();
        }
        self.found.push(name);
    }

    fn measure(&mut self, run: &mut dyn FnMut(u64) -> Spent) {
        let mut loops = 1;
        while let Some((word, argument)) = self.next() {
            let reply = match word.as_str() {
                "s" => {
                    let start = Instant::now();
                    match catch_unwind(AssertUnwindSafe(|| benchgate_sample(run, loops))) {
                        Ok(Spent { wall, cpu_ns }) => {
                            let beside = start.elapsed().checked_sub(wall).unwrap_or_default();
                            format!("{} {} {}", wall.as_nanos(), cpu_ns, beside.as_nanos())
                        }
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

/// Callgrind observes what this calls.
#[inline(never)]
fn benchgate_sample(run: &mut dyn FnMut(u64) -> Spent, loops: u64) -> Spent {
    run(loops)
}

fn message(problem: Box<dyn std::any::Any + Send>) -> String {
    let text = problem.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| problem.downcast_ref::<String>().cloned());
    format!("it panicked: {}", text.unwrap_or_default())
}

fn hello(tool: &str, version: &str) -> String {
    let steps: Vec<String> =
        (0..1000).map(|_| Instant::now().elapsed().as_nanos().to_string()).collect();
    format!(
        "{{\"language\": \"Rust\", \"tool\": {0}, \"versions\": {{{0}: {1}}}, \
         \"clock\": \"Instant\", \"clock_steps_ns\": [{2}]}}",
        quoted(tool),
        quoted(version),
        steps.join(", ")
    )
}

/// Run all benchmarks: once to list them, and again for what was passed.
pub fn main(tool: &'static str, version: &'static str, run_all: &dyn Fn()) {
    let mut worker = match Worker::start(tool, version) {
        Some(worker) => worker,
        None => {
            eprintln!("benchgate built this program: it measures only for benchgate");
            std::process::exit(1);
        }
    };
    worker.wait();
    let mut is_first_pass = true;
    while !worker.is_ended {
        let before = worker.target.clone();
        worker.found.clear();
        *place() = Some(worker);
        run_all();
        worker = place().take().unwrap();
        if worker.is_answered || worker.is_ended {
            continue;
        }
        if worker.target.is_none() {
            let found: Vec<String> =
                worker.found.drain(..).map(|id| format!("{{\"id\": {}}}", quoted(&id))).collect();
            worker.send(&format!("{{\"benchmarks\": [{}], \"faults\": {{}}}}", found.join(", ")));
        } else if is_first_pass || worker.target != before {
            is_first_pass = false;
            continue; // it may have been passed
        } else {
            let text = format!("there is no benchmark {}", worker.target.as_deref().unwrap_or(""));
            worker.send(&refusal(&text));
        }
        worker.is_answered = true;
        worker.wait();
        is_first_pass = true;
    }
    worker.send("bye");
    std::process::exit(0);
}

pub fn measure(id: &str, run: &mut dyn FnMut(u64) -> Spent) {
    let mut worker = place().take().expect("benchgate needs a program that uses criterion_main!");
    worker.serve(id, run);
    *place() = Some(worker);
}


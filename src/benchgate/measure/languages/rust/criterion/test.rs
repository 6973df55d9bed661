//! Takes the place of Rust's crate test, of which it needs only what any release has.
#![feature(test)]

extern crate test as real;

mod worker;

use std::process::{ExitCode, Termination};

pub use crate::TestFn::{StaticBenchFn, StaticTestFn};
pub use real::*;

use worker::{Spent, Start};

pub struct Bencher {
    pub bytes: u64,
    loops: u64,
    spent: Option<Spent>,
}

impl Bencher {
    #[inline(never)]
    pub fn iter<T, F: FnMut() -> T>(&mut self, mut inner: F) {
        let mut spent = Spent::default();
        let start = Start::now();
        for _ in 0..self.loops {
            black_box(inner());
        }
        spent.add(start);
        self.spent = Some(spent);
    }
}

pub enum TestFn {
    StaticTestFn(fn()),
    StaticBenchFn(fn(&mut Bencher)),
}

pub struct TestDescAndFn {
    pub desc: TestDesc,
    pub testfn: TestFn,
}

pub fn assert_test_result<T: Termination>(result: T) {
    let code = format!("{:?}", result.report());
    assert_eq!(code, format!("{:?}", ExitCode::SUCCESS), "the benchmark failed");
}

pub fn test_main_static(all: &[&TestDescAndFn]) {
    worker::main("libtest", env!("BENCHGATE_RUSTC"), &|| {
        for one in all.iter().filter(|one| !one.desc.ignore) {
            if let StaticBenchFn(body) = one.testfn {
                worker::measure(&one.desc.name.to_string(), &mut |loops| {
                    let mut bencher = Bencher { bytes: 0, loops, spent: None };
                    body(&mut bencher);
                    bencher.spent.expect("the benchmark calls no method of Bencher")
                });
            }
        }
    });
}

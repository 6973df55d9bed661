#![feature(test)]
extern crate test;
use test::Bencher;
#[bench]
fn fails(b: &mut Bencher) { b.iter(|| panic!("it is broken")) }
#[bench]
fn outcome(b: &mut Bencher) -> Result<(), String> { b.iter(|| 1); Ok(()) }
#[bench]
fn empty(_: &mut Bencher) {}

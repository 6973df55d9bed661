#![feature(test)]
#![allow(non_snake_case)]
extern crate test;
use test::{black_box, Bencher};

#[bench]
fn Checksum(b: &mut Bencher) {
    let text = "The quick brown Fox ";
    b.iter(|| words::checksum(black_box(text)));
}

#[bench]
fn Slug(b: &mut Bencher) {
    let twice = "The quick brown Fox ".repeat(2);
    b.iter(|| words::slug(black_box(&twice)));
}

#[bench]
fn Find(b: &mut Bencher) {
    let v: Vec<i32> = (0..1000).map(|i| 3 * i).collect();
    b.iter(|| words::find(black_box(&v)));
}

#[bench]
fn Long(b: &mut Bencher) {
    let text = "The quick brown Fox ";
    b.iter(|| words::long(black_box(text)));
}

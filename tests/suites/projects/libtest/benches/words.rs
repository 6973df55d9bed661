#![feature(test)]
extern crate test;

#[bench]
fn count(b: &mut test::Bencher) {
    let text = "to be or not to be ".repeat(100);
    b.iter(|| words::count(&text));
}

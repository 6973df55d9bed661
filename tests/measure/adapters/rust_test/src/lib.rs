#![cfg_attr(test, feature(test))]
#[cfg(test)]
extern crate test;
pub fn sum(s: &[u8]) -> u32 { s.iter().map(|c| *c as u32).sum() }
#[cfg(test)]
mod tests {
    use test::{black_box, Bencher};
    #[test]
    fn works() { assert_eq!(super::sum(&[1,2]), 3) }
    #[bench]
    fn sum(b: &mut Bencher) { let v = vec![1; 1000]; b.bytes = 1000; b.iter(|| super::sum(black_box(&v))) }
    #[bench]
    #[ignore]
    fn left_out(b: &mut Bencher) { b.iter(|| 1) }
}

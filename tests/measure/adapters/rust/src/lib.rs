use std::collections::HashMap;
pub fn words(s: &str) -> HashMap<String, usize> { let mut m = HashMap::new(); for w in s.split(' ') { *m.entry(w.to_lowercase()).or_default() += 1; } m }
pub fn checksum(s: &[u8]) -> u32 { let (mut a, mut b) = (1u32, 0u32); for &c in s { a = (a + c as u32) % 65521; b = (b + a) % 65521; } b << 16 | a }

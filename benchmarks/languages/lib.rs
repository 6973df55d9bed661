pub const CHECKSUM_ROUNDS: usize = 100;
pub const SLUG_ROUNDS: usize = 20;
pub const FIND_ROUNDS: usize = 100;
pub const LONG_ROUNDS: usize = 40000;

// OTHERS
#[inline(never)]
fn sum(s: &str, rounds: usize) -> u32 {
    let (mut a, mut b) = (1u32, 0u32);
    for _ in 0..rounds {
        for c in s.bytes() {
            a = (a + c as u32) % 65521;
            b = (b + a) % 65521;
        }
    }
    b << 16 | a
}

pub fn checksum(s: &str) -> u32 {
    sum(s, CHECKSUM_ROUNDS)
}

pub fn long(s: &str) -> u32 {
    sum(s, LONG_ROUNDS)
}

// OTHERS
#[inline(never)]
fn slug_once(s: &str) -> String {
    let mut out = String::new();
    for c in s.bytes() {
        out.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() as char } else { '-' });
    }
    out
}

pub fn slug(s: &str) -> usize {
    (0..SLUG_ROUNDS).map(|_| std::hint::black_box(slug_once(s)).len()).sum()
}

// OTHERS
#[inline(never)]
fn find_once(v: &[i32], x: i32) -> usize {
    let (mut low, mut high) = (0, v.len());
    while low < high {
        let mid = (low + high) / 2;
        if v[mid] < x {
            low = mid + 1
        } else {
            high = mid
        }
    }
    low
}

pub fn find(v: &[i32]) -> usize {
    (0..FIND_ROUNDS).map(|i| find_once(v, 29 * i as i32)).sum()
}

// OTHERS

export const CHECKSUM_ROUNDS = 100, SLUG_ROUNDS = 20, FIND_ROUNDS = 100, LONG_ROUNDS = 40000;
// OTHERS
function sum(s, rounds) {
  let a = 1, b = 0;
  for (let r = 0; r < rounds; r++) {
    for (let i = 0; i < s.length; i++) {
      a = (a + s.charCodeAt(i)) % 65521;
      b = (b + a) % 65521;
    }
  }
  return b * 65536 + a;
}

export const checksum = (s) => sum(s, CHECKSUM_ROUNDS);
export const long = (s) => sum(s, LONG_ROUNDS);

// OTHERS
export function slug(s) {
  let last = "";
  for (let r = 0; r < SLUG_ROUNDS; r++) {
    last = s.toLowerCase().split(" ").filter((word) => word).join("-");
  }
  return last;
}

// OTHERS
export function find(v) {
  let sum = 0;
  for (let i = 0; i < FIND_ROUNDS; i++) {
    let low = 0, high = v.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (v[mid] < 29 * i) low = mid + 1;
      else high = mid;
    }
    sum += low;
  }
  return sum;
}

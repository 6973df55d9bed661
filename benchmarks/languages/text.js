export const CHECKSUM_ROUNDS = 100, SLUG_ROUNDS = 20, FIND_ROUNDS = 100, LONG_ROUNDS = 60000;
// OTHERS
// No division: where a neighbor shares its unit, the time does not follow the rounds.
function sum(s, rounds) {
  let hash = 0x811c9dc5;
  for (let r = 0; r < rounds; r++) {
    for (let i = 0; i < s.length; i++) hash = Math.imul(hash ^ s.charCodeAt(i), 0x01000193);
  }
  return hash >>> 0;
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

#include <benchmark/benchmark.h>

#include <cctype>
#include <string>
#include <vector>

constexpr int kChecksumRounds = 100, kSlugRounds = 20, kFindRounds = 100, kLongRounds = 40000;
static const std::string text = "The quick brown Fox ";
// OTHERS
__attribute__((noinline)) unsigned checksum(const std::string& s, int rounds) {
  unsigned a = 1, b = 0;
  for (int i = 0; i < rounds; i++) {
    for (const unsigned char c : s) {
      a = (a + c) % 65521;
      b = (b + a) % 65521;
    }
  }
  return b << 16 | a;
}
// OTHERS
__attribute__((noinline)) std::string slug(const std::string& s) {
  std::string out;
  for (const unsigned char c : s)
    out += std::isalnum(c) ? static_cast<char>(std::tolower(c)) : '-';
  return out;
}
// OTHERS
__attribute__((noinline)) size_t find(const std::vector<int>& v, int x) {
  size_t low = 0, high = v.size();
  while (low < high) {
    const size_t mid = (low + high) / 2;
    if (v[mid] < x)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}
// OTHERS
static void Checksum(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(checksum(text, kChecksumRounds));
}
BENCHMARK(Checksum);

static void Slug(benchmark::State& state) {
  for (auto _ : state)
    for (int i = 0; i < kSlugRounds; i++) benchmark::DoNotOptimize(slug(text + text));
}
BENCHMARK(Slug);

static void Find(benchmark::State& state) {
  std::vector<int> v(1000);
  for (int i = 0; i < 1000; i++) v[static_cast<size_t>(i)] = 3 * i;
  for (auto _ : state)
    for (int i = 0; i < kFindRounds; i++) benchmark::DoNotOptimize(find(v, 29 * i));
}
BENCHMARK(Find);

static void Long(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(checksum(text, kLongRounds));
}
BENCHMARK(Long);

BENCHMARK_MAIN();

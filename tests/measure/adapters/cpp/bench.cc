#include <benchmark/benchmark.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

static void BM_Checksum(benchmark::State& state) {
  const std::string text(2000, 'x');
  for (auto _ : state) {
    unsigned a = 1, b = 0;
    for (const unsigned char c : text) {
      a = (a + c) % 65521;
      b = (b + a) % 65521;
    }
    benchmark::DoNotOptimize(b);
  }
}
BENCHMARK(BM_Checksum)->UseRealTime();

template <class T>
static void BM_Fill(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<T> values(static_cast<size_t>(state.range(0)));
    benchmark::DoNotOptimize(values.data());
  }
}
BENCHMARK_TEMPLATE(BM_Fill, int)->Range(8, 64);

class Words : public benchmark::Fixture {
 public:
  void SetUp(const benchmark::State&) override { text = std::string(100, 'a'); }
  std::string text;
};
BENCHMARK_F(Words, Copy)(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(std::string(text));
}

static void BM_fails(benchmark::State& state) {
  state.SkipWithError("it is broken");
  for (auto _ : state) {
  }
}
BENCHMARK(BM_fails);

static void BM_Wait(benchmark::State& state, int us) {
  using Clock = std::chrono::steady_clock;
  for (auto _ : state) {
    for (const auto end = Clock::now() + std::chrono::microseconds(us); Clock::now() < end;) {
    }
  }
}

// Google Benchmark lets several have one name.
BENCHMARK_CAPTURE(BM_Wait, same, 20)->UseRealTime()->Arg(1)->Arg(1);
BENCHMARK_CAPTURE(BM_Wait, same, 200)->UseRealTime()->Arg(1);
BENCHMARK_CAPTURE(BM_Wait, other, 20)->Name("twice");
BENCHMARK_CAPTURE(BM_Wait, other, 20)->Name("twice (2)");
BENCHMARK_CAPTURE(BM_Wait, other, 20)->Name("twice");

BENCHMARK_MAIN();

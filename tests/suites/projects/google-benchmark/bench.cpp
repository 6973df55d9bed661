#include <benchmark/benchmark.h>

#include "words.h"

static void Count(benchmark::State& state) {
  std::string text;
  for (int i = 0; i < state.range(0); ++i) text += "to be or not to be ";
  for (auto _ : state) benchmark::DoNotOptimize(count(text));
}
BENCHMARK(Count)->Arg(1)->Arg(100);

BENCHMARK_MAIN();

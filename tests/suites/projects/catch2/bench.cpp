#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>

#include "words.h"

TEST_CASE("words") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "to be or not to be ";
  BENCHMARK("count") { return count(text); };
}

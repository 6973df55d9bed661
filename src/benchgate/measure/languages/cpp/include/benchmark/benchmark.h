// Serves benchgate instead of printing results; see docs/worker-protocol.md.
//
// The compiler that the C++ adapter names finds this file in place of Google Benchmark's own, which
// it includes, and links with --wrap: a program then calls the functions at the end of this file.

#pragma GCC system_header  // no warnings: Google Benchmark itself is built with -Werror
#include_next <benchmark/benchmark.h>

#include "../benchgate.h"

#ifndef BENCHGATE_BENCHMARK_H
#define BENCHGATE_BENCHMARK_H

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace benchgate {

// Declared through the result, because releases differ in its place.
template <class Function> struct Registered;
template <class Family> struct Registered<Family*(Family*)> { using type = Family; };
template <class Family, class Other> struct Registered<Family*(Other)> { using type = Family; };
using Family = Registered<decltype(benchmark::internal::RegisterBenchmarkInternal)>::type;

size_t real_run(benchmark::BenchmarkReporter*) __asm__(
    "__real__ZN9benchmark22RunSpecifiedBenchmarksEPNS_17BenchmarkReporterE");

inline std::vector<Family*>& families() {
  static std::vector<Family*> all;
  return all;
}

// Releases from 1.8 on take a number of iterations as a flag. Older ones do not have `skipped`.
template <class Run> auto takes_iterations(int) -> decltype(std::declval<Run>().skipped, true) { return true; }
template <class Run> bool takes_iterations(long) { return false; }
template <class Run> auto failure(const Run& run, int) -> decltype(run.skip_message) {
  return run.skipped ? run.skip_message + " " : "";
}
template <class Run> auto failure(const Run& run, long) -> decltype(run.error_message) {
  return run.error_occurred ? run.error_message + " " : "";
}

struct Reporter : benchmark::BenchmarkReporter {
  size_t passed;  // how many with the same name come before it
  double time_s = 0, cpu_s = 0;
  benchmark::IterationCount iterations = 0;
  std::string error;
  std::ostringstream out;
  explicit Reporter(size_t before = 0) : passed(before) { SetOutputStream(&out); SetErrorStream(&std::cerr); }
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    if (!runs.empty() && runs[0].run_type == Run::RT_Iteration && passed-- != 0) return;
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      error += failure(run, 0);
      // The name says by which clock its author judges it.
      const bool is_real = run.run_name.time_type.find("process_time/real") != std::string::npos ||
                           run.run_name.time_type.find("real_time") != std::string::npos ||
                           run.run_name.time_type.find("manual_time") != std::string::npos;
      time_s += is_real ? run.real_accumulated_time : run.cpu_accumulated_time;
      cpu_s += run.cpu_accumulated_time;
      iterations += run.iterations;
    }
  }
};

inline void set_flags(std::vector<std::string> flags) {
  static std::string program = "benchmark";
  std::vector<char*> argv{&program[0]};
  for (std::string& flag : flags) argv.push_back(&flag[0]);
  argv.push_back(nullptr);
  int argc = static_cast<int>(argv.size()) - 1;
  benchmark::Initialize(&argc, argv.data());
}

class GoogleWorker : public Worker {
 public:
  GoogleWorker() : Worker("Google Benchmark") {}

 protected:
  const std::vector<std::string>& names() override {
    if (names_.empty()) {
      Reporter reporter;
      set_flags({"--benchmark_list_tests=true", "--benchmark_filter=."});
      real_run(&reporter);
      set_flags({"--benchmark_list_tests=false"});
      std::istringstream lines(reporter.out.str());
      for (std::string name; std::getline(lines, name);)
        if (!name.empty()) names_.push_back(name);
    }
    return names_;
  }

  void open(size_t index) override {
    const std::string& name = names()[index];
    // Setting iterations changes the name, in front of what may follow them.
    size_t at = name.size();
    for (const char* part : {"/repeats:", "/process_time", "/real_time", "/manual_time", "/threads:"}) {
      const size_t found = name.find(part);
      if (found < at) at = found;
    }
    pattern_ = "^" + escaped(name.substr(0, at)) +
               (takes_iterations<Reporter::Run>(0) ? "" : "(/iterations:[0-9]+)?") + escaped(name.substr(at)) + "$";
    before_ = static_cast<size_t>(
        std::count(names().begin(), names().begin() + static_cast<std::ptrdiff_t>(index), name));
  }

  std::string sample(long loops) override {
    Reporter reporter(before_);
    std::vector<std::string> flags{"--benchmark_filter=" + pattern_};
    if (takes_iterations<Reporter::Run>(0)) {
      flags.push_back("--benchmark_min_time=" + std::to_string(loops) + "x");
    } else {
      for (Family* family : families()) family->Iterations(loops);
    }
    set_flags(flags);
    real_run(&reporter);
    if (!reporter.error.empty()) return error(reporter.error);
    if (reporter.iterations == 0) return error("it did not run");
    // A number of iterations that the author has set, or of repetitions, stays.
    const double scale = 1e9 * static_cast<double>(loops) / static_cast<double>(reporter.iterations);
    return times(static_cast<long long>(reporter.time_s * scale), static_cast<long long>(reporter.cpu_s * scale));
  }

 private:
  std::string pattern_;
  size_t before_ = 0;
  std::vector<std::string> names_;

  static std::string escaped(const std::string& name) {
    std::string all;
    for (const char c : name) {
      if (std::string("\\^$.|?*+()[]{}").find(c) != std::string::npos) all += '\\';
      all += c;
    }
    return all;
  }
};

inline bool serve() { return GoogleWorker().serve(); }

// With asm names, because the linker looks for these.
#define BENCHGATE_WRAP(name) __asm__("__wrap_" name) __attribute__((weak, used))
#define BENCHGATE_RUN "_ZN9benchmark22RunSpecifiedBenchmarksEv"
#define BENCHGATE_RUN_WITH "_ZN9benchmark22RunSpecifiedBenchmarksEPNS_17BenchmarkReporterE"
#define BENCHGATE_REGISTER "_ZN9benchmark8internal25RegisterBenchmarkInternalEPNS0_9BenchmarkE"

size_t real_run_default() __asm__("__real_" BENCHGATE_RUN);
Family* real_register(Family*) __asm__("__real_" BENCHGATE_REGISTER) __attribute__((weak));

size_t wrap_run_default() BENCHGATE_WRAP(BENCHGATE_RUN);
size_t wrap_run_default() { return serve() ? 0 : real_run_default(); }

size_t wrap_run(benchmark::BenchmarkReporter*) BENCHGATE_WRAP(BENCHGATE_RUN_WITH);
size_t wrap_run(benchmark::BenchmarkReporter* reporter) { return serve() ? 0 : real_run(reporter); }

Family* wrap_register(Family*) BENCHGATE_WRAP(BENCHGATE_REGISTER);
Family* wrap_register(Family* family) {
  families().push_back(family);
  return real_register(family);
}

}  // namespace benchgate

#endif

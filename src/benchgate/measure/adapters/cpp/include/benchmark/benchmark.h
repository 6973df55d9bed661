// Serves benchgate instead of printing results; see docs/worker-protocol.md.
//
// The compiler that the C++ adapter names finds this file in place of Google Benchmark's own, which
// it includes, and links with --wrap: a program then calls the functions at the end of this file.

#pragma GCC system_header  // no warnings: Google Benchmark itself is built with -Werror
#include_next <benchmark/benchmark.h>

#ifndef BENCHGATE_BENCHMARK_H
#define BENCHGATE_BENCHMARK_H

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
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
  double time_s = 0, cpu_s = 0;
  benchmark::IterationCount iterations = 0;
  std::string error;
  std::ostringstream out;
  Reporter() { SetOutputStream(&out); SetErrorStream(&std::cerr); }
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
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

inline std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\' || (c >= 0 && c < ' ')) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      all += escaped;
    } else {
      all += c;
    }
  }
  return all + "\"";
}

inline std::string error(const std::string& text) {
  return "{\"error\": " + quoted(text) + ", \"trace\": \"\"}";
}

inline void set_flags(std::vector<std::string> flags) {
  static std::string program = "benchmark";
  std::vector<char*> argv{&program[0]};
  for (std::string& flag : flags) argv.push_back(&flag[0]);
  argv.push_back(nullptr);
  int argc = static_cast<int>(argv.size()) - 1;
  benchmark::Initialize(&argc, argv.data());
}

inline long long now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

class Worker {
 public:
  explicit Worker(int descriptor) : out_(descriptor), in_(fdopen(descriptor, "r")) {}

  void serve() {
    send("{\"protocol\": 1, \"pid\": " + std::to_string(getpid()) + "}");
    for (std::string line; read(line);) {
      const size_t space = line.find(' ');
      const std::string argument = space == std::string::npos ? "" : line.substr(space + 1);
      send(reply(line.substr(0, space), argument));
    }
    send("bye");
  }

 private:
  int out_;
  FILE* in_;
  std::string pattern_;
  long loops_ = 1;
  std::vector<std::string> names_;

  void send(const std::string& text) {
    const std::string line = text + "\n";
    for (size_t at = 0; at < line.size();) {
      const ssize_t count = write(out_, line.data() + at, line.size() - at);
      if (count <= 0) _exit(1);
      at += static_cast<size_t>(count);
    }
  }

  bool read(std::string& line) {
    line.clear();
    for (int c; (c = std::fgetc(in_)) != EOF && c != '\n';) line += static_cast<char>(c);
    return !std::feof(in_);
  }

  std::string reply(const std::string& step, const std::string& argument) {
    if (step == "hello") return hello();
    if (step == "list") return listed();
    if (step == "open") return open(argument);
    if (pattern_.empty()) return error("no benchmark is open");
    if (step == "s") return sample();
    if (step == "loops") { loops_ = std::atol(argument.c_str()); return "{}"; }
    if (step == "close") { pattern_.clear(); return "{}"; }
    return error("there is no step " + step);
  }

  std::string hello() {
    std::string steps;
    for (int i = 0; i < 1000; ++i) {
      const long long start = now_ns();
      steps += (i ? ", " : "") + std::to_string(now_ns() - start);
    }
    return "{\"language\": \"C++\", \"tool\": \"Google Benchmark\", \"versions\": {\"c++\": " + quoted(__VERSION__) +
           "}, \"clock\": \"clock_gettime\", \"clock_steps_ns\": [" + steps + "]}";
  }

  std::string listed() {
    std::string all;
    for (const std::string& name : names()) all += (all.empty() ? "{\"id\": " : ", {\"id\": ") + quoted(name) + "}";
    return "{\"benchmarks\": [" + all + "], \"faults\": {}}";
  }

  const std::vector<std::string>& names() {
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

  std::string open(const std::string& id) {
    bool is_known = false;
    for (const std::string& name : names()) is_known = is_known || name == id;
    if (!is_known) return error("there is no benchmark " + id);
    // Setting iterations changes the name, in front of what may follow them.
    size_t at = id.size();
    for (const char* part : {"/repeats:", "/process_time", "/real_time", "/manual_time", "/threads:"}) {
      const size_t found = id.find(part);
      if (found < at) at = found;
    }
    pattern_ = "^" + escaped(id.substr(0, at)) +
               (takes_iterations<Reporter::Run>(0) ? "" : "(/iterations:[0-9]+)?") + escaped(id.substr(at)) + "$";
    return "{}";
  }

  static std::string escaped(const std::string& name) {
    std::string all;
    for (const char c : name) {
      if (std::string("\\^$.|?*+()[]{}").find(c) != std::string::npos) all += '\\';
      all += c;
    }
    return all;
  }

  std::string sample() {
    Reporter reporter;
    std::vector<std::string> flags{"--benchmark_filter=" + pattern_};
    if (takes_iterations<Reporter::Run>(0)) {
      flags.push_back("--benchmark_min_time=" + std::to_string(loops_) + "x");
    } else {
      for (Family* family : families()) family->Iterations(loops_);
    }
    set_flags(flags);
    real_run(&reporter);
    if (!reporter.error.empty()) return error(reporter.error);
    if (reporter.iterations == 0) return error("it did not run");
    // A number of iterations that the author has set, or of repetitions, stays.
    const double scale = 1e9 * static_cast<double>(loops_) / static_cast<double>(reporter.iterations);
    return std::to_string(static_cast<long long>(reporter.time_s * scale)) + " " +
           std::to_string(static_cast<long long>(reporter.cpu_s * scale));
  }
};

inline bool serve() {
  const char* text = std::getenv("BENCHGATE_FD");
  if (text == nullptr) return false;
  const int descriptor = std::atoi(text);
  unsetenv("BENCHGATE_FD");
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  Worker(descriptor).serve();
  return true;
}

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

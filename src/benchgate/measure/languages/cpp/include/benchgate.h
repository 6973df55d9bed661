// A worker of benchgate; see docs/worker-protocol.md. It measures plain functions:
//
//   #include <benchgate.h>
//   BENCHGATE(checksum) { benchgate::keep(checksum(text)); }
//   BENCHGATE_MAIN()

#ifndef BENCHGATE_H
#define BENCHGATE_H
#pragma GCC system_header

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <vector>

namespace benchgate {

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

inline std::string times(long long wall_ns, long long cpu_ns) {
  return std::to_string(wall_ns) + " " + std::to_string(cpu_ns);
}

inline long long now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// Leaves holes in the heap: the same on both sides, and others in each round. Where an object lies
// can decide how fast the code is that uses it.
inline void scatter_heap() {
  const char* text = std::getenv("BENCHGATE_SEED");
  unsigned long long state = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
  unsetenv("BENCHGATE_SEED");
  if (state == 0) return;
  const auto below = [&state](unsigned limit) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<unsigned>(state >> 33) % limit;
  };
  static std::vector<void*> blocks(500);
  for (void*& block : blocks) block = std::malloc(1 + below(16U << below(9)));
  for (void*& block : blocks) {
    if (below(2) == 0) continue;
    std::free(block);
    block = nullptr;
  }
}

class Worker {
 public:
  explicit Worker(const char* tool) : tool_(tool) {}
  virtual ~Worker() = default;

  // Whether benchgate has started this program, and all of its requests are answered.
  bool serve() {
    const char* text = std::getenv("BENCHGATE_FD");
    if (text == nullptr) return false;
    out_ = std::atoi(text);
    unsetenv("BENCHGATE_FD");
    scatter_heap();
    fcntl(out_, F_SETFD, FD_CLOEXEC);
    in_ = fdopen(out_, "r");
    send("{\"protocol\": 1, \"pid\": " + std::to_string(getpid()) + "}");
    for (std::string line; read(line);) {
      const size_t space = line.find(' ');
      const std::string argument = space == std::string::npos ? "" : line.substr(space + 1);
      send(reply(line.substr(0, space), argument));
    }
    send("bye");
    return true;
  }

 protected:
  virtual const std::vector<std::string>& names() = 0;
  virtual void open(size_t index) = 0;
  virtual std::string sample(long loops) = 0;

 private:
  const char* tool_;
  std::vector<std::string> ids_;
  int out_ = -1;
  FILE* in_ = nullptr;
  bool is_open_ = false;
  long loops_ = 1;

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
    if (step == "open") {
      for (size_t i = 0; i < ids().size(); ++i) {
        if (ids()[i] != argument) continue;
        open(i);
        is_open_ = true;
        return "{}";
      }
      return error("there is no benchmark " + argument);
    }
    if (!is_open_) return error("no benchmark is open");
    if (step == "s") return benchgate_sample();
    if (step == "loops") { loops_ = std::atol(argument.c_str()); return "{}"; }
    if (step == "close") { is_open_ = false; return "{}"; }
    return error("there is no step " + step);
  }

  // Callgrind observes what this calls.
  __attribute__((noinline)) std::string benchgate_sample() { return sample(loops_); }

  std::string hello() {
    std::string steps;
    for (int i = 0; i < 1000; ++i) {
      const long long start = now_ns();
      steps += (i ? ", " : "") + std::to_string(now_ns() - start);
    }
    return "{\"language\": \"C++\", \"tool\": " + quoted(tool_) + ", \"versions\": {\"c++\": " + quoted(__VERSION__) +
           "}, \"clock\": \"clock_gettime\", \"clock_steps_ns\": [" + steps + "]}";
  }

  std::string listed() {
    std::string all;
    for (const std::string& id : ids()) all += (all.empty() ? "{\"id\": " : ", {\"id\": ") + quoted(id) + "}";
    return "{\"benchmarks\": [" + all + "], \"faults\": {}}";
  }

  // The names, with a number where several benchmarks have the same name.
  const std::vector<std::string>& ids() {
    if (!ids_.empty()) return ids_;
    std::map<std::string, int> counts, numbers;
    for (const std::string& name : names()) ++counts[name];
    for (const std::string& name : names()) {
      std::string id = name;
      // A benchmark may have that name, too.
      while (counts[name] > 1 && counts.count(id)) id = name + " (" + std::to_string(++numbers[name]) + ")";
      ids_.push_back(id);
    }
    return ids_;
  }
};

// Lets the compiler keep a value that nothing reads.
template <class Value> inline void keep(const Value& value) { __asm__ volatile("" : : "g"(&value) : "memory"); }

class FunctionWorker : public Worker {
 public:
  FunctionWorker() : Worker("benchgate.h") {}
  static FunctionWorker& all() { static FunctionWorker worker; return worker; }

  bool add(const char* name, void (*run)(long)) {
    names_.push_back(name);
    runs_.push_back(run);
    return true;
  }

 protected:
  const std::vector<std::string>& names() override { return names_; }
  void open(size_t index) override { run_ = runs_[index]; }
  std::string sample(long loops) override {
#if __cpp_exceptions
    try {
#endif
      const long long cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID), wall_ns = now_ns();
      run_(loops);
      const long long took_ns = now_ns() - wall_ns;
      return times(took_ns, now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns);
#if __cpp_exceptions
    } catch (const std::exception& thrown) {
      return error(thrown.what());
    }
#endif
  }

 private:
  std::vector<std::string> names_;
  std::vector<void (*)(long)> runs_;
  void (*run_)(long) = nullptr;
};

}  // namespace benchgate

#define BENCHGATE(name)                                                                    \
  static void benchgate_##name();                                                          \
  static void benchgate_loop_##name(long loops) { while (loops-- > 0) benchgate_##name(); } \
  static const bool benchgate_is_##name =                                                  \
      benchgate::FunctionWorker::all().add(#name, benchgate_loop_##name);                  \
  static void benchgate_##name()

#define BENCHGATE_MAIN()                                                \
  int main() {                                                          \
    if (benchgate::FunctionWorker::all().serve()) return 0;             \
    std::fputs("benchgate runs this program: benchgate check\n", stderr); \
    return 2;                                                           \
  }

#endif

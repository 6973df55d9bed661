// Serves benchgate instead of printing results; see docs/worker-protocol.md.
//
// The Go adapter adds this file to the package testing, in which it finds one sub-benchmark by its
// name, and runs it with the N that benchgate asks for. It renames the real run1 to benchgateRun1.

package testing

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

type benchgateWorker struct {
	in     []byte // what has been read and is not used yet
	fd     int
	walk   func() // runs all benchmarks, as far as run1 lets them
	target string // the benchmark to open; "" while all are listed
	found  []string
	faults []string // pairs: a benchmark, and what is wrong with it
	opened bool
	ended  bool
	n      int
	// The least that a call has allocated in the samples of n calls, as -benchmem counts it.
	bytes, allocs uint64
	profiled      string // what a profile is taken of: "time", "allocations", or ""
	resets        int    // how often the current run has reset its timer
	before        string // what was allocated before the timer was reset last
}

var benchgate *benchgateWorker

// The CPU time of the current run: a started timer is running since benchgateCPUStart.
var benchgateCPU, benchgateCPUStart int64

func benchgateCPUNow() int64 {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return syscall.TimevalToNsec(used.Utime) + syscall.TimevalToNsec(used.Stime)
}

// The label of what runs: how often the timer was reset while it is on, and "" while it is stopped.
const benchgateLabel = "benchgate"

// A profile of allocations begins again when the timer is reset, if that is not done too often.
const benchgateMostResets = 10

// benchgateTimer lets a profile have only what is timed; it is called when that changes.
func benchgateTimer(isOn bool, resets int) {
	w := benchgate
	if w == nil || w.profiled == "" {
		return
	}
	w.resets += resets
	if w.profiled == "time" {
		label := ""
		if isOn {
			label = strconv.Itoa(w.resets)
		}
		pprof.SetGoroutineLabels(pprof.WithLabels(
			context.Background(), pprof.Labels(benchgateLabel, label)))
		return
	}
	runtime.MemProfileRate = 0
	if resets > 0 && w.resets <= benchgateMostResets {
		w.before = w.allocated()
	}
	if isOn {
		runtime.MemProfileRate = 1
	} else {
		benchgateLast = new([64]byte) // the next allocation is recorded when the rate has changed
	}
}

var benchgateLast *[64]byte

// What benchgateScatterHeap leaves in the heap.
var benchgateBlocks [][]byte

// benchgateScatterHeap leaves holes in the heap: the same on both sides, and others in each round.
// Where an object lies can decide how fast the code is that uses it.
func benchgateScatterHeap() {
	state, _ := strconv.ParseUint(os.Getenv("BENCHGATE_SEED"), 10, 64)
	os.Unsetenv("BENCHGATE_SEED")
	if state == 0 {
		return
	}
	below := func(limit int) int {
		state = state*6364136223846793005 + 1442695040888963407
		return int(state>>33) % limit
	}
	for i := 0; i < 1000; i++ {
		if block := make([]byte, 1+below(16<<below(9))); below(2) == 0 {
			benchgateBlocks = append(benchgateBlocks, block)
		}
	}
}

// The heap may become this large, in bytes, before garbage is collected.
var benchgateHeapGoal uint64

// benchgateCollect collects garbage between two samples when Go would do so in the next one.
//
// The real launch collects it before every sample. Then each sample finds other free memory on each
// side, and took 5 % more or less time, and with a large heap a collection took longer than the sample.
func benchgateCollect() {
	if benchgate == nil {
		runtime.GC()
		return
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	if stats.HeapAlloc < benchgateHeapGoal {
		return
	}
	runtime.GC()
	runtime.ReadMemStats(&stats)
	benchgateHeapGoal = stats.HeapAlloc + 4<<20
	if 2*stats.HeapAlloc > benchgateHeapGoal {
		benchgateHeapGoal = 2 * stats.HeapAlloc
	}
}

// benchgateServe reports whether benchgate has started this process and has been served.
func benchgateServe(walk func()) bool {
	descriptor, err := strconv.Atoi(os.Getenv("BENCHGATE_FD"))
	if err != nil || benchgate != nil {
		return false
	}
	os.Unsetenv("BENCHGATE_FD")
	syscall.CloseOnExec(descriptor)
	benchgateScatterHeap()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // a sample that fills the heap by itself collects garbage nevertheless
	}
	benchgate = &benchgateWorker{fd: descriptor, walk: walk, n: 1}
	benchTime.n = 1 // listing calls each benchmark once, also one that loops by b.Loop
	benchgate.send(fmt.Sprintf(`{"protocol": 1, "pid": %d}`, os.Getpid()))
	benchgate.serve()
	benchgate.send("bye")
	os.Exit(0)
	return true
}

func (w *benchgateWorker) send(line string) {
	for rest := []byte(line + "\n"); len(rest) > 0; {
		count, err := syscall.Write(w.fd, rest)
		if err == syscall.EINTR || err == syscall.EAGAIN {
			continue
		}
		if err != nil {
			os.Exit(1)
		}
		rest = rest[count:]
	}
}

// next returns the next request and its argument; "" at the end.
func (w *benchgateWorker) next() (string, string) {
	for bytes.IndexByte(w.in, '\n') < 0 {
		if !w.receive() {
			w.ended = true
			return "", ""
		}
	}
	end := bytes.IndexByte(w.in, '\n')
	word, argument, _ := strings.Cut(string(w.in[:end]), " ")
	w.in = w.in[end+1:]
	return word, argument
}

// receive waits for a part of a request, and reports whether there was one.
//
// The runtime does not know of this system call. If it did, its monitor thread would wake up and look
// for work every 20 us, on the CPU of the samples: half of them took 40 % longer.
func (w *benchgateWorker) receive() bool {
	var chunk [4096]byte
	for {
		count, _, err := syscall.RawSyscall(
			syscall.SYS_READ, uintptr(w.fd), uintptr(unsafe.Pointer(&chunk[0])), uintptr(len(chunk)))
		if err == syscall.EINTR || err == syscall.EAGAIN {
			continue
		}
		w.in = append(w.in, chunk[:count]...)
		return err == 0 && count > 0
	}
}

// serve carries out requests while no benchmark is open.
func (w *benchgateWorker) serve() {
	for {
		word, argument := w.next()
		if w.ended {
			return
		}
		switch word {
		case "hello":
			w.send(w.hello())
		case "list":
			w.walk()
			w.send(w.listed())
		case "open":
			w.target, w.opened, w.faults = "Benchmark"+argument, false, nil
			w.walk()
			if !w.opened {
				w.refuse("there is no benchmark "+argument, strings.Join(w.faults, "\n"))
			}
			if w.ended {
				return
			}
		default:
			w.refuse("no benchmark is open", "")
		}
	}
}

func (w *benchgateWorker) hello() string {
	steps := make([]string, 1000)
	for i := range steps {
		start := time.Now()
		steps[i] = strconv.FormatInt(int64(time.Since(start)), 10)
	}
	return fmt.Sprintf(
		`{"language": "Go", "tool": "testing", "versions": {"go": %s}, "clock": "time.Now", "clock_steps_ns": [%s], "steps": ["allocations", "profile", "profile_allocations"]}`,
		benchgateQuote(runtime.Version()), strings.Join(steps, ", "))
}

func (w *benchgateWorker) listed() string {
	var found, faults []string
	for _, name := range w.found {
		found = append(found, `{"id": `+benchgateQuote(name)+`}`)
	}
	for i := 0; i < len(w.faults); i += 2 {
		faults = append(faults, benchgateQuote(w.faults[i])+": "+benchgateQuote(w.faults[i+1]))
	}
	return fmt.Sprintf(`{"benchmarks": [%s], "faults": {%s}}`,
		strings.Join(found, ", "), strings.Join(faults, ", "))
}

func (w *benchgateWorker) refuse(problem, output string) {
	w.send(fmt.Sprintf(`{"error": %s, "trace": %s}`, benchgateQuote(problem), benchgateQuote(output)))
}

// run1 takes the place of the real one, which runs a benchmark once before it is measured.
func (b *B) run1() bool {
	w := benchgate
	switch {
	case w == nil:
		return b.benchgateRun1()
	case w.ended || w.opened:
	case w.target == "":
		if b.benchgateRun1() {
			w.found = append(w.found, strings.TrimPrefix(b.name, "Benchmark"))
		} else if name := strings.TrimPrefix(b.name, "Benchmark"); b.failed && !w.failedIn(name) {
			w.faults = append(w.faults, name, benchgateFailure(b))
		}
	case b.name == w.target:
		w.opened = true
		w.send("{}")
		w.measure(b)
	case strings.HasPrefix(w.target, b.name+"/"):
		b.benchgateRun1()
		if b.failed && !w.opened {
			w.faults = append(w.faults, benchgateFailure(b))
		}
	}
	return false
}

// failedIn reports whether the last fault is that of a sub-benchmark, which lets name fail, too.
func (w *benchgateWorker) failedIn(name string) bool {
	n := len(w.faults)
	return n > 0 && strings.HasPrefix(w.faults[n-2], name+"/")
}

// measure carries out requests while a benchmark is open.
func (w *benchgateWorker) measure(b *B) {
	for {
		word, argument := w.next()
		if w.ended {
			return
		}
		switch word {
		case "s":
			w.sample(b)
		case "loops":
			w.n, _ = strconv.Atoi(argument)
			w.bytes, w.allocs = math.MaxInt64, math.MaxInt64
			w.send("{}")
		case "allocations":
			w.send(fmt.Sprintf(`{"alloc_peak": %d, "alloc_blocks": %d}`, w.bytes, w.allocs))
		case "profile":
			limit, _ := strconv.ParseInt(argument, 10, 64)
			w.profile(b, time.Duration(limit))
		case "profile_allocations":
			w.profileAllocations(b)
		case "close":
			w.send("{}")
			return
		default:
			w.refuse("a benchmark is open, and there is no step "+word, "")
		}
	}
}

// What the program's main function gives to the package testing.
var benchgateDeps testDeps

// benchgateHz is how often a second the runtime looks what runs. Linux does not look more often.
const benchgateHz = 500

// A profile has enough samples after so much timed work. That may take longer if the timer stops.
const benchgateProfiled, benchgateLongestProfile = 2 * time.Second, 5 * time.Second

// profile takes samples until there are enough of the runtime's own, or until the limit.
func (w *benchgateWorker) profile(b *B, limit time.Duration) {
	if limit > benchgateLongestProfile {
		limit = benchgateLongestProfile
	}
	var profile bytes.Buffer
	runtime.SetCPUProfileRate(benchgateHz) // the rate of the package pprof then has no effect
	if err := benchgateDeps.StartCPUProfile(&profile); err != nil {
		w.refuse(err.Error(), "")
		return
	}
	count, refused, timed := 0, false, time.Duration(0)
	w.profiled = "time"
	start := time.Now()
	isShort := func() bool { return timed < benchgateProfiled && time.Since(start) < limit }
	for ; !refused && (count == 0 || isShort()); count++ {
		refused = !w.run(b)
		timed += b.duration
	}
	w.profiled = ""
	benchgateDeps.StopCPUProfile()
	if !refused {
		w.send(fmt.Sprintf(`{"operations": %d, "label": "%d", "pprof": "%x"}`,
			count*w.n, w.resets, profile.Bytes()))
	}
}

// profileAllocations takes a sample, and records each of its allocations.
func (w *benchgateWorker) profileAllocations(b *B) {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	w.profiled = "allocations"
	isDone := w.run(b)
	w.profiled = ""
	if isDone {
		w.send(fmt.Sprintf(`{"operations": %d, "before": "%s", "pprof": "%s"}`,
			w.n, w.before, w.allocated()))
	}
}

// allocated returns a profile of all that was allocated so far, in hexadecimal digits.
func (w *benchgateWorker) allocated() string {
	runtime.GC()
	runtime.GC() // a profile is of the cycle before the last one
	var profile bytes.Buffer
	if err := benchgateDeps.WriteProfileTo("allocs", &profile, 0); err != nil {
		return ""
	}
	return fmt.Sprintf("%x", profile.Bytes())
}

func (w *benchgateWorker) sample(b *B) {
	start := time.Now()
	if w.run(b) {
		if each := b.netBytes / uint64(b.N); each < w.bytes {
			w.bytes = each
		}
		if each := b.netAllocs / uint64(b.N); each < w.allocs {
			w.allocs = each
		}
		w.send(fmt.Sprint(int64(b.duration), benchgateCPU, int64(time.Since(start)-b.duration)))
	}
}

// run calls the benchmark once with its N, and reports whether that succeeded; if not, it has said why.
func (w *benchgateWorker) run(b *B) bool {
	b.benchTime.n = w.n
	benchgateCPU, w.resets = 0, 0
	// As in the real launch: FailNow ends the goroutine.
	var problem interface{}
	go func() {
		defer func() {
			problem = recover()
			b.signal <- true
		}()
		b.runN(w.n)
	}()
	<-b.signal
	switch {
	case problem != nil:
		w.refuse(fmt.Sprint("panic: ", problem), "")
	case b.failed:
		w.refuse(benchgateFailure(b), "")
	case b.skipped:
		w.send(`{"error": ` + benchgateQuote(benchgateFailure(b)) + `, "trace": "", "skipped": true}`)
	case b.N != w.n:
		w.refuse(fmt.Sprintf("it ran %d times, not %d times", b.N, w.n), "")
	default:
		return true
	}
	return false
}

func benchgateFailure(b *B) string {
	text := strings.TrimSpace(string(b.output))
	if text == "" {
		return b.name + " failed"
	}
	return text
}

// benchgateQuote writes a string of JSON; strconv.Quote knows other escapes.
func benchgateQuote(text string) string {
	var quoted bytes.Buffer
	quoted.WriteByte('"')
	for _, r := range text {
		if r < ' ' || r == '"' || r == '\\' {
			fmt.Fprintf(&quoted, `\u%04x`, r)
		} else {
			quoted.WriteRune(r)
		}
	}
	quoted.WriteByte('"')
	return quoted.String()
}

"""One benchmark in this process, from its setup to its teardown, and the state of the process.

Functions of the standard library are bound here, so that the user's code can replace them in their
modules without an effect on what is measured: to freeze the time, for example.

Neither these nor the teardown of a call are timed.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from gc import collect, disable, enable, freeze, get_threshold, isenabled
from itertools import repeat

from .clocks import perf_counter_ns, process_time_ns, thread_time_ns
from .failures import Fault
from .functions import HOOKS, is_async
from .observed import AllocationWatch, CallCounter, Costs, Times, described, times_apart
from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from typing import Any

    from .functions import Benchmark

    Clock = Callable[[], int]


# One part in so many: what works less beside a benchmark changes its time less than any margin.
LEAST_SHARE = 100
PAGE_BYTES = 4096
GAP_PARTS = 32
# Valgrind watches for this function of the C library, which does nearly nothing, and which hardly
# anybody calls: when it begins, valgrind writes down what it has counted.
mark = getattr(os, "ctermid", os.getpid)


def reset_peak_rss() -> bool:
    """Forget the peak of earlier benchmarks in this process, if the OS can."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return False
    return True


def peak_rss_bytes() -> int:
    """Return the peak resident memory since the last reset."""
    try:
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    with STANDARD_LIBRARY:
        import resource  # noqa: PLC0415 - not needed if /proc exists

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def occupy(blocks: list[int], chunks: list[int], gap_bytes: int) -> list[Any]:
    """Allocate memory, so that later objects lie elsewhere; see benchgate's memory_layout.py.

    Args:
        blocks: numbers of objects of 16, 32, ... bytes.
        chunks: sizes of larger objects, in bytes.
    """
    taken: list[Any] = [[empty_object(16 * i) for _ in range(n)] for i, n in enumerate(blocks, 1)]
    taken += [bytearray(size) for size in chunks]
    # For zeros that nobody reads, the OS assigns addresses but no memory.
    taken += [bytes(size) for size in gap_parts(gap_bytes)]
    return taken


def gap_parts(gap_bytes: int) -> list[int]:
    """Divide a gap into blocks, equally many for every gap; return the bytes that they hold.

    Some kernels align what is at least as large as a huge page. This leaves a hole above it, where
    the next small library would lie, and not move.
    """
    part = gap_bytes // (GAP_PARTS * PAGE_BYTES) * PAGE_BYTES
    sizes = [gap_bytes - part * (GAP_PARTS - 1)] + [part] * (GAP_PARTS - 1)
    # The header of a block takes the rest of its last page.
    return [max(0, size - PAGE_BYTES) for size in sizes]


def empty_object(size: int) -> object:
    """Make an object that takes this many bytes, a multiple of 16."""
    bytes_alone = sys.getsizeof(b"")
    if size > bytes_alone:
        return bytes(size - bytes_alone)
    return object() if size <= object.__sizeof__(object()) else float(size)


def set_heap_aside() -> None:
    """Let later collections of garbage leave out the objects that exist now.

    With pytest there are so many of them that a collection takes longer than most tests.
    """
    collect()
    freeze()


def set_gc(*, enabled: bool) -> None:
    if enabled:
        enable()
    else:
        disable()


def set_cpus(cpus: list[int] | None) -> None:
    if cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)


def surroundings() -> dict[str, Any]:
    """Return the state that a benchmark must leave unchanged for the next one in this process."""
    try:
        folder = os.getcwd()
    except OSError:
        folder = ""
    return {
        "folder": folder,
        "environment": dict(os.environ),
        "output": [describe_stream(1, sys.stdout), describe_stream(2, sys.stderr)],
        "gc": (isenabled(), get_threshold()),
        "threads": len(sys._current_frames()),  # noqa: SLF001 - documented
        "children": has_children(),
    }


def describe_stream(descriptor: int, stream: Any) -> tuple[int, bool, int]:
    """Identify an output stream, including whether it is closed and the file behind it."""
    try:
        inode = os.fstat(descriptor).st_ino
    except OSError:
        inode = 0
    return id(stream), getattr(stream, "closed", True), inode


class OwnTime:
    """Clocks that stand still while the calling thread waits for a CPU.

    Attributes:
        is_known: whether the OS tells how long that is; if not, `wall_ns` counts it.
    """

    def __init__(self) -> None:
        with STANDARD_LIBRARY:
            import resource  # noqa: PLC0415 - seldom needed

        # Bound here, so that the user's code can replace them.
        self.open, self.read, self.close = os.open, os.read, os.close
        self.usage, self.children = resource.getrusage, resource.RUSAGE_CHILDREN
        self.is_known = True
        try:
            self.waited_ns()
        except (OSError, ValueError):
            self.is_known = False

    def waited_ns(self) -> int:
        """How long the thread could have run, but the CPU was busy with something else."""
        if not self.is_known:
            return 0
        file = self.open("/proc/thread-self/schedstat", os.O_RDONLY)
        try:
            _, waited_ns, _ = map(int, self.read(file, 100).split())
        finally:
            self.close(file)
        return waited_ns

    def wall_ns(self) -> int:
        while True:
            waited_ns = self.waited_ns()
            now_ns: int = perf_counter_ns()
            if waited_ns == self.waited_ns():
                return now_ns - waited_ns

    def cpu_ns(self) -> int:
        """CPU time of all threads, and of the children that have ended."""
        used = self.usage(self.children)
        own_ns: int = process_time_ns()
        return own_ns + round((used.ru_utime + used.ru_stime) * 1e9)


class CpuTime:
    """The CPU time that this process has used up to a moment, by whom."""

    def __init__(self) -> None:
        self.main_ns = thread_time_ns()
        self.threads_ns = process_time_ns() - self.main_ns
        ended = os.times()
        self.children_ns = int((ended.children_user + ended.children_system) * 1e9)

    def beside_since(self, before: CpuTime) -> list[str]:
        """Name what else has worked for a benchmark since then, if that is more than a trace."""
        used = {
            "threads": self.threads_ns - before.threads_ns,
            "processes": self.children_ns - before.children_ns,
        }
        all_ns = self.main_ns - before.main_ns + sum(used.values())
        found = [name for name, used_ns in used.items() if used_ns * LEAST_SHARE > all_ns]
        if has_children() and "processes" not in found:
            found.append("processes")
        return found


def has_children() -> bool:
    """Tell whether this process has children, if the OS can tell without reaping them."""
    if not hasattr(os, "waitid"):
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def use_of_children() -> tuple[float, ...]:
    """Return what this process's ended children have used; it differs after each of them."""
    with STANDARD_LIBRARY:
        import resource  # noqa: PLC0415 - seldom needed

    return tuple(resource.getrusage(resource.RUSAGE_CHILDREN))


def had_children(before: tuple[float, ...]) -> bool:
    """Tell whether this process has or had children, whose imports it cannot see.

    Args:
        before: the use of those that do not count.
    """
    return has_children() or use_of_children() != before


CLOCKS = perf_counter_ns, process_time_ns
LONG_NS = 100_000_000
OBSERVED_SAMPLES = 3
# So many calls are counted in a tenth of a second.
FEW_EVENTS = 100_000


class OpenBenchmark:
    """One benchmark in this process, from its setup to its teardown.

    Every public method with a `message` is a step that benchgate asks for; it returns the reply.

    Attributes:
        is_inside: whether this process itself does the work.
        times_each: whether the calls of a sample are timed one by one, with other work between.
        inner_loops: how many calls cannot be told apart: a sample takes a multiple of them.
        clocks: for the wall and CPU time of samples.
    """

    is_inside = True
    times_each = False
    inner_loops = 1
    own_time: OwnTime | None = None
    clocks = CLOCKS

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.loops = 1
        self.turns: repeat[None] = repeat(None, 0)
        self.gc_was_enabled = isenabled()
        function = benchmark.function
        setup = getattr(function, "setup", None)
        self.teardown = getattr(function, "teardown", None)
        self.number = getattr(function, "number", None)
        self.is_async = is_async(function)
        self.event_loop: asyncio.AbstractEventLoop | None = None
        if any(is_async(f) for f in (function, *(getattr(function, one, None) for one in HOOKS))):
            with STANDARD_LIBRARY:
                import asyncio  # noqa: PLC0415 - takes long, and is seldom needed

                self.event_loop = asyncio.new_event_loop()
                asyncio.set_event_loop(self.event_loop)
        state = self._finish(setup(**benchmark.kwargs), "setup") if setup else None
        self.args = () if state is None else (state,)
        self.call = function
        if self.args or benchmark.kwargs:
            self.call = partial(function, *self.args, **benchmark.kwargs)
        self.cpu_time = CpuTime()

    def _finish(self, outcome: Any, what: str) -> Any:
        """Wait for the coroutine that an `async def` function returned."""
        if type(outcome).__name__ != "coroutine":
            return outcome
        if self.event_loop:
            return self.event_loop.run_until_complete(outcome)
        outcome.close()
        raise Fault(
            f"{what} returns a coroutine that nobody awaits: define it with `async def`, and "
            "give its decorators `async def` wrappers"
        )

    def sample(self, loops: int, wall: Clock, cpu: Clock) -> tuple[int, int]:
        """Time this many calls by these clocks; return (wall_ns, cpu_ns)."""
        if self.is_async and self.event_loop:
            return self.event_loop.run_until_complete(self._sample_async(loops, wall, cpu))
        return self.time_calls(self.call, loops, wall, cpu)

    def time_calls(
        self, call: Callable[[], Any], loops: int, wall: Clock, cpu: Clock
    ) -> tuple[int, int]:
        turns = self.turns = repeat(None, loops)
        cpu_start = cpu()
        start = wall()
        for _ in turns:
            call()
        end = wall()
        return end - start, cpu() - cpu_start

    async def _sample_async(self, loops: int, wall: Clock, cpu: Clock) -> tuple[int, int]:
        call = self.call
        turns = self.turns = repeat(None, loops)
        cpu_start = cpu()
        start = wall()
        for _ in turns:
            await call()
        end = wall()
        return end - start, cpu() - cpu_start

    def set_loops(self, message: str) -> dict[str, Any]:
        """Determine what a sample is.

        If this process may share its CPU with the other arm's, waiting for it is no part of the
        time, and the CPU time includes that of children.
        """
        loops, _, shared = message.partition(" ")
        self.loops = int(loops)
        self.clocks = CLOCKS
        if shared:
            self.own_time = self.own_time or OwnTime()
            self.clocks = self.own_time.wall_ns, self.own_time.cpu_ns
        return {}

    def timed(self) -> tuple[int, int, int]:
        """Take a sample; return its times, and how long what is not timed took beside it, in ns."""
        wall, cpu = self.clocks
        start_ns = wall()
        wall_ns, cpu_ns = self.sample(self.loops, wall, cpu)
        return wall_ns, cpu_ns, max(0, wall() - start_ns - wall_ns)

    def begin(self, message: str) -> dict[str, Any]:
        collect()
        set_gc(enabled=False)
        return {}

    def peak(self, message: str) -> dict[str, Any]:
        return {"peak_rss": peak_rss_bytes()}

    def count(self, message: str) -> dict[str, Any]:
        """Take a sample between two marks, for valgrind."""
        mark()
        self.sample(self.loops, *CLOCKS)
        mark()
        return {}

    def end(self, message: str) -> dict[str, Any]:
        self.restore_gc()
        return {}

    def restore_gc(self) -> None:
        set_gc(enabled=self.gc_was_enabled)

    def value(self, message: str) -> dict[str, Any]:
        """Return the number that stands for the benchmark, if it is not a time."""
        raise Fault("it is measured by its time, and has no value")

    def allocations(self, message: str) -> dict[str, Any]:
        """Trace a call; return its peak memory, and the blocks alive when it returns.

        Takes the minimum of three calls, or only one call if it is long: filling a cache, or a
        list of freed objects, only ever adds memory.
        """
        start = perf_counter_ns()
        traced = [self._trace()]
        if perf_counter_ns() - start < LONG_NS:
            traced += [self._trace(), self._trace()]
        peaks, blocks = zip(*traced)
        return {"alloc_peak": min(peaks), "alloc_blocks": min(blocks)}

    def _trace(self, watch: AllocationWatch | None = None) -> tuple[int, int]:
        with STANDARD_LIBRARY:
            import tracemalloc  # noqa: PLC0415 - only in this pass, outside of every timing

        collect()
        tracemalloc.start(1)
        try:
            if watch:
                watch.begin()
            kept = self._finish(self.call(), "it")
            if watch:
                watch.end()
            peak = tracemalloc.get_traced_memory()[1]
            blocks = len(tracemalloc.take_snapshot().traces)
        finally:
            tracemalloc.stop()
        del kept
        return peak, blocks

    def observe(self, message: str) -> dict[str, Any]:
        """Observe which functions a sample calls, and how long they take.

        Args:
            message: the time limit in ns. It ends the counting of calls; after it, times are not
                observed again.
        """
        deadline_ns = perf_counter_ns() + int(message)
        calls = self.counted(self.loops, int(message))
        times: dict[Any, int] = {}
        others: dict[Any, float] = {}
        for number in range(OBSERVED_SAMPLES):
            if number and perf_counter_ns() > deadline_ns:
                break
            one = Times()
            self.sample(self.loops, one.clock, process_time_ns)
            for code, time_ns in one.by_code().items():
                times[code] = min(time_ns, times.get(code, time_ns))
            if perf_counter_ns() > deadline_ns:
                break
            one = Times(builtins=True)
            self.sample(self.loops, one.clock, process_time_ns)
            for code, each_ns in one.per_call().items():
                others[code] = min(each_ns, others.get(code, each_ns))
        return described(calls.root, times_apart(calls, times, others, Costs()))

    def counted(self, loops: int, limit_ns: int) -> CallCounter:
        """Count the functions that a sample calls."""
        if not self.is_inside:
            raise Fault("other processes do its work, in which no calls can be observed")
        calls = CallCounter(limit_ns)
        self.sample(loops, calls.clock, process_time_ns)
        if calls.is_over:
            if calls.events < FEW_EVENTS:
                raise Fault(f"a sample takes longer than the {limit_ns / 1e9:.3g} s that are left")
            raise Fault("it makes too many calls to count them in time")
        return calls

    def observe_allocations(self, message: str) -> dict[str, Any]:
        """Observe which functions a call calls, and how much of its memory each has allocated.

        Args:
            message: the time limit in ns.

        Returns:
            Of each metric of `allocations`, what `observe` returns, with bytes or blocks for times.
        """
        calls = self.counted(1, int(message))
        watch = AllocationWatch(int(message))
        self._trace(watch)
        if watch.is_over:
            raise Fault("it makes too many calls to observe its allocations in time")
        self._trace(watch)
        found = watch.by_code(calls.root)
        return {
            metric: {**described(calls.root, own), "operations": 1} for metric, own in found.items()
        }

    def close(self) -> dict[str, Any]:
        """Tear it down; return what worked beside it."""
        self.restore_gc()
        try:
            if self.teardown:
                self._finish(self.teardown(*self.args, **self.benchmark.kwargs), "teardown")
        finally:
            if self.event_loop:
                close_event_loop(self.event_loop)
        return {"beside": CpuTime().beside_since(self.cpu_time)}


def close_event_loop(loop: asyncio.AbstractEventLoop) -> None:
    """End an event loop as asyncio.run does: cancel the remaining tasks, then close it."""
    with STANDARD_LIBRARY:
        import asyncio  # noqa: PLC0415 - imported already, together with the loop

    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks))
    loop.run_until_complete(loop.shutdown_asyncgens())
    if hasattr(loop, "shutdown_default_executor"):
        loop.run_until_complete(loop.shutdown_default_executor())
    asyncio.set_event_loop(None)
    loop.close()


# By step, the method that carries it out.
STEPS = {
    "loops": "set_loops",
    "begin": "begin",
    "peak": "peak",
    "count": "count",
    "end": "end",
    "allocations": "allocations",
    "value": "value",
    "observe": "observe",
    "observe_allocations": "observe_allocations",
}


class OpenEach(OpenBenchmark):
    """Times its calls one by one; see `OpenBenchmark`."""

    times_each = True

    def __init__(self, benchmark: Benchmark) -> None:
        self.setup_each = getattr(benchmark.function, "setup_each", None)
        self.teardown_each = getattr(benchmark.function, "teardown_each", None)
        self.collects = getattr(benchmark.function, "collect_each", False)
        super().__init__(benchmark)
        self.each = self.args

    def sample(self, loops: int, wall: Clock, cpu: Clock) -> tuple[int, int]:
        """Time this many calls, each after its setup; return (wall_ns, cpu_ns) of all calls."""
        wall_ns = cpu_ns = 0
        for _ in range(loops):
            self.prepare()
            try:
                spent = super().sample(1, wall, cpu)
            finally:
                self.clean()
            wall_ns += spent[0]
            cpu_ns += spent[1]
        return wall_ns, cpu_ns

    def prepare(self) -> None:
        """Set up the next call."""
        kwargs = self.benchmark.kwargs
        made = None
        if self.setup_each:
            made = self._finish(self.setup_each(*self.args, **kwargs), "setup_each")
        if self.collects:
            collect()
        self.each = self.args if made is None else (made,)
        self.call = self.benchmark.function
        if self.each or kwargs:
            self.call = partial(self.call, *self.each, **kwargs)

    def clean(self) -> None:
        """Tear down after a call, even if it failed."""
        if self.teardown_each:
            self._finish(self.teardown_each(*self.each, **self.benchmark.kwargs), "teardown_each")

    def _trace(self, watch: AllocationWatch | None = None) -> tuple[int, int]:
        self.prepare()
        try:
            return super()._trace(watch)
        finally:
            self.clean()

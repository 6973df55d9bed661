"""One benchmark in this process, from its setup to its teardown.

Functions of the standard library are bound here, so that the user's code can replace them in their
modules without an effect on what is measured: to freeze the time, for example.

Neither these nor the teardown of a call are timed.
"""

from __future__ import annotations

import os
from functools import partial
from gc import collect, isenabled
from itertools import repeat

from .clocks import perf_counter_ns, process_time_ns
from .failures import Fault
from .functions import HOOKS, is_async
from .observed import AllocationWatch, CallCounter, Costs, Times, described, times_apart
from .own_time import OwnTime
from .process_state import CpuTime, peak_rss_bytes, set_gc
from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from typing import Any

    from .functions import Benchmark

    Clock = Callable[[], int]

# Valgrind watches for this function of the C library, which does nearly nothing, and which hardly
# anybody calls: when it begins, valgrind writes down what it has counted.
mark = getattr(os, "ctermid", os.getpid)


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

"""One benchmark in this process, from its setup to its teardown."""

from __future__ import annotations

# The functions of the standard library are bound here, so that the user's code can replace them in
# their modules without an effect on what is measured: to freeze the time, for example.
from functools import partial
from gc import collect, isenabled
from itertools import repeat

from .clocks import perf_counter_ns, process_time_ns, thread_time_ns
from .failures import Fault
from .functions import HOOKS, is_async
from .process_state import CpuTime, OwnTime, mark, peak_rss_bytes, set_gc
from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from typing import Any

    from .functions import Benchmark

LONG_NS = 100_000_000
# Clocks of the OS differ by a little, and its accounting rounds.
ONE_THREAD = 0.97


class OpenBenchmark:
    """One benchmark in this process, from its setup to its teardown.

    Every public method with a `message` is a step that benchgate asks for; it returns the reply.

    Attributes:
        is_inside: whether this process itself does the work.
        times_each: whether the calls of a sample are timed one by one, with other work between.
        long_ns: a sample that takes this long is taken only once to find the loops.
        own_time: clocks that leave waiting for a CPU out, once they are needed: if both arms may
            take a sample at the same time, on one CPU.
        waiting_ratio: the part of its time in which a sample did not compute, of the sample that
            waited least; waiting for a CPU does not count.
        is_several: whether threads or processes did a part of the last sample.
        clocks: for the wall and CPU time of samples.
    """

    is_inside = True
    times_each = False
    long_ns = 2**63
    own_time: OwnTime | None = None
    waiting_ratio = 1.0
    is_several = False
    clocks = perf_counter_ns, process_time_ns

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.loops = 1
        self.first_ns: int | None = None
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

    def sample(
        self,
        loops: int,
        wall: Callable[[], int] = perf_counter_ns,
        cpu: Callable[[], int] = process_time_ns,
    ) -> tuple[int, int]:
        """Time this many calls; return (wall_ns, cpu_ns)."""
        if self.is_async and self.event_loop:
            return self.event_loop.run_until_complete(self._sample_async(loops, wall, cpu))
        return self.time_calls(self.call, loops, wall, cpu)

    def time_calls(
        self,
        call: Callable[[], Any],
        loops: int,
        wall: Callable[[], int],
        cpu: Callable[[], int],
    ) -> tuple[int, int]:
        turns = self.turns = repeat(None, loops)
        cpu_start = cpu()
        start = wall()
        for _ in turns:
            call()
        end = wall()
        return end - start, cpu() - cpu_start

    async def _sample_async(
        self, loops: int, wall: Callable[[], int], cpu: Callable[[], int]
    ) -> tuple[int, int]:
        call = self.call
        turns = self.turns = repeat(None, loops)
        cpu_start = cpu()
        start = wall()
        for _ in turns:
            await call()
        end = wall()
        return end - start, cpu() - cpu_start

    def calibrate(self, message: dict[str, Any]) -> dict[str, Any]:
        """Find how many loops make a sample long enough, and what a sample is like."""
        if message.get("may_share"):
            self.own_time = OwnTime()
        return {
            "beside_ns": 0,
            **self.find_loops(message["target_ns"]),
            "first_ns": self.first_ns,
            "waiting_ratio": self.waiting_ratio,
            "is_several": self.is_several,
            "has_number": self.number is not None,
        }

    def find_loops(self, target_ns: int) -> dict[str, int]:
        """Find how many loops take this long, or all those that `number` sets."""
        loops = self.number or 1
        while True:
            elapsed_ns = self._shortest_ns(loops)
            if self.number or elapsed_ns >= target_ns:
                return {"loops": loops, "sample_ns": elapsed_ns}
            # Aim a little high, but grow at most tenfold: the timing of few loops is coarse.
            loops = max(loops + 1, min(loops * 10, int(loops * target_ns * 1.2 / elapsed_ns)))

    def time_loops(self, message: dict[str, Any]) -> dict[str, Any]:
        """Measure how long this many loops take."""
        return {"sample_ns": self._shortest_ns(message["loops"])}

    def _shortest_ns(self, loops: int) -> int:
        """Time a sample three times, twice if it is long, or once if it is very long.

        Return the shortest time: first calls import, connect and fill caches, and interruptions
        only ever add time. This time decides how a whole session takes its samples.
        """
        start_ns = perf_counter_ns()
        elapsed_ns = [self._watched_ns(loops)]
        if perf_counter_ns() - start_ns < self.long_ns:
            elapsed_ns.append(self._watched_ns(loops))
        if sum(elapsed_ns) < LONG_NS:
            elapsed_ns.append(self._watched_ns(loops))
        if self.first_ns is None:
            self.first_ns = elapsed_ns[0]
        return max(1, min(elapsed_ns))

    def _watched_ns(self, loops: int) -> int:
        """Time a sample; see whether it only computes, in one thread."""
        own = self.own_time
        if own is None:
            return self.sample(loops)[0]
        cpu_ns, thread_ns, wall_ns = own.cpu_ns(), thread_time_ns(), own.wall_ns()
        took_ns, _ = self.sample(loops)
        wall_ns, thread_ns = own.wall_ns() - wall_ns, thread_time_ns() - thread_ns
        cpu_ns = own.cpu_ns() - cpu_ns
        if own.is_known:
            self.waiting_ratio = min(self.waiting_ratio, max(0.0, 1 - cpu_ns / wall_ns))
        self.is_several = thread_ns < ONE_THREAD * cpu_ns
        # One includes what is not timed, the other one how long it waited for the CPU.
        return min(took_ns, wall_ns)

    def set_loops(self, message: dict[str, Any]) -> dict[str, Any]:
        """Determine what a sample is.

        If this process shares its CPU with the other arm's, waiting for it is no part of the time.
        """
        self.loops = message["loops"]
        self.clocks = perf_counter_ns, process_time_ns
        if message.get("shares_cpu"):
            self.own_time = self.own_time or OwnTime()
            self.clocks = self.own_time.wall_ns, self.own_time.cpu_ns
        return {}

    def begin(self, message: dict[str, Any]) -> dict[str, Any]:
        collect()
        set_gc(enabled=False)
        return {}

    def peak(self, message: dict[str, Any]) -> dict[str, Any]:
        return {"peak_rss": peak_rss_bytes()}

    def count(self, message: dict[str, Any]) -> dict[str, Any]:
        """Take a sample between two marks, for valgrind."""
        mark()
        self.sample(self.loops)
        mark()
        return {}

    def end(self, message: dict[str, Any]) -> dict[str, Any]:
        self.restore_gc()
        return {}

    def restore_gc(self) -> None:
        set_gc(enabled=self.gc_was_enabled)

    def value(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the number that stands for the benchmark, if it is not a time."""
        raise Fault("it is measured by its time, and has no value")

    def allocations(self, message: dict[str, Any]) -> dict[str, Any]:
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

    def _trace(self) -> tuple[int, int]:
        with STANDARD_LIBRARY:
            import tracemalloc  # noqa: PLC0415 - only in this pass, outside of every timing

        collect()
        tracemalloc.start(1)
        try:
            kept = self._finish(self.call(), "it")
            peak = tracemalloc.get_traced_memory()[1]
            blocks = len(tracemalloc.take_snapshot().traces)
        finally:
            tracemalloc.stop()
        del kept
        return peak, blocks

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
    "calibrate": "calibrate",
    "time": "time_loops",
    "loops": "set_loops",
    "begin": "begin",
    "peak": "peak",
    "count": "count",
    "end": "end",
    "allocations": "allocations",
    "value": "value",
}

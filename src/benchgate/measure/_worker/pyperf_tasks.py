"""The benchmarks of pyperf's Runner, as they are sampled."""

from __future__ import annotations

from itertools import repeat

from .clocks import perf_counter_ns, process_time_ns
from .failures import Fault
from .functions import Benchmark
from .opened import OpenBenchmark
from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# As pyperf itself: a time that does not grow with the loops would never be long enough.
MOST_LOOPS = 2**32


class RunnerBenchmark(OpenBenchmark):
    """A benchmark of a Runner.

    Attributes:
        last_ns: the time of one operation in the last sample.
    """

    last_ns = 0.0


class TaskBenchmark(RunnerBenchmark):
    """A task of pyperf's: a function that times loops itself, and returns the seconds.

    Each of its loops stands for `inner_loops` operations, so these are the loops here.
    """

    def __init__(self, task: Any) -> None:
        super().__init__(Benchmark("", task.name, self.call_once))
        self.task = task
        self.inner = task.inner_loops or 1

    def call_once(self) -> None:
        self.task.task_func(self.task, 1)

    def sample(
        self,
        loops: int,
        wall: Callable[[], int] = perf_counter_ns,
        cpu: Callable[[], int] = process_time_ns,
    ) -> tuple[int, int]:
        """Let the task time itself; return its time, and a share of the CPU time as large."""
        turns = -(-loops // self.inner)
        if not turns:  # the overhead of a sample is counted
            return 0, 0
        if turns > MOST_LOOPS:
            raise Fault(f"the time that it returns does not grow: {turns} loops are too few")
        cpu_start, start, began_ns = cpu(), wall(), perf_counter_ns()
        seconds = self.task.task_func(self.task, turns)
        ended_ns, passed_ns, cpu_ns = perf_counter_ns(), wall() - start, cpu() - cpu_start
        timed_ns = 1e9 * self.checked(seconds)
        if wall is not perf_counter_ns:  # the task's own clock runs while it waits for a CPU
            timed_ns *= min(1.0, passed_ns / (ended_ns - began_ns))
        share = min(1.0, timed_ns / passed_ns)
        scale = loops / (turns * self.inner)
        self.last_ns = timed_ns / (turns * self.inner)
        return round(timed_ns * scale), round(cpu_ns * share * scale)

    @staticmethod
    def checked(seconds: Any) -> float:
        try:
            found = float(seconds)
        except (TypeError, ValueError):
            found = -1.0
        if not 0 <= found < float("inf"):
            raise Fault(f"its function returned {seconds!r}: it must return a time in seconds")
        return found

    def find_loops(self, target_ns: int) -> dict[str, int]:
        """Find how many operations make a sample long enough: a multiple of the inner loops."""
        found = super().find_loops(target_ns)
        whole = -(-found["loops"] // self.inner) * self.inner
        sample_ns = max(1, found["sample_ns"] * whole // found["loops"])
        return {"loops": whole, "sample_ns": sample_ns}


class CommandBenchmark(RunnerBenchmark):
    """A command: each call is a new process, without input, whose output is not kept."""

    is_inside = False

    def __init__(self, command: Any) -> None:
        with STANDARD_LIBRARY:
            import resource  # noqa: PLC0415 - seldom needed
            import subprocess  # noqa: PLC0415
        self.subprocess, self.resource = subprocess, resource
        self.command = list(command)
        super().__init__(Benchmark("", "", self.run_once))

    def run_once(self) -> None:
        nothing = self.subprocess.DEVNULL
        with self.subprocess.Popen(
            self.command, stdin=nothing, stdout=nothing, stderr=self.subprocess.STDOUT
        ) as process:
            code = process.wait()
        if code:
            raise Fault(f"its command ended with exit code {code}: {' '.join(self.command)}")

    def sample(
        self,
        loops: int,
        wall: Callable[[], int] = perf_counter_ns,
        cpu: Callable[[], int] = process_time_ns,
    ) -> tuple[int, int]:
        """Time this many processes; return also the CPU time that they used."""
        self.turns = repeat(None, loops)
        cpu_start = self.children_ns()
        start = wall()
        for _ in self.turns:
            self.run_once()
        passed_ns = wall() - start
        self.last_ns = passed_ns / max(1, loops)
        return passed_ns, self.children_ns() - cpu_start

    def children_ns(self) -> int:
        used = self.resource.getrusage(self.resource.RUSAGE_CHILDREN)
        return round((used.ru_utime + used.ru_stime) * 1e9)

    def close(self) -> dict[str, Any]:
        """Tear it down; its own processes do not work beside it."""
        found = super().close()
        return {**found, "beside": [each for each in found["beside"] if each != "processes"]}

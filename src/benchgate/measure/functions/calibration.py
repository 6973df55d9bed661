"""Finds how many calls make a sample long enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchgate.measure.functions.asking import ask
from benchgate.measure.machine import run_time_ns
from benchgate.measure.workers import WorkerFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.measure.workers import Worker

# A sample that takes half as long is not taken a third time.
LONG_SAMPLE_NS = 100_000_000
# How many times as long as a sample that which is not timed may become, because each call has some.
_MOST_BESIDE = 10
# No CPU does as many calls in a sample.
_MOST_LOOPS = 10**10
# Clocks of the OS differ by a little, and its accounting rounds.
_ONE_THREAD = 0.97


@dataclass(frozen=True, slots=True)
class SampleKind:
    """What a sample of the open benchmark may be, on every arm.

    Attributes:
        number: the calls that its author has set; None if any will do.
        inner_loops: the calls are a multiple of these.
        times_each: whether they are timed one by one.
        is_inside: whether the worker's process does the work; of others only times are known.
    """

    number: int | None = None
    inner_loops: int = 1
    times_each: bool = False
    is_inside: bool = True

    @classmethod
    def of(cls, replies: Sequence[Mapping[str, Any]]) -> SampleKind:
        """What the workers say when they have opened the benchmark."""
        return cls(
            max((reply["number"] for reply in replies if reply.get("number")), default=None),
            max(reply.get("inner_loops", 1) for reply in replies),
            any(reply.get("times_each", False) for reply in replies),
            all(reply.get("is_inside", True) for reply in replies),
        )


@dataclass(slots=True)
class SampleCalibration:
    """Finds how many calls make a sample of one worker long enough, and what a sample is like.

    Attributes:
        may_share: whether both arms may take a sample at the same time, on one CPU.
        long_ns: a sample that takes this long is taken only once.
        loops, sample_ns, beside_ns: of the last samples; the time is the shortest.
        first_ns: how long the first of all samples took.
        waiting_ratio: the part of its time in which a sample did not compute, of the sample that
            waited least; waiting for a CPU does not count.
        is_several: whether threads or processes did a part of the last sample.
    """

    worker: Worker
    timeout_s: float
    kind: SampleKind
    may_share: bool
    long_ns: int
    loops: int = 1
    sample_ns: int = 1
    beside_ns: int = 0
    first_ns: int | None = None
    waiting_ratio: float = 1.0
    is_several: bool = False

    def find_loops(self, target_ns: int) -> None:
        """Take samples until they last this long, or have the number of calls that is set."""
        self.time(self.kind.number or 1)
        if self.kind.number:
            return
        if self.kind.times_each:
            # Their time need not be as long, because setting up takes time as well.
            if (loops := target_ns // max(self.sample_ns, self.beside_ns)) > 1:
                self.time(loops)
            return
        most_beside_ns = _MOST_BESIDE * max(target_ns, self.beside_ns)
        while self.sample_ns < target_ns and self.beside_ns < most_beside_ns:
            if self.loops > _MOST_LOOPS:
                problem = f"it takes no longer if it is called {self.loops:,} times: does it repeat"
                raise WorkerFailedError(self.worker, f"{problem} its work as often as it is asked?")
            # Aim a little high, but grow at most tenfold: the timing of few loops is coarse.
            aimed = int(self.loops * target_ns * 1.2 / self.sample_ns)
            self.time(max(self.loops + 1, min(self.loops * 10, aimed)))

    def time(self, loops: int) -> None:
        """Take a sample three times, twice if it is long, or once if it is very long.

        The shortest counts: first calls import, connect and fill caches, and interruptions only
        ever add time. This time decides how a whole session takes its samples.
        """
        inner_loops = self.kind.inner_loops
        self.loops = -(-loops // inner_loops) * inner_loops
        shared = " shared" if self.may_share else ""
        ask([self.worker], self.timeout_s, "loops", f"{self.loops}{shared}")
        taken = [self._sample()]
        if sum(taken[0]) < self.long_ns:
            taken.append(self._sample())
        if sum(wall_ns for wall_ns, _ in taken) < LONG_SAMPLE_NS:
            taken.append(self._sample())
        self.first_ns = self.first_ns or taken[0][0]
        self.sample_ns = max(1, min(wall_ns for wall_ns, _ in taken))
        # What was set up before the first one is not part of it.
        self.beside_ns = sorted(beside_ns for _, beside_ns in taken)[len(taken) // 2]

    def _sample(self) -> tuple[int, int]:
        """Take a sample; return its time, and what it took that was not timed."""
        before_ns = run_time_ns(self.worker.pid) if self.may_share else None
        wall_ns, cpu_ns = self.worker.sample()
        if before_ns is not None and wall_ns:
            main_ns = (run_time_ns(self.worker.pid) or 0) - before_ns
            self.waiting_ratio = min(self.waiting_ratio, max(0.0, 1 - cpu_ns / wall_ns))
            self.is_several = main_ns < _ONE_THREAD * cpu_ns
        return wall_ns, self.worker.beside_ns

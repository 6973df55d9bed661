"""What one turn costs beyond the sample itself: the request, waking the worker, its reply.

Run it with `python benchmarks/turn_overhead.py`. Two workers share one CPU and take turns, as base
and head do. benchgate's side runs on another CPU, and then on the same one. The exit code is 1 if
the median of all turns is above the limit in either place. Other programs on the machine add to it,
so a busy machine may miss the limit.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.functions.samples import take_samples
from benchgate.measure.machine.cpu_use import by_idleness, read_busy_ticks
from benchgate.measure.machine.cpus import available_cpus, kept_off, supports_pinning
from benchgate.measure.machine.memory_layout import Layout
from benchgate.measure.processes.guardian import Guardian
from benchgate.measure.workers.start import WorkerSetting
from benchgate.measure.workers.worker import Worker

LIMIT_US = 100.0
TURNS = 1000
SOURCE = "def bench_wait():\n    sum(range(100))\n"
SAMPLE_NS = 1_000_000
TIMEOUT_S = 60.0


@dataclass
class Timed:
    """A worker, and what each of its turns cost beyond the sample."""

    worker: Worker
    overheads_us: list[float] = field(default_factory=list)
    began_ns: int = 0

    def begin_sample(self) -> None:
        """Note when a sample begins."""
        self.began_ns = time.perf_counter_ns()
        self.worker.begin_sample()

    def end_sample(self) -> tuple[int, int]:
        """Note what the sample cost beside."""
        wall_ns, cpu_ns = self.worker.end_sample()
        self.overheads_us.append((time.perf_counter_ns() - self.began_ns - wall_ns) / 1000)
        return wall_ns, cpu_ns


def measure(cpu: int | None) -> list[float]:
    """Let two workers take turns on one CPU; give the overhead of each turn in microseconds."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        file = folder / "bench_it.py"
        file.write_text(SOURCE)
        guardian = stack.enter_context(Guardian.start())
        setting = WorkerSetting(
            interpreter=[sys.executable],
            file=file,
            path=[],
            cpus=None if cpu is None else [cpu],
            forbidden=[],
            variables={**os.environ, **guardian.variables},
            layout=Layout(),
        )
        players = []
        for name in ArmName:
            worker = Worker(Arm(name, folder, folder), setting, guardian)
            stack.callback(worker.kill)
            worker.ready(TIMEOUT_S)
            worker.allow(TIMEOUT_S)
            worker.ask("open", "wait")
            worker.ask("loops", 1000)
            wall_ns, _ = worker.sample()
            worker.ask("loops", 1000 * SAMPLE_NS // wall_ns)
            worker.ask("begin")
            players.append(Timed(worker))
        take_samples(players, TURNS, random.Random(0))  # noqa: S311 - repeatable on purpose
        return [us for player in players for us in player.overheads_us]


def report(place: str, overheads_us: list[float]) -> bool:
    """Print one line; give whether the median is within the limit."""
    passed = median(overheads_us) <= LIMIT_US
    print(
        f"{place}: {'PASS' if passed else 'FAIL'}, median {median(overheads_us):.1f} us "
        f"(limit {LIMIT_US:g} us), p95 {_p95(overheads_us):.1f} us"
    )
    return passed


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]


def main() -> None:
    """Measure in both places."""
    print(f"The cost of one turn beyond a sample of {SAMPLE_NS / 1e6:g} ms")
    if not supports_pinning():
        sys.exit(not report("not pinned", measure(None)))
    before = read_busy_ticks()
    time.sleep(0.1)
    cpu = by_idleness(before, read_busy_ticks(), available_cpus())[0]
    passed = True
    if len(available_cpus()) > 1:
        with kept_off(cpu):
            passed = report("benchgate on another CPU", measure(cpu))
    else:
        print("benchgate on another CPU: there is only one")
    os.sched_setaffinity(0, {cpu})
    passed &= report("benchgate on the same CPU", measure(cpu))
    sys.exit(not passed)


if __name__ == "__main__":
    main()

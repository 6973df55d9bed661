"""What a round of a suite of pytest costs, as a ratio to the same functions as `bench_*`.

Run it with `python benchmarks/hosted_suite.py`. Two workers, as of base and head, measure 50
functions one after the other, first as `bench_*` and then as tests, in turn. What comes before, the
import of the file and the collection of the tests, is shown, but not compared: pytest itself takes
that time. The exit code is 1 if the median ratio is above the limit.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.functions.lockstep import LaunchedBenchmark, measure_launch
from benchgate.measure.functions.sampler import Sampling
from benchgate.measure.machine.memory_layout import Layout
from benchgate.measure.processes.guardian import Guardian
from benchgate.measure.workers.start import WorkerSetting
from benchgate.measure.workers.worker import Worker

if TYPE_CHECKING:
    from benchgate.measure.functions.sample_plan import SamplePlan

LIMIT_RATIO = 1.5
FUNCTIONS = 50
ROUNDS = 5
TIMEOUT_S = 60.0
SAMPLING = Sampling(samples=45, launch_ns=20_000_000, warmup=3)
WORK = "def work():\n    return sum(range(2000))\n\n\n"
FILES = {
    "python": ("bench_it.py", "def bench_{0}():\n    work()\n\n\n"),
    "pytest": ("test_it.py", "def test_{0}(benchmark):\n    benchmark(work)\n\n\n"),
}


def start(host: str, root: Path, guardian: Guardian) -> list[Worker]:
    """Start a worker for each side."""
    workers = []
    for name in ArmName:
        setting = WorkerSetting(
            interpreter=(sys.executable,),
            file=root / FILES[host][0],
            path=[str(root)],
            cpus=None,
            forbidden=(),
            variables={"PATH": os.environ["PATH"], **guardian.variables},
            layout=Layout(),
            host=host,
        )
        workers.append(Worker(Arm(name, root, root / "env"), setting, guardian))
    for worker in workers:
        worker.ready(TIMEOUT_S)
    return workers


def round_of(
    host: str, root: Path, guardian: Guardian, plans: dict[int, SamplePlan]
) -> tuple[float, float]:
    """Measure every function once; return the seconds until the workers are ready, and after.

    Args:
        plans: those of the first round, which makes them.
    """
    began_s = time.perf_counter()
    workers = start(host, root, guardian)
    ready_s = time.perf_counter()
    prefix = "" if host == "python" else f"{FILES[host][0]}::test_"
    rng = random.Random(1)  # noqa: S311 - the same order each time
    for number in range(FUNCTIONS):
        names = [f"{prefix}{number}"] * len(workers)
        plan = plans.get(number)
        opening = LaunchedBenchmark(str(number), names, TIMEOUT_S)
        plans[number], _, _ = measure_launch(opening, workers, plan, SAMPLING, rng)
    ended_s = time.perf_counter()
    for worker in workers:
        worker.close()
    return ready_s - began_s, ended_s - ready_s


def main() -> int:
    """Show the costs; return the exit code."""
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        guardian = stack.enter_context(Guardian.start())
        for name, text in FILES.values():
            tests = "".join(text.format(number) for number in range(FUNCTIONS))
            (root / name).write_text(WORK + tests)
        plans: dict[str, dict[int, SamplePlan]] = {host: {} for host in FILES}
        spent = [
            {host: round_of(host, root, guardian, plans[host]) for host in FILES}
            for _ in range(1 + ROUNDS)
        ]
    first, *later = spent
    for host in FILES:
        ready_s, round_s = (median(one[host][part] for one in later) for part in (0, 1))
        print(
            f"{host}: {ready_s:.2f} s until ready, {round_s:.2f} s for {FUNCTIONS} functions; "
            f"in the first round {first[host][1]:.2f} s"
        )
    ratio = median(one["pytest"][1] / one["python"][1] for one in later)
    print(f"pytest / python: {ratio:.2f} (limit {LIMIT_RATIO})")
    return 1 if ratio > LIMIT_RATIO else 0


if __name__ == "__main__":
    sys.exit(main())

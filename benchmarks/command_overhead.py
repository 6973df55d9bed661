"""What benchgate adds to the time of a command: `true`, run by benchgate and by Python's own means.

All ways take turns in one process, so that they meet the same machine. For each way, the table
shows the time that the command took by its own account, and the time that passed for the caller.

    python benchmarks/command_overhead.py [ROUNDS]
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchgate.measure.machine.cpus import available_cpus, kept_off, supports_pinning
from benchgate.measure.processes.execution import AllowedTime
from benchgate.measure.processes.guardian import Guardian
from benchgate.measure.processes.launcher import CommandLauncher
from benchgate.process import find_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.arrays import FloatArray

ROUNDS = 300
WARMUP_ROUNDS = 20
TRUE = find_program("true", Path("/"), os.environ["PATH"])


def by_launcher(launcher: CommandLauncher, cpu: int | None) -> int:
    """Run it as a measured command is run."""
    cpus = None if cpu is None else frozenset({cpu})
    with kept_off(cpu):
        execution = launcher.execute(
            [TRUE], cwd=Path("/"), env=os.environ, allowed=AllowedTime(60), cpus=cpus
        )
    return execution.wall_ns


def by_subprocess() -> int:
    """Run it as a program in Python usually does."""
    started_ns = time.perf_counter_ns()
    subprocess.run([TRUE], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return time.perf_counter_ns() - started_ns


def by_posix_spawn() -> int:
    """Run it with the least that Python can do."""
    started_ns = time.perf_counter_ns()
    os.wait4(os.posix_spawn(TRUE, [TRUE], os.environ), 0)
    return time.perf_counter_ns() - started_ns


def take_turns(ways: dict[str, Callable[[], int]], rounds: int) -> dict[str, FloatArray]:
    """Run every way once a round, in random order.

    Returns:
        For each way an array of shape (rounds, 2), microseconds reported and passed.
    """
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    order = list(ways)
    for _ in range(WARMUP_ROUNDS + rounds):
        random.shuffle(order)
        for name in order:
            started_ns = time.perf_counter_ns()
            reported_ns = ways[name]()
            passed_ns = time.perf_counter_ns() - started_ns
            times[name].append((reported_ns / 1e3, passed_ns / 1e3))
    return {name: np.array(pairs[WARMUP_ROUNDS:]) for name, pairs in times.items()}


def report(times: dict[str, FloatArray]) -> None:
    """Print quartiles of the reported times, their spread, and the median that passed."""
    print(f"{'us':27} {'p25':>7} {'median':>7} {'p75':>7}  spread  passed")
    for name, pairs in times.items():
        low, middle, high = np.quantile(pairs[:, 0], (0.25, 0.5, 0.75))
        spread = (high - low) / middle
        passed = np.median(pairs[:, 1])
        print(f"{name:27} {low:7.0f} {middle:7.0f} {high:7.0f} {spread:6.1%} {passed:7.0f}")


def main() -> None:
    """Measure all ways and print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with Guardian.start() as guardian, closing(CommandLauncher(guardian)) as launcher:
        ways = {"benchgate": lambda: by_launcher(launcher, None)}
        if supports_pinning():
            cpu = max(available_cpus())
            ways["benchgate, pinned"] = lambda: by_launcher(launcher, cpu)
        ways["subprocess.run"] = by_subprocess
        ways["os.posix_spawn + os.wait4"] = by_posix_spawn
        report(take_turns(ways, rounds))


if __name__ == "__main__":
    main()

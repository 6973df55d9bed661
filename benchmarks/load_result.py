"""How long `show` and `compare` take with a very large result, and how much memory.

It writes the base and the head of 10,000 benchmarks x 20 launches x 50 samples into a temporary
folder, and gives the file to each command in a fresh process. `compare` writes all of its outputs.
Goals: <= 10 s on a quiet machine, and <= 1 GiB. The exit code is 1 if one of them is not reached.

    python benchmarks/load_result.py [--benchmarks N]
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchgate.files.writing import write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.launch_table import Launch
from benchgate.model.metrics import Metric
from benchgate.model.redact import Redactor
from benchgate.model.result import Result
from benchgate.model.run import BenchmarkResult, Run, Series, Source, Tier

LAUNCHES = 20
SAMPLES = 50
WARMUP = 3
LOOPS = 16
GOAL_S = 10.0
GOAL_MIB = 1024
OUTPUTS = ("json", "markdown", "html", "junit", "csv")
# Linux counts in KiB, macOS in bytes.
PER_MIB = 2**20 if sys.platform == "darwin" else 2**10


def main() -> int:
    """Generate, measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--benchmarks", type=int, default=10_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        began_s = time.perf_counter()
        data = encode_result(generated(arguments.benchmarks), Redactor({}))
        took_s = time.perf_counter() - began_s
        packed = gzip.compress(data)
        print(
            f"written in {took_s:.1f} s: {len(data) / 1e6:.0f} MB, packed {len(packed) / 1e6:.0f}"
        )
        path = Path(folder, "result.json.gz")
        write_atomic(path, data)
        outputs = [f"--{kind}={folder}/verdict.{kind}" for kind in OUTPUTS]
        commands = {
            "show": ["show", str(path)],
            "compare": ["compare", str(path)],
            "compare, all outputs": ["compare", str(path), *outputs],
        }
        return max([measure(name, command) for name, command in commands.items()])


def measure(name: str, arguments: list[str]) -> int:
    """Run a command; print wall time, CPU time and peak memory; return 1 if a goal is missed."""
    began_s = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "benchgate", *arguments], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    took_s = time.perf_counter() - began_s
    peak_mib = usage.ru_maxrss / PER_MIB
    print(
        f"{name:22} {took_s:5.1f} s ({usage.ru_utime + usage.ru_stime:.1f} s of CPU),"
        f" {peak_mib:5.0f} MiB, exit code {process.returncode}"
    )
    return int(took_s > GOAL_S or peak_mib > GOAL_MIB)


def generated(benchmarks: int) -> Result:
    """Times of 0.1 to 2 ms for a sample, in whole nanoseconds, with the spread of real ones."""
    random = np.random.default_rng(1)
    return Result(arm(random, benchmarks), arm(random, benchmarks))


def arm(random: np.random.Generator, benchmarks: int) -> Run:
    """One side."""
    return Run(
        source=Source(sha="0" * 40),
        started="2025-01-31T09:30:00Z",
        environment=Environment(),
        benchmarks=tuple(
            BenchmarkResult(
                id=f"group{index // 50}/name[n={index}]",
                workload=f"{index:016x}",
                tier=Tier.LOCKSTEP,
                series=(Series(Metric("time", "s"), LOOPS, launches(random)),),
            )
            for index in range(benchmarks)
        ),
    )


def launches(random: np.random.Generator) -> tuple[Launch, ...]:
    """The launches of one benchmark."""
    typical_ns = np.exp(random.uniform(np.log(1e5), np.log(2e6)))
    between = random.lognormal(0, 0.01, (LAUNCHES, 1))
    within = random.lognormal(0, 0.01, (LAUNCHES, WARMUP + SAMPLES))
    times = np.rint(typical_ns * between * within) / (1e9 * LOOPS)
    return tuple(
        Launch(round=index, order=index % 2, warmup=row[:WARMUP], samples=row[WARMUP:])
        for index, row in enumerate(times)
    )


if __name__ == "__main__":
    sys.exit(main())

"""How long it takes to load the largest result file that benchgate promises, and how much memory.

It writes 10,000 benchmarks x 20 launches x 50 samples into a temporary folder, plain and gzip, and
loads each in a fresh process. Goals: <= 10 s, <= 1.5 GiB.

    python benchmarks/load_result.py
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchgate.baselines.own_file import read_result
from benchgate.files import write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.environment import Environment
from benchgate.model.redact import Redactor
from benchgate.model.result import Result
from benchgate.model.run import BenchmarkResult, Launch, Metric, Run, Series, Source, Tier

LAUNCHES = 20
SAMPLES = 50
WARMUP = 3


def main() -> None:
    """Generates, loads and prints; or, given a file, loads that one and prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, help="load this file, nothing else")
    parser.add_argument("--benchmarks", type=int, default=10_000)
    arguments = parser.parse_args()
    if arguments.file:
        load(arguments.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        data = encode_result(generated(arguments.benchmarks), Redactor({}))
        print(f"encoded   {time.perf_counter() - started:6.2f} s")
        for name in ("result.json", "result.json.gz"):
            path = Path(folder, name)
            write_atomic(path, data)
            subprocess.run([sys.executable, __file__, path], check=True)


def load(path: Path) -> None:
    """Loads a file and prints wall time, CPU time and the peak memory of this process."""
    started, started_cpu = time.perf_counter(), time.process_time()
    result = read_result(path)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - started_cpu
    # Linux counts in KiB, macOS in bytes.
    scale = 2**20 if sys.platform == "darwin" else 2**10
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale
    print(
        f"loaded    {seconds:6.2f} s ({cpu_seconds:.2f} s of CPU), peak {peak_mib:.0f} MiB:"
        f" {len(result.head.benchmarks)} benchmarks,"
        f" {path.name} of {path.stat().st_size / 1e6:.0f} MB"
    )


def generated(benchmarks: int) -> Result:
    """Times around 100 us with the spread of real ones and all their digits."""
    random = np.random.default_rng(1)
    metric = Metric("time", "s")
    return Result(
        head=Run(
            source=Source(sha="0" * 40),
            started="2025-01-31T09:30:00Z",
            environment=Environment(),
            benchmarks=tuple(
                BenchmarkResult(
                    id=f"group/name[n={index}]",
                    workload=f"{index:016x}",
                    tier=Tier.LOCKSTEP,
                    series=(Series(metric, loops=16, launches=launches(random)),),
                )
                for index in range(benchmarks)
            ),
        )
    )


def launches(random: np.random.Generator) -> tuple[Launch, ...]:
    """The launches of one benchmark."""
    times = 1e-4 * random.lognormal(0, 0.02, (LAUNCHES, WARMUP + SAMPLES))
    return tuple(
        Launch(round=index, order=index % 2, warmup=row[:WARMUP], samples=row[WARMUP:])
        for index, row in enumerate(times)
    )


if __name__ == "__main__":
    main()

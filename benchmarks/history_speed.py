"""Measures how long a history takes: 1,000 runs of 200 benchmarks, each with two statistics.

One process appends all runs, and says how long the last one took. A new process reads the store
and finds the changes, and says how much memory it needed.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from benchgate.history import trends
from benchgate.history.adding import add_runs
from benchgate.history.find import HistoryRequest, find_history
from benchgate.history.query import Rows
from benchgate.history.record import Measured, RunRecord
from benchgate.history.sources import read_sources
from benchgate.history.store import Store
from benchgate.model.run import Better

RUNS, BENCHMARKS = 1000, 200
CHANGED_EVERY = 4
LIMIT_S, LIMIT_GIB, APPEND_LIMIT_S = 20.0, 1.0, 2.0


def runs(count: int, benchmarks: int) -> list[RunRecord]:
    """Runs in which each fourth benchmark changes by 5 % in the middle."""
    rng = np.random.default_rng(0)
    factors = rng.normal(1, 0.01, (count, benchmarks, 2))
    factors[count // 2 :, ::CHANGED_EVERY] *= 1.05
    first = datetime(2025, 1, 1, tzinfo=UTC)
    return [
        RunRecord(
            id=f"{index:024x}",
            suite="default",
            sha=f"{index:040x}",
            ref="main",
            started=f"{first + timedelta(hours=index):%Y-%m-%dT%H:%M:%SZ}",
            machine="AMD EPYC 7763, 4 cores, Ubuntu 24.04",
            machine_key="0123abcd",
            conditions={"python": "3.12.1"},
            canary_s=1e-3,
            measured=tuple(
                Measured(
                    benchmark=f"group{number % 10}/benchmark_{number}[size=1000]",
                    workload=f"{number:016x}",
                    metric="time",
                    unit="s",
                    better=Better.LOWER,
                    statistic=statistic,
                    display_unit="",
                    value=1e-3 * factor,
                    low=1e-3 * factor,
                    high=1e-3 * factor,
                    launches=10,
                )
                for number in range(benchmarks)
                for statistic, factor in zip(("p25", "p95"), factors[index, number], strict=True)
            ),
        )
        for index in range(count)
    ]


def append(folder: str, count: int, benchmarks: int) -> None:
    every = runs(count, benchmarks)
    store = Store.at(folder)
    add_runs(store, every[:-1], None, str)
    start_s = time.perf_counter()
    add_runs(store, every[-1:], None, str)
    print(f"append run {count}: {time.perf_counter() - start_s:.2f} s (at most {APPEND_LIMIT_S} s)")


def analyze(folder: str, *, changes: bool) -> None:
    start_s = time.perf_counter()
    found = read_sources([folder], str)
    read_s = time.perf_counter() - start_s
    if not changes:
        vars(trends)["change_points"] = lambda _: ()
    with Rows(found.table()) as rows:
        history = find_history(rows, HistoryRequest(), lambda _: {})
    all_s = time.perf_counter() - start_s
    peak_gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    shifts = sum(len(one.shifts) for one in history.trends)
    print(
        f"{'analyze' if changes else 'without change points'}: {all_s:.1f} s, {read_s:.1f} s of it "
        f"reading (at most {LIMIT_S:.0f} s), {peak_gib:.2f} GiB (at most {LIMIT_GIB:.0f} GiB), "
        f"{len(history.runs)} runs, {len(history.trends)} trends, {shifts} changes"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--benchmarks", type=int, default=BENCHMARKS)
    parser.add_argument("--analyze", help="folder of a store")
    parser.add_argument("--no-changes", action="store_true")
    options = parser.parse_args()
    if options.analyze:
        analyze(options.analyze, changes=not options.no_changes)
        return
    with tempfile.TemporaryDirectory() as folder:
        append(folder, options.runs, options.benchmarks)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        print(f"{options.runs} runs take {size / (1 << 20):.1f} MiB")
        again = [sys.executable, __file__, "--analyze", folder]
        for more in ([], ["--no-changes"]):
            subprocess.run([*again, *more], check=True)


if __name__ == "__main__":
    main()

"""Measures how long a history takes: 10,000 runs of 200 benchmarks, each with two statistics.

One process appends all runs, and says how long the last one took. A new process reads the store
and finds the changes, and says how much CPU time and memory it needed. Each fourth benchmark
changes by 5 % at six tenths of the runs. `--keep FOLDER` leaves the store there.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchgate.history import trends
from benchgate.history.adding import add_runs
from benchgate.history.record import Measured, RunRecord
from benchgate.history.sources import read_sources
from benchgate.history.store import Store
from benchgate.history.stored_rows import Rows
from benchgate.history.trends import HistoryRequest, find_history
from benchgate.model.metrics import Better

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNS, BENCHMARKS = 10_000, 200
CHANGED_EVERY, CHANGED_AT = 4, 0.6
LIMIT_S, LIMIT_MB, APPEND_LIMIT_S = 10.0, 600, 2.0


def runs(count: int, benchmarks: int) -> Iterator[RunRecord]:
    """Runs in which each fourth benchmark changes by 5 %."""
    rng = np.random.default_rng(0)
    first = datetime(2025, 1, 1, tzinfo=UTC)
    for index in range(count):
        factors = rng.normal(1, 0.01, (benchmarks, 2))
        if index >= CHANGED_AT * count:
            factors[::CHANGED_EVERY] *= 1.05
        yield RunRecord(
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
                for statistic, factor in zip(("p25", "p95"), factors[number].tolist(), strict=True)
            ),
        )


def append(folder: str, count: int, benchmarks: int) -> None:
    store = Store.at(folder)
    for index, one in enumerate(runs(count, benchmarks), 1):
        if index < count:
            store.add(one, str)
            continue
        start_s = time.perf_counter()
        add_runs(store, [one], None, str)
        took_s = time.perf_counter() - start_s
        print(f"append run {count}: {took_s:.2f} s (at most {APPEND_LIMIT_S} s)")


def analyze(folder: str, *, changes: bool) -> None:
    start_s, start_cpu_s = time.perf_counter(), time.process_time()
    found = read_sources([folder], str)
    read_s = time.process_time() - start_cpu_s
    if not changes:
        vars(trends)["change_points"] = lambda _: ()
    rows = Rows(found.runs, found.reader)
    history = find_history(rows, HistoryRequest(), lambda _: {})
    all_s, cpu_s = time.perf_counter() - start_s, time.process_time() - start_cpu_s
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    places = Counter(one.point for trend in history.trends for one in trend.shifts)
    print(
        f"{'analyze' if changes else 'without change points'}: {all_s:.1f} s, {cpu_s:.1f} s of CPU "
        f"(at most {LIMIT_S:.0f} s), {read_s:.1f} s of it reading; {peak_mb:.0f} MB (at most "
        f"{LIMIT_MB} MB); {len(history.runs)} runs, {len(history.trends)} trends, "
        f"{places.total()} changes, most often at {places.most_common(1)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--benchmarks", type=int, default=BENCHMARKS)
    parser.add_argument("--analyze", help="folder of a store")
    parser.add_argument("--keep", help="folder for the store")
    parser.add_argument("--no-changes", action="store_true")
    options = parser.parse_args()
    if options.analyze:
        analyze(options.analyze, changes=not options.no_changes)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        append(folder, options.runs, options.benchmarks)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        print(f"{options.runs} runs take {size / (1 << 20):.1f} MiB")
        again = [sys.executable, __file__, "--analyze", folder]
        for more in ([], ["--no-changes"]):
            subprocess.run([*again, *more], check=True)


if __name__ == "__main__":
    main()

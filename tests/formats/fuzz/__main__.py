"""Read damaged files with every format: `make fuzz`, or `python -m tests.formats.fuzz`.

An input is fine if it is read to something sane, or is an error that names the file; within two
seconds of the CPU and 1 GiB. Each format has a process of its own. An input that is not fine is
written below `tests/formats/crashers`, where `make test` reads it from then on.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TYPE_CHECKING

from tests.formats.fuzz.fuzzing import fuzz

from benchgate.formats.registry import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.formats.fuzz.fuzzing import Report


def main(arguments: Sequence[str] | None = None) -> int:
    """Try inputs on formats, and say how many were tried."""
    parser = argparse.ArgumentParser(prog="make fuzz", description="Read damaged files.")
    parser.add_argument("--inputs", type=int, default=100_000, help="of each format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", action="append", choices=NAMES, help="only this; repeatable")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument(
        "--commands-every",
        type=int,
        default=1000,
        help="give every n-th input to `benchgate import` and `compare` too; 0 for none",
    )
    options = parser.parse_args(arguments)
    print(f"{'format':24} {'inputs':>8} {'read':>8} {'commands':>8} {'CPU':>8} {'slowest':>9}")
    found: list[Report] = []
    with ProcessPoolExecutor(options.processes, max_tasks_per_child=1) as pool:
        tasks = [
            pool.submit(fuzz, name, options.inputs, options.seed, options.commands_every)
            for name in options.format or NAMES
        ]
        for task in as_completed(tasks):
            report = task.result()
            found.append(report)
            print(
                f"{report.name:24} {report.inputs:8,} {report.read:8,} "
                f"{report.through_commands:8,} {report.duration_s:6.0f} s "
                f"{report.slowest_s * 1e3:6.0f} ms",
                *(f"\n  {fault}" for fault in report.faults),
                flush=True,
            )
    total, faults = sum(each.inputs for each in found), sum(len(each.faults) for each in found)
    print(f"{total:,} inputs, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

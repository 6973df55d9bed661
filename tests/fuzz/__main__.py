"""Read damaged inputs with every reader: `make fuzz`, or `python -m tests.fuzz`.

Readers are those of benchgate's own files and of what processes and GitHub answer, and each format
of another tool. An input is fine if it is read to something sane, or refused with an error; within
two seconds of the CPU and 1 GiB. An input that is not fine is kept below `tests/fuzz/finds` or
`tests/formats/crashers`, where `make test` reads it from then on.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING

from tests.fuzz.fuzzing import Limits, fuzz
from tests.fuzz.targets import targets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fuzz.fuzzing import Report


def main(arguments: Sequence[str] | None = None) -> int:
    """Try inputs on readers, and say how many were tried."""
    options = _parser().parse_args(arguments)
    chosen = options.reader or list(targets())
    print(f"{'reader':24} {'inputs':>9} {'read':>9} {'CPU':>8} {'slowest':>9}")
    found: list[Report] = []
    end_s = time.monotonic() + options.seconds
    limits = Limits(options.inputs, options.seed, options.commands_every, end_s)
    with ProcessPoolExecutor(options.processes, get_context("fork")) as pool:
        tasks = [
            pool.submit(fuzz, name, limits, options.processes / (len(chosen) - index))
            for index, name in enumerate(chosen)
        ]
        for task in as_completed(tasks):
            report = task.result()
            found.append(report)
            print(
                f"{report.name:24} {report.inputs:9,} {report.read:9,} "
                f"{report.duration_s:6.0f} s {report.slowest_s * 1e3:6.0f} ms",
                *(f"\n  {fault}" for fault in report.faults),
                flush=True,
            )
    total, faults = sum(each.inputs for each in found), sum(len(each.faults) for each in found)
    print(f"{total:,} inputs, {faults} faults")
    return 1 if faults else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make fuzz", description="Read damaged inputs.")
    parser.add_argument("--inputs", type=int, default=100_000, help="of each reader")
    parser.add_argument(
        "--seconds", type=float, default=math.inf, help="of the whole run; readers share them"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        *("--reader", "--format"), action="append", choices=targets(), help="repeatable"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--commands-every",
        type=int,
        default=1000,
        help="give every n-th file of another tool to `benchgate import` and `compare` too; "
        "0 for none",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())

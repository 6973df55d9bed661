"""Writes stats/critical_values.py: how well an unchanged series can be cut in two by chance.

Run `python -m validation.critical_values` if the scan changes; it takes half an hour. The ranks of
independent values of one distribution are a random permutation, whatever that distribution is. So
the critical values depend only on the length of the series.
"""

from __future__ import annotations

import argparse
import math
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.changepoint import LEAST_RUNS, LONGEST_HISTORY, EnergyScan

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

FILE = Path(__file__).parents[1] / "src" / "benchgate" / "stats" / "critical_values.py"
TAILS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005)
LENGTHS = (
    *range(2 * LEAST_RUNS, 25),
    *(26, 28, 30, 32, 36, 40, 44, 48, 56, 64, 72, 80, 96, 112, 128, 144, 160, 192, 224, 256),
    *(320, 384, 448, 512, 640, 768, 1024, 1280, 1536, LONGEST_HISTORY),
)
# A scan of n values takes about n**2 times as long as one of few values.
_FEWEST, _MOST, _SQUARES = 10_000, 100_000, 2e9

_HEAD = """\
\"\"\"Critical values of the scan for change points, from `python -m validation.critical_values`.

A series of n independent values of one distribution is cut in two at least this well, by chance, in
as many of all cases as `TAILS` says. Lengths in between are interpolated.
\"\"\"

from __future__ import annotations

from math import inf
from typing import Final

"""


def statistics(n: int, count: int, seed: int = 0) -> FloatArray:
    """The statistics of the best cuts of random permutations, ascending."""
    rng = np.random.default_rng([n, seed])
    scan = EnergyScan(n, LEAST_RUNS)
    ranks = (np.arange(n) + 0.5) / n - 0.5
    return np.sort([scan.best(rng.permutation(ranks)).statistic for _ in range(count)])


def critical(ascending: FloatArray, tail: float) -> float:
    """The least value that no more than this share of the values reach; inf if there is none."""
    values = np.round(ascending, 9)
    first = np.searchsorted(values, np.unique(values), side="left")
    allowed = first[(len(values) - first) / len(values) <= tail]
    return float(values[allowed[0]]) if len(allowed) else math.inf


def _line(n: int) -> str:
    found = statistics(n, int(min(_MOST, max(_FEWEST, _SQUARES / n**2))))
    # Rounded down, so that what reached a value still does.
    shown = (critical(found, tail) for tail in TAILS)
    values = ", ".join("inf" if math.isinf(x) else f"{math.floor(x * 1000) / 1000}" for x in shown)
    return f"    {n}: ({values}),\n"


def main() -> None:
    """Simulate, and write the module."""
    parser = argparse.ArgumentParser("python -m validation.critical_values", description=__doc__)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        table = "".join(pool.map(_line, LENGTHS))
    tails = f"TAILS: Final = {TAILS}\n\n"
    FILE.write_text(
        f"{_HEAD}{tails}CRITICAL: Final[dict[int, tuple[float, ...]]] = {{\n{table}}}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()

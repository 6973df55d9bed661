"""How long deciding 10,000 rows takes, and how much longer a loop over scipy.stats would.

Run it with `python benchmarks/stats_speed.py`. Both are measured in the same run, the loop on a
sample of the rows. The loop does less: its two tests and its estimate, but no interval.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchgate.stats.mannwhitney import mann_whitney
from benchgate.stats.multiplicity import holm
from benchgate.stats.shift import paired_shift, two_sample_shift
from benchgate.stats.signedrank import signed_rank

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.arrays import FloatArray

ROWS = 10_000
LAUNCHES = 12
SAMPLE = 100
REPEATS = 3
SEED = 1


def decide_pairs(base: FloatArray, head: FloatArray) -> None:
    """Signed rank both ways, estimate, interval, Holm."""
    d = head - base
    result = signed_rank(d)
    holm(result.p_greater)
    holm(result.p_less)
    paired_shift(d, 0.95)


def decide_samples(base: FloatArray, head: FloatArray) -> None:
    """Mann-Whitney both ways, estimate, interval, Holm."""
    result = mann_whitney(base, head)
    holm(result.p_greater)
    holm(result.p_less)
    two_sample_shift(base, head, 0.95)


def loop_pairs(base: FloatArray, head: FloatArray) -> None:
    """The same tests and estimate, row by row with SciPy."""
    i, j = np.triu_indices(LAUNCHES)
    for d in head - base:
        stats.wilcoxon(d, alternative="greater", method="exact")
        stats.wilcoxon(d, alternative="less", method="exact")
        np.median((d[i] + d[j]) / 2)


def loop_samples(base: FloatArray, head: FloatArray) -> None:
    """The same tests and estimate, row by row with SciPy."""
    for x, y in zip(base, head, strict=True):
        stats.mannwhitneyu(x, y, alternative="less", method="exact")
        stats.mannwhitneyu(x, y, alternative="greater", method="exact")
        np.median(y[:, np.newaxis] - x)


def best_s(work: Callable[[], None]) -> float:
    """The shortest of a few executions."""
    times_s = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times_s.append(time.perf_counter() - start)
    return min(times_s)


def main() -> None:
    """Measure and print, one line per case."""
    rng = np.random.default_rng(SEED)
    base = rng.normal(0, 0.02, size=(ROWS, LAUNCHES))
    head = rng.normal(0, 0.02, size=(ROWS, LAUNCHES))
    coarse_base, coarse_head = np.round(base, 2), np.round(head, 2)
    cases = (
        ("signed rank", decide_pairs, loop_pairs, base, head),
        ("Mann-Whitney", decide_samples, loop_samples, base, head),
        ("signed rank, ties in every row", decide_pairs, None, coarse_base, coarse_head),
        ("Mann-Whitney, ties in every row", decide_samples, None, coarse_base, coarse_head),
    )
    print(f"{ROWS:,} rows of {LAUNCHES} v {LAUNCHES}: tests, estimate, interval, Holm")
    for name, ours, theirs, x, y in cases:
        ours_s = best_s(partial(ours, x, y))
        line = f"{name}: {ours_s:.3f} s"
        if theirs is not None:
            loop_s = best_s(partial(theirs, x[:SAMPLE], y[:SAMPLE])) * ROWS / SAMPLE
            line += f"; a loop over scipy.stats {loop_s:.1f} s, x {loop_s / ours_s:.0f}"
        print(line)


if __name__ == "__main__":
    main()

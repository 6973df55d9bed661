"""How long it takes to decide 10,000 rows, and how much longer a loop over scipy.stats would take.

Run it with `python benchmarks/stats_speed.py`. Both are measured in the same run, the loop on a
sample of the rows. The loop does less: two tests and an estimate, but no interval. If values are
tied, neither the normal approximation nor random permutations give the exact p of Mann-Whitney. All
2,704,156 permutations of 12 v 12 would, in about 20 s for each test of a row.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchgate.stats.mann_whitney import mann_whitney, two_sample_shift
from benchgate.stats.multiple_tests import holm
from benchgate.stats.signed_rank import paired_shift, signed_rank

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, TypeAlias

    from benchgate.arrays import FloatArray

    Arms: TypeAlias = tuple[FloatArray, FloatArray]
    Work: TypeAlias = Callable[[FloatArray, FloatArray], None]
    PairMethod: TypeAlias = Literal["exact"] | stats.PermutationMethod
    SampleMethod: TypeAlias = Literal["exact", "asymptotic"] | stats.PermutationMethod

ROWS = 10_000
LAUNCHES = 12
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


def loop_pairs(base: FloatArray, head: FloatArray, method: PairMethod) -> None:
    """The same tests and estimate, row by row with SciPy."""
    i, j = np.triu_indices(LAUNCHES)
    for d in head - base:
        stats.wilcoxon(d, zero_method="pratt", alternative="greater", method=method)
        stats.wilcoxon(d, zero_method="pratt", alternative="less", method=method)
        np.median((d[i] + d[j]) / 2)


def loop_samples(base: FloatArray, head: FloatArray, method: SampleMethod) -> None:
    """The same tests and estimate, row by row with SciPy."""
    for x, y in zip(base, head, strict=True):
        stats.mannwhitneyu(x, y, alternative="less", method=method)
        stats.mannwhitneyu(x, y, alternative="greater", method=method)
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
    """Measure and print: ours, and below it the loops."""
    rng = np.random.default_rng(SEED)
    base, head = rng.normal(0, 0.02, size=(2, ROWS, LAUNCHES))
    fine, ticks = (base, head), (np.round(base / 0.01), np.round(head / 0.01))
    signs = partial(loop_pairs, method=stats.PermutationMethod(n_resamples=2**LAUNCHES))
    deals = partial(loop_samples, method=stats.PermutationMethod(n_resamples=9_999, rng=rng))
    cases: tuple[tuple[str, Work, Arms, dict[str, tuple[Work, int]]], ...] = (
        ("signed rank", decide_pairs, fine, {"exact": (partial(loop_pairs, method="exact"), 100)}),
        (
            "Mann-Whitney",
            decide_samples,
            fine,
            {"exact": (partial(loop_samples, method="exact"), 100)},
        ),
        ("signed rank, ties in every row", decide_pairs, ticks, {"all permutations": (signs, 2)}),
        (
            "Mann-Whitney, ties in every row",
            decide_samples,
            ticks,
            {
                "normal approximation": (partial(loop_samples, method="asymptotic"), 100),
                "9,999 random permutations": (deals, 5),
            },
        ),
    )
    print(f"{ROWS:,} rows of {LAUNCHES} v {LAUNCHES}: tests, estimate, interval, Holm")
    for name, ours, (x, y), loops in cases:
        ours_s = best_s(partial(ours, x, y))
        print(f"{name}: {ours_s:.3f} s")
        for form, (theirs, rows) in loops.items():
            loop_s = best_s(partial(theirs, x[:rows], y[:rows])) * ROWS / rows
            print(f"  a loop over scipy.stats, {form}: {loop_s:.1f} s, x {loop_s / ours_s:.0f}")


if __name__ == "__main__":
    main()

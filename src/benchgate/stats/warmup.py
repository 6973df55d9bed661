"""Where a series of times has settled: little scatter left, and no trend."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_vector
from benchgate.stats.ranksum import rank_sum_ways

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

# Kendall's test rejects one steady window in twenty, which costs one more sample.
_TREND_LEVEL = 0.05
# 2 / n!, the least p of n values, is above that level for fewer.
_LEAST_WINDOW = 5


def settled_index(values: FloatArray, window: int = 10, cv_limit: float = 0.05) -> int | None:
    """The first index from which a window of values is steady.

    Steady means that the window's coefficient of variation (ddof = 1) is below `cv_limit`, and
    that the exact two-sided Mann-Kendall test of a trend in it has p > 0.05. The first alone
    would accept a slow ramp: 1 % per step has a coefficient of variation of 3 % over 10 values.

    Args:
        values: shape (n,), times in the order measured, finite and >= 0.
        window: values in a window, >= 5.
        cv_limit: a fraction, > 0.

    Returns:
        The index, or None when no window in `values` is steady.

    Raises:
        ValueError: on NaN, infinity, negative values, an empty array, another shape, or a
            window or limit out of range.
    """
    require_vector("values", values)
    if values.min() < 0:
        raise ValueError("values must be times, and one is negative")
    if window < _LEAST_WINDOW:
        raise ValueError(f"window must be at least {_LEAST_WINDOW} values, and is {window}")
    if not cv_limit > 0:
        raise ValueError(f"cv_limit must be above 0, and is {cv_limit}")
    if len(values) < window:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(values, window)
    sd = windows.std(axis=1, ddof=1)
    quiet = (sd < cv_limit * windows.mean(axis=1)) | (sd == 0)
    steady = (int(k) for k in np.flatnonzero(quiet) if trend_p(windows[k]) > _TREND_LEVEL)
    return next(steady, None)


def trend_p(values: FloatArray) -> float:
    """Two-sided p of the Mann-Kendall test of a trend, exact with ties.

    The statistic is the number of inversions: pairs in which the later value is the lower one.
    Building a random order up by one group of equal values at a time, the inversions that a
    group adds are a Mann-Whitney U against all values before it, independent of theirs.

    Args:
        values: shape (n,), in the order measured, finite.

    Returns:
        From 0 to 1; 1 when all values are equal.

    Raises:
        ValueError: on NaN, infinity, an empty array or another shape.
    """
    require_vector("values", values)
    first, second = np.triu_indices(len(values), k=1)
    inversions = np.count_nonzero(values[second] < values[first])
    mass = np.ones(1)
    placed = 0
    for group in np.unique(values, return_counts=True)[1].tolist():
        placed += group
        ways = rank_sum_ways(tuple(range(placed)), group)
        mass = np.convolve(mass, ways / math.comb(placed, group))
    one_sided = min(mass[: inversions + 1].sum(), mass[inversions:].sum())
    return float(min(1.0, 2 * one_sided))

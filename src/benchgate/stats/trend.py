"""Where values settle after a warm-up, and whether they have a trend."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats import special
from benchgate.stats.checks import require_vector
from benchgate.stats.midranks import rank_sum_ways

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray

# The trend test rejects one steady window in twenty, which costs one more sample.
_TREND_LEVEL = 0.05
# With fewer values, 2 / n!, the least p of n values, is above that level.
_LEAST_WINDOW = 5
# For more values, the normal approximation is within 0.001 of p.
_EXACT_TREND = 100


def settled_index(values: FloatArray, window: int = 10, cv_limit: float = 0.05) -> int | None:
    """Return the index of the first steady window of values.

    A window is steady if its coefficient of variation (ddof = 1) is below `cv_limit`, and the exact
    two-sided Mann-Kendall test of a trend has p > 0.05. The first condition alone would accept a
    slow ramp: 1 % per step has a coefficient of variation of 3 % over 10 values.

    Args:
        values: shape (n,), times in the order measured, finite and >= 0.
        window: values in a window, >= 5.
        cv_limit: a fraction, > 0.

    Returns:
        The index of the window's first value, or None if no window is steady.
    """
    require_vector("values", values)
    if values.min() < 0:
        raise ValueError("values must be times, and one is negative")
    if window < _LEAST_WINDOW:
        raise ValueError(f"window must be at least {_LEAST_WINDOW} values, and is {window}")
    if not 0 < cv_limit < math.inf:
        raise ValueError(f"cv_limit must be above 0 and finite, and is {cv_limit}")
    if len(values) < window:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(values, window)
    quiet = np.flatnonzero(_are_quiet(windows, cv_limit))
    return next((int(k) for k in quiet if trend_p(windows[k]) > _TREND_LEVEL), None)


def trend_p(values: FloatArray) -> float:
    """Return the two-sided p of the Mann-Kendall test of a trend (Mann, 1945; Kendall, 1975).

    The statistic is the number of inversions: pairs in which the later value is the lower one. Up
    to 100 values, p is exact, even with ties. Beyond, it is the normal approximation, corrected for
    ties and for continuity.

    Args:
        values: shape (n,), in the order measured, finite.

    Returns:
        From 0 to 1; 1 if all values are equal.
    """
    require_vector("values", values)
    n = len(values)
    inversions = sum(int(np.count_nonzero(values[k + 1 :] < values[k])) for k in range(n - 1))
    ties = tuple(sorted(np.unique(values, return_counts=True)[1].tolist()))
    if n > _EXACT_TREND:
        return _asymptotic_trend_p(inversions, n, ties)
    lower, upper = _inversion_tails(ties)
    return float(min(1.0, 2 * min(lower[inversions], upper[inversions])))


def _are_quiet(windows: FloatArray, cv_limit: float) -> BoolArray:
    """Return which rows have a coefficient of variation below the limit, or equal values."""
    # Scaling each window to near 1 keeps its squares from overflowing or vanishing.
    exponents = np.frexp(windows.max(axis=1, keepdims=True))[1]
    scaled = np.ldexp(windows, -exponents)
    sd = scaled.std(axis=1, ddof=1)
    quiet: BoolArray = (sd < cv_limit * scaled.mean(axis=1)) | (sd == 0)
    return quiet


@lru_cache(maxsize=64)
def _inversion_tails(ties: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Return P(I <= i) and P(I >= i) of the inversions I of a random order, given its ties.

    It builds the order up by one group of equal values at a time. The inversions that a group adds
    are a Mann-Whitney U against all values before it, independent of the inversions among these.
    """
    mass = np.ones(1)
    placed = 0
    for group in ties:
        placed += group
        ways = rank_sum_ways(tuple(range(placed)), group)
        mass = np.convolve(mass, ways / math.comb(placed, group))
    lower, upper = np.cumsum(mass), np.cumsum(mass[::-1])[::-1]
    lower.flags.writeable = False
    upper.flags.writeable = False
    return lower, upper


def _asymptotic_trend_p(inversions: int, n: int, ties: tuple[int, ...]) -> float:
    def weigh(k: int) -> int:
        return k * (k - 1) * (2 * k + 5)

    pairs = (n * (n - 1) - sum(k * (k - 1) for k in ties)) / 2
    variance = (weigh(n) - sum(map(weigh, ties))) / 72
    if variance == 0:
        return 1.0
    excess = abs(inversions - pairs / 2) - 0.5
    return float(min(1.0, 2 * special.ndtr(-excess / math.sqrt(variance))))

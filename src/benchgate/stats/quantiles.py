"""Nearest-rank quantiles and their intervals: always values that were measured."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtr, bdtrc

from benchgate.interval import Interval
from benchgate.stats.checks import require_finite, require_fraction, require_vector

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray


def nearest_rank(values: FloatArray, p: float) -> FloatArray:
    """Return the p-quantile along the last axis: the ceil(p * n)-th of n ascending values.

    Args:
        values: shape (..., n), n >= 1, finite.
        p: a fraction from 0 (the minimum) to 1 (the maximum).

    Returns:
        Shape (...), in the unit of `values`. Hyndman and Fan's definition 1 (1996).

    Raises:
        ValueError: on NaN, infinity, an empty or zero-dimensional array, or p outside [0, 1].
    """
    if values.ndim == 0:
        raise ValueError("values must have at least one axis")
    require_finite("values", values)
    k = quantile_rank(values.shape[-1], p) - 1
    quantile: FloatArray = np.partition(values, k, axis=-1)[..., k]
    return quantile


def quantile_interval(values: FloatArray, p: float, confidence: float) -> Interval | None:
    """Return the interval of the p-quantile between two order statistics, for any distribution.

    The number of n independent values at or below the true quantile is binomial (n, p). The ends
    are the closest order statistics that miss the quantile with a chance of at most
    (1 - confidence) / 2 each (Scheffe and Tukey, 1945). The interval covers at least as often as
    it says, also with ties, and includes the nearest-rank quantile.

    Args:
        values: shape (n,), finite.
        p: a fraction, 0 < p < 1.
        confidence: e.g. 0.95.

    Returns:
        None if n is too small for the confidence, so that not even the minimum or the maximum is
        far enough out. At 0.95 the median needs n >= 6, p95 n >= 72, p99 n >= 368.

    Raises:
        ValueError: on NaN, infinity, no value, another shape, or p or confidence out of range.
    """
    require_vector("values", values)
    require_fraction("p", p)
    require_fraction("confidence", confidence)
    n = len(values)
    # A rounding error (1 - 0.9 < 0.1) must not decide whether a level is met.
    level = (1 - confidence) / 2 * (1 + 1e-12)
    below = bisect_right(range(n), level, key=lambda k: float(bdtr(k, n, p)))
    above = n - bisect_left(range(n), -level, key=lambda k: -float(bdtrc(k, n, p)))
    if below == 0 or above == 0:
        return None
    ascending = np.partition(values, [below - 1, n - above])
    low, high = float(ascending[below - 1]), float(ascending[n - above])
    return Interval(low, high, confidence, "order statistics")


def small_sample_note(n: int, p: float) -> str | None:
    """Return a note if n values are too few to tell their p-quantile from the maximum, else None.

    That is n < 20 for p95, n < 100 for p99, n < 1000 for p99.9.
    """
    return "equals the maximum" if quantile_rank(n, p) == n else None


def quantile_rank(n: int, p: float) -> int:
    """Return the position of the p-quantile among n ascending values, counted from 1: ceil(p n).

    Raises:
        ValueError: on p outside [0, 1].
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must be a fraction from 0 to 1, and is {p}")
    # A product such as (99.9 / 100) * 1000 is a rounding error above its true whole number.
    return max(1, math.ceil(p * n * (1 - 1e-12)))

"""Intervals of quantiles, between values that were measured."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import bdtr, bdtrc

from benchgate.interval import Interval
from benchgate.stats.checks import require_fraction, require_vector

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray


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

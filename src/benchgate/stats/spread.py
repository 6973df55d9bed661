"""The spread between launches, robust to a single outlier."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_rows, require_two_arms

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

# The standard deviation of a normal distribution in its median absolute deviations.
MAD_TO_SD = 1.4826


def robust_spread(d: FloatArray) -> FloatArray:
    """Standard deviation as 1.4826 x the median absolute deviation from the median.

    Where that is 0 although values differ (more than half of them are equal) it is the
    ordinary standard deviation, ddof = 1: a spread of 0 would promise too much.

    Args:
        d: shape (m, n), n >= 2, finite.

    Returns:
        Shape (m,), in the unit of `d`; 0 only in rows whose values are all equal.

    Raises:
        ValueError: on NaN, infinity, an empty array, another shape, or n < 2.
    """
    require_rows("d", d)
    require_launches(d.shape[1])
    return _spread(_from_median(d), _from_mean(d), d.shape[1] - 1)


def pooled_robust_spread(x: FloatArray, y: FloatArray) -> FloatArray:
    """The spread within the arms: as `robust_spread`, about each arm's own median.

    Args:
        x: shape (m, n1), n1 >= 2, finite.
        y: shape (m, n2), n2 >= 2, finite.

    Returns:
        Shape (m,), in the unit of the data.

    Raises:
        ValueError: on NaN, infinity, empty arrays, other shapes, or fewer than 2 launches.
    """
    require_two_arms(x, y)
    n1, n2 = x.shape[1], y.shape[1]
    require_launches(min(n1, n2))
    about_median = np.concatenate([_from_median(x), _from_median(y)], axis=1)
    about_mean = np.concatenate([_from_mean(x), _from_mean(y)], axis=1)
    return _spread(about_median, about_mean, n1 + n2 - 2)


def _from_median(values: FloatArray) -> FloatArray:
    residuals: FloatArray = values - np.median(values, axis=1, keepdims=True)
    return residuals


def _from_mean(values: FloatArray) -> FloatArray:
    residuals: FloatArray = values - values.mean(axis=1, keepdims=True)
    return residuals


def _spread(about_median: FloatArray, about_mean: FloatArray, df: int) -> FloatArray:
    robust = MAD_TO_SD * np.median(np.abs(about_median), axis=1)
    differs = (about_median != 0).any(axis=1)
    # hypot forms no squares that could overflow or vanish, whatever the scale of each row.
    sd = np.hypot.reduce(about_mean, axis=1) / math.sqrt(df)
    return np.where((robust == 0) & differs, sd, robust)


def require_launches(n: int) -> None:
    """Raise ValueError unless n launches are enough to know a spread."""
    if n < 2:
        raise ValueError(f"at least 2 launches are needed to know a spread, not {n}")

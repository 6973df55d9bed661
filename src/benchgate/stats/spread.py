"""The spread between launches, robust to a single outlier."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_rows, require_two_arms

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

# Standard deviation / median absolute deviation of a normal distribution.
MAD_TO_SD = 1.4826
# Croux and Rousseeuw (1992): on average, the median deviation of n values is too small by this.
_FEW = {2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}


def robust_spread(d: FloatArray) -> FloatArray:
    """Estimate the standard deviation as b_n x 1.4826 x the median absolute deviation.

    The factor b_n makes the mean over normal samples right, to 1 % (Croux and Rousseeuw, 1992).
    Without it, 5 values show 0.82 of the truth, 12 values 0.93. From n = 10 on it is n / (n - 0.8).

    If the median deviation is 0 although values differ (more than half of them are equal), the
    result is the ordinary standard deviation, ddof = 1. A spread of 0 would be too optimistic.

    Args:
        d: shape (m, n), n >= 2, finite.

    Returns:
        Shape (m,), in the unit of `d`; 0 only in rows whose values are all equal.

    Raises:
        ValueError: on NaN, infinity, an empty array, another shape, or n < 2.
    """
    require_rows("d", d)
    n = d.shape[1]
    require_launches(n)
    about_median = d - np.median(d, axis=1, keepdims=True)
    robust = _unbiased(n) * MAD_TO_SD * np.median(np.abs(about_median), axis=1)
    differs = (about_median != 0).any(axis=1)
    about_mean = d - d.mean(axis=1, keepdims=True)
    # hypot forms no squares that could overflow or vanish, at any scale of a row.
    sd = np.hypot.reduce(about_mean, axis=1) / math.sqrt(n - 1)
    return np.where((robust == 0) & differs, sd, robust)


def pooled_robust_spread(x: FloatArray, y: FloatArray) -> FloatArray:
    """Estimate the spread within the arms: the mean of their `robust_spread`, weighted by n - 1.

    It has as little bias as these. One median deviation over both arms, from their own medians,
    would need other factors, and varies 4 to 20 % more (simulated, normal, n <= 20).

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
    weight = (n1 - 1) / (n1 + n2 - 2)
    pooled: FloatArray = weight * robust_spread(x) + (1 - weight) * robust_spread(y)
    return pooled


def _unbiased(n: int) -> float:
    return _FEW[n] if n in _FEW else n / (n - 0.8)


def require_launches(n: int) -> None:
    """Raise ValueError unless n launches are enough to estimate a spread."""
    if n < 2:
        raise ValueError(f"at least 2 launches are needed to know a spread, not {n}")

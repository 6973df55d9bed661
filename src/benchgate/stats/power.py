"""What so many launches can show, and how many would be enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from scipy.special import stdtrit

from benchgate.stats.checks import (
    require_finite,
    require_fraction,
    require_rows,
    require_two_arms,
)
from benchgate.stats.mannwhitney import least_p_mann_whitney
from benchgate.stats.signedrank import least_p_signed_rank

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray, IntArray

Test: TypeAlias = Literal["wilcoxon", "mann-whitney"]

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
    _require_launches(d.shape[1])
    return _spread(_from_median(d), d.var(axis=1, ddof=1))


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
    _require_launches(min(n1, n2))
    squares = (n1 - 1) * x.var(axis=1, ddof=1) + (n2 - 1) * y.var(axis=1, ddof=1)
    residuals = np.concatenate([_from_median(x), _from_median(y)], axis=1)
    return _spread(residuals, squares / (n1 + n2 - 2))


def detectable_ratio(spread: FloatArray, n: int, alpha: float, power: float = 0.9) -> FloatArray:
    """The smallest ratio that n pairs would find: exp((t(1-alpha) + t(power)) s / sqrt(n)).

    Args:
        spread: shape (m,), of the log ratios, >= 0.
        n: pairs, >= 2; t has n - 1 degrees of freedom.
        alpha: one-sided level of the one row, already divided by the number of rows.
        power: chance to find a change of that ratio.

    Returns:
        Shape (m,), >= 1 where alpha < 1/2.

    Raises:
        ValueError: on NaN, infinity or negative spread, n < 2, alpha or power outside (0, 1).
    """
    _require_launches(n)
    return _detectable(spread, 1 / n, n - 1, alpha, power)


def detectable_ratio_two_sample(
    spread: FloatArray, n1: int, n2: int, alpha: float, power: float = 0.9
) -> FloatArray:
    """The smallest ratio that n1 v n2 launches that share no rounds would find.

    As `detectable_ratio`, with `spread` the standard deviation of log values within an arm, the
    standard error s sqrt(1/n1 + 1/n2) and n1 + n2 - 2 degrees of freedom.

    Raises:
        ValueError: as `detectable_ratio`, for n1 and n2.
    """
    _require_launches(min(n1, n2))
    return _detectable(spread, 1 / n1 + 1 / n2, n1 + n2 - 2, alpha, power)


def launches_needed(
    spread: FloatArray, half_width: FloatArray | float, confidence: float, limit: int
) -> IntArray:
    """The least n whose t interval, t((1 + confidence) / 2, n-1) s / sqrt(n), is narrow enough.

    A rank interval also needs `least_launches((1 - confidence) / 2, ...)` to be finite at all.

    Args:
        spread: shape (m,), >= 0.
        half_width: wanted, in the unit of `spread`; one number or shape (m,).
        confidence: of the two-sided interval.
        limit: the largest n to consider, >= 2.

    Returns:
        Shape (m,), from 2 to `limit`; limit + 1 where not even `limit` is enough, as where
        half_width <= 0.

    Raises:
        ValueError: on NaN, infinity or negative spread, other shapes, a confidence outside
            (0, 1), or limit < 2.
    """
    _require_spread(spread)
    wanted = np.asarray(half_width, dtype=np.float64)
    require_finite("half_width", wanted)
    if wanted.shape not in {(), spread.shape}:
        raise ValueError(f"half_width must be a number or {spread.shape}, and is {wanted.shape}")
    require_fraction("confidence", confidence)
    _require_launches(limit)
    n = np.arange(2, limit + 1)
    per_spread = stdtrit(n - 1, (1 + confidence) / 2) / np.sqrt(n)
    too_wide = spread[:, np.newaxis] * per_spread > wanted[..., np.newaxis]
    needed: IntArray = np.where(wanted > 0, 2 + too_wide.sum(axis=1), limit + 1)
    return needed


def least_launches(alpha: float, test: Test) -> int:
    """The fewest launches per arm with which the one-sided p of `test` can reach alpha.

    Raises:
        ValueError: on an alpha outside (0, 1) or an unknown test.
    """
    require_fraction("alpha", alpha)
    if test not in {"wilcoxon", "mann-whitney"}:
        raise ValueError(f"test must be wilcoxon or mann-whitney, and is {test!r}")
    n = 1
    while _least_p(n, test) > alpha:
        n += 1
    return n


def _least_p(n: int, test: Test) -> float:
    return least_p_signed_rank(n) if test == "wilcoxon" else least_p_mann_whitney(n, n)


def _from_median(values: FloatArray) -> FloatArray:
    residuals: FloatArray = values - np.median(values, axis=1, keepdims=True)
    return residuals


def _spread(residuals: FloatArray, variance: FloatArray) -> FloatArray:
    robust = MAD_TO_SD * np.median(np.abs(residuals), axis=1)
    differs = (residuals != 0).any(axis=1)
    return np.where((robust == 0) & differs, np.sqrt(variance), robust)


def _detectable(
    spread: FloatArray, inverse_n: float, df: int, alpha: float, power: float
) -> FloatArray:
    _require_spread(spread)
    require_fraction("alpha", alpha)
    require_fraction("power", power)
    t = stdtrit(df, 1 - alpha) + stdtrit(df, power)
    ratio: FloatArray = np.exp(t * spread * np.sqrt(inverse_n))
    return ratio


def _require_spread(spread: FloatArray) -> None:
    require_finite("spread", spread)
    if spread.ndim != 1 or spread.min() < 0:
        raise ValueError("spread must have shape (m,) and no negative value")


def _require_launches(n: int) -> None:
    if n < 2:
        raise ValueError(f"at least 2 launches are needed to know a spread, not {n}")

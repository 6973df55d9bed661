"""Bootstrap intervals of one sample of independent values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri

from benchgate.interval import Interval
from benchgate.stats.checks import require_fraction, require_vector
from benchgate.stats.moments import binary_scaled
from benchgate.stats.quantiles import nearest_rank
from benchgate.stats.resampling import RESAMPLES, Pool, blocks, generator

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.arrays import FloatArray

Method: TypeAlias = Literal["percentile", "BCa"]
Statistic: TypeAlias = "Callable[[FloatArray], FloatArray]"


def percentile_interval(replicates: FloatArray, confidence: float) -> tuple[float, float]:
    """Return the k-th least and k-th greatest of b replicates, k = ceil(b (1 - confidence) / 2).

    Args:
        replicates: shape (b,), the statistic of each resample, in any order.
        confidence: of the two-sided interval, e.g. 0.95.

    Returns:
        Low and high, in the unit of the replicates (Efron, 1981).

    Raises:
        ValueError: on NaN, infinity, no value, another shape, or a confidence out of range.
    """
    require_vector("replicates", replicates)
    require_fraction("confidence", confidence)
    tail = (1 - confidence) / 2
    return _between_tails(replicates, tail, tail)


def bca_interval(
    replicates: FloatArray, estimate: float, jackknife: FloatArray, confidence: float
) -> tuple[float, float]:
    """Return the bias-corrected and accelerated (BCa) interval (Efron, 1987).

    The percentile interval takes the quantile of the replicates at ndtr(z). BCa takes the one at
    ndtr(z0 + w / (1 - a w)), w = z0 + z. The bias correction z0 is ndtri(share of replicates below
    the estimate), and replicates equal to it count half. The acceleration a is
    sum d**3 / (6 (sum d**2)**1.5), d = mean(jackknife) - jackknife.

    If all replicates are on one side of the estimate, half a replicate counts as being on the
    other. If the jackknife values are all equal, a is 0. If 1 - a w is not above 0, which happens
    only at an impractical confidence, the end is the outermost replicate.

    Args:
        replicates: shape (b,), the statistic of each resample, in any order.
        estimate: the statistic of the sample.
        jackknife: shape (n,), the statistic of the sample without each of its values in turn.
        confidence: of the two-sided interval, e.g. 0.95.

    Returns:
        Low and high, in the unit of the replicates; the estimate may be outside.

    Raises:
        ValueError: on NaN, infinity, no value, another shape, or a confidence out of range.
    """
    require_vector("replicates", replicates)
    require_vector("jackknife", jackknife)
    require_vector("estimate", np.array([estimate]))
    require_fraction("confidence", confidence)
    b = len(replicates)
    below = np.count_nonzero(replicates < estimate) + np.count_nonzero(replicates == estimate) / 2
    bias = float(ndtri(min(max(below, 0.5), b - 0.5) / b))
    acceleration = _acceleration(jackknife)
    z = float(ndtri((1 - confidence) / 2))
    lower = _adjusted(bias, acceleration, bias + z)
    upper = _adjusted(bias, acceleration, bias - z)
    return _between_tails(replicates, float(ndtr(lower)), float(ndtr(-upper)))


def bootstrap_interval(
    values: FloatArray,
    statistic: Statistic,
    confidence: float,
    *,
    method: Method,
    seed: int,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Return the interval of a statistic from resamples of n values drawn with replacement.

    It assumes independent values of one distribution. With few values, it is too short by either
    method; see `location_interval`. The order of the values does not matter: the statistic gets
    each resample in ascending order.

    Args:
        values: shape (n,), finite.
        statistic: reduces the last axis of an array of shape (k, n) or (k, n - 1) to finite
            values, e.g. `lambda samples: samples.mean(axis=-1)`.
        confidence: e.g. 0.95.
        method: "percentile" (Efron, 1981), or "BCa", which corrects for bias and skewness.
        seed: >= 0; the same seed gives the same interval.
        resamples: how many resamples are drawn.

    Returns:
        In the unit of the statistic; None for n = 1, which shows no spread.

    Raises:
        ValueError: if the values, or what the statistic returns, are not finite or have another
            shape, or if another argument is out of range.
    """
    require_fraction("confidence", confidence)
    if method not in {"percentile", "BCa"}:
        raise ValueError(f"method must be percentile or BCa, and is {method!r}")
    require_vector("values", values)
    ascending = np.sort(values)
    replicates = _replicates(ascending, statistic, seed, resamples)
    if len(values) == 1:
        return None
    if method == "percentile":
        low, high = percentile_interval(replicates, confidence)
    else:
        estimate = float(_reduced(statistic, ascending[np.newaxis])[0])
        jackknife = _jackknife(ascending, statistic)
        low, high = bca_interval(replicates, estimate, jackknife, confidence)
    return Interval(low, high, confidence, f"{method} bootstrap")


def _replicates(
    ascending: FloatArray, statistic: Statistic, seed: int, resamples: int
) -> FloatArray:
    pool = Pool.of("values", [ascending])
    rng = generator(seed)
    replicates = np.empty(resamples)
    for rows in blocks(resamples, len(ascending)):
        only = np.zeros((rows.stop - rows.start, 1), dtype=np.int64)
        draw = pool.draw(only, rng)
        replicates[rows] = _reduced(statistic, draw.values[draw.ranks])
    return replicates


def _jackknife(ascending: FloatArray, statistic: Statistic) -> FloatArray:
    """Return the statistic without each value in turn, shape (n,)."""
    n = len(ascending)
    kept = np.arange(n - 1)
    left_out = np.empty(n)
    for rows in blocks(n, n):
        skipped = np.arange(n)[rows, np.newaxis]
        left_out[rows] = _reduced(statistic, ascending[kept + (kept >= skipped)])
    return left_out


def _reduced(statistic: Statistic, samples: FloatArray) -> FloatArray:
    reduced = statistic(samples)
    if np.shape(reduced) != samples.shape[:1]:
        raise ValueError(
            f"statistic must reduce the last axis, and makes {np.shape(reduced)} of {samples.shape}"
        )
    return reduced


def _acceleration(jackknife: FloatArray) -> float:
    # Subtract first: the mean of equal values may differ from them by a rounding error.
    d, _ = binary_scaled(jackknife - jackknife[0])
    d, _ = binary_scaled(d.mean() - d)
    squares = float((d**2).sum())
    return float((d**3).sum()) / (6 * squares**1.5) if squares else 0.0


def _adjusted(bias: float, acceleration: float, w: float) -> float:
    remaining = 1 - acceleration * w
    return bias + w / remaining if remaining > 0 else math.copysign(math.inf, w)


def _between_tails(replicates: FloatArray, lower: float, upper: float) -> tuple[float, float]:
    """Return the nearest-rank quantiles that leave these shares below and above."""
    return float(nearest_rank(replicates, lower)), -float(nearest_rank(-replicates, upper))

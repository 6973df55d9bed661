"""Quantiles, mean and spread of samples and of launches, with and without outliers.

This only describes a sample. Tests and high percentiles use all values, because they must notice
if a tail grew.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from benchgate.stats.checks import require_finite, require_rows, require_two_arms, require_vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray


_LARGEST_LOG = math.log(sys.float_info.max)


def binary_scaled(values: FloatArray) -> tuple[FloatArray, int]:
    """Divide by 2**exponent, the least power of two above every magnitude.

    The division is exact, except for values that are more than 2**1021 times smaller than the
    greatest. They lose their last bits, as they would in any sum with the greatest.

    Args:
        values: any shape, finite, at least one value.

    Returns:
        The values within (-1, 1), and the exponent: `math.ldexp(scaled, exponent)` undoes it.
    """
    exponent = int(np.frexp(np.abs(values).max())[1])
    return np.ldexp(values, -exponent), exponent


def finite_exp(log: float) -> float:
    """Return exp(log), or the largest float if that is smaller."""
    return math.exp(log) if log < _LARGEST_LOG else sys.float_info.max


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and spread of one sample, in the unit of the data except for `n` and `cv`.

    Attributes:
        n: how many values.
        mean: arithmetic mean, never outside the range of the values.
        sd: standard deviation, ddof = 1, exactly 0 for equal values; None for n = 1.
        sem: standard error of the mean, sd / sqrt(n), right for independent values; None for
            n = 1.
        cv: coefficient of variation, sd / mean, a fraction; None for n = 1, and if the mean is 0
            or too close to 0 for a finite ratio.
        notes: why a value is None.
    """

    n: int
    mean: float
    sd: float | None
    sem: float | None
    cv: float | None
    notes: tuple[str, ...]


def moments(values: FloatArray) -> Moments:
    """Compute mean, standard deviation, standard error and coefficient of variation.

    Args:
        values: shape (n,), finite.
    """
    require_vector("values", values)
    scaled, exponent = binary_scaled(values)
    n, center = len(values), _mean(scaled)
    mean = math.ldexp(center, exponent)
    if n == 1:
        return Moments(n, mean, None, None, None, ("one value: no spread; take at least 2",))
    sd = math.sqrt(np.square(deviations(scaled)).sum() / (n - 1))
    cv = sd / center if mean else math.inf
    return Moments(
        n=n,
        mean=mean,
        sd=math.ldexp(sd, exponent),
        sem=math.ldexp(sd / math.sqrt(n), exponent),
        cv=cv if math.isfinite(cv) else None,
        notes=() if math.isfinite(cv) else ("a mean of 0: no coefficient of variation",),
    )


def deviations(values: FloatArray) -> FloatArray:
    """Subtract the mean, so that equal values give exactly 0.

    A second pass removes the rounding error of the mean, which matters if values differ only in
    their last digits (Chan, Golub and LeVeque, 1983).

    Args:
        values: shape (n,), finite, n >= 1, of magnitudes that need no scaling.

    Returns:
        Shape (n,), in the unit of `values`.
    """
    rough = values - _mean(values)
    centered: FloatArray = rough - rough.mean()
    return centered


def _mean(values: FloatArray) -> float:
    # A rounding error must not move the mean of nearly equal values out of their range.
    return float(np.clip(values.mean(), values.min(), values.max()))


# Standard deviation / median absolute deviation of a normal distribution.
MAD_TO_SD = 1.4826
# Croux and Rousseeuw (1992): on average, the median deviation of n values is too small by this.
_FEW = {2: 1.196, 3: 1.495, 4: 1.363, 5: 1.206, 6: 1.200, 7: 1.140, 8: 1.129, 9: 1.107}


@dataclass(frozen=True, slots=True)
class Components:
    """The spread of one benchmark's samples, split by launch, in the unit of the data.

    Attributes:
        launches: number of launches.
        samples: number of samples in all launches.
        between_sd: standard deviation of the launches' true means, >= 0; None for one launch, and
            if no launch has two samples.
        within_sd: standard deviation of samples around the mean of their launch; None if no
            launch has two samples.
        intraclass_correlation: between**2 / (between**2 + within**2), from 0 to 1: how much two
            samples of one launch resemble each other; None like `between_sd`, and if both are 0.
        pooled_sem: s / sqrt(samples) of all samples, as if they were independent: too small if
            launches differ; None for one sample.
        launch_sem: s / sqrt(launches) of the launches' means, because the launch is what was
            repeated; None for one launch.
        notes: why a value is None, or was set to 0.
    """

    launches: int
    samples: int
    between_sd: float | None
    within_sd: float | None
    intraclass_correlation: float | None
    pooled_sem: float | None
    launch_sem: float | None
    notes: tuple[str, ...]


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
    """
    require_two_arms(x, y)
    n1, n2 = x.shape[1], y.shape[1]
    require_launches(min(n1, n2))
    weight = (n1 - 1) / (n1 + n2 - 2)
    pooled: FloatArray = weight * robust_spread(x) + (1 - weight) * robust_spread(y)
    return pooled


def require_launches(n: int) -> None:
    """Raise ValueError unless n launches are enough to estimate a spread."""
    if n < 2:
        raise ValueError(f"at least 2 launches are needed to know a spread, not {n}")


def variance_components(launches: Sequence[FloatArray]) -> Components:
    """Split the variance by one-way analysis of variance with random launches.

    For k launches of n_i samples, N in all: within**2 = MSW, between**2 = (MSB - MSW) / n0,
    n0 = (N - sum n_i**2 / N) / (k - 1) (Searle, 1971). Their ratio is the ANOVA estimate of the
    intraclass correlation (Donner, 1986). A negative between**2 is set to 0.

    Args:
        launches: of shapes (n_1,), (n_2,), ..., each n_i >= 1, finite.
    """
    if not launches:
        raise ValueError("launches is empty: at least 1 is needed")
    for k, launch in enumerate(launches):
        require_vector(f"launches[{k}]", launch)
    scaled, exponent = binary_scaled(np.concatenate(launches))
    starts = np.cumsum([len(launch) for launch in launches])[:-1]
    each = [moments(launch) for launch in np.split(scaled, starts)]
    pooled = moments(scaled)
    within = _within(each)
    between = _between(each, pooled, within)
    return Components(
        launches=len(each),
        samples=pooled.n,
        between_sd=_unscaled(None if between is None else math.sqrt(max(0.0, between)), exponent),
        within_sd=_unscaled(None if within is None else math.sqrt(within), exponent),
        intraclass_correlation=_correlation(between, within),
        pooled_sem=_unscaled(pooled.sem, exponent),
        launch_sem=_unscaled(moments(_means(each)).sem, exponent),
        notes=_notes(len(each), between, within),
    )


def _unbiased(n: int) -> float:
    return _FEW[n] if n in _FEW else n / (n - 0.8)


def _within(each: list[Moments]) -> float | None:
    """Return the mean square within launches; None if no launch has two samples."""
    freedom = sum(one.n - 1 for one in each)
    squares = sum((one.n - 1) * one.sd**2 for one in each if one.sd is not None)
    return squares / freedom if freedom else None


def _between(each: list[Moments], pooled: Moments, within: float | None) -> float | None:
    """Return the variance between launches; negative if launches are too similar."""
    freedom = len(each) - 1
    if freedom == 0 or within is None:
        return None
    sizes = np.array([one.n for one in each])
    mean_square = (sizes * np.square(_means(each) - pooled.mean)).sum() / freedom
    n0 = (pooled.n - np.square(sizes).sum() / pooled.n) / freedom
    return float((mean_square - within) / n0)


def _correlation(between: float | None, within: float | None) -> float | None:
    if between is None or within is None or between == within == 0:
        return None
    return max(0.0, between) / (max(0.0, between) + within)


def _means(each: list[Moments]) -> FloatArray:
    return np.array([one.mean for one in each])


def _notes(launches: int, between: float | None, within: float | None) -> tuple[str, ...]:
    notes = []
    if launches == 1:
        notes.append("one launch: no spread between launches; take at least 2")
    if within is None:
        notes.append("one sample per launch: no spread within launches; take at least 2")
    if between is not None and between < 0:
        notes.append("launches differ no more than their samples: spread between them set to 0")
    if between == within == 0:
        notes.append("all values are equal: no intraclass correlation")
    return tuple(notes)


def _unscaled(value: float | None, exponent: int) -> float | None:
    return None if value is None else math.ldexp(value, exponent)


def nearest_rank(values: FloatArray, p: float) -> FloatArray:
    """Return the p-quantile along the last axis: the ceil(p * n)-th of n ascending values.

    Args:
        values: shape (..., n), n >= 1, finite.
        p: a fraction from 0 (the minimum) to 1 (the maximum).

    Returns:
        Shape (...), in the unit of `values`. Hyndman and Fan's definition 1 (1996).
    """
    if values.ndim == 0:
        raise ValueError("values must have at least one axis")
    require_finite("values", values)
    k = quantile_rank(values.shape[-1], p) - 1
    quantile: FloatArray = np.partition(values, k, axis=-1)[..., k]
    return quantile


def small_sample_note(n: int, p: float) -> str | None:
    """Return a note if n values are too few to tell their p-quantile from the maximum, else None.

    That is n < 20 for p95, n < 100 for p99, n < 1000 for p99.9.
    """
    return "equals the maximum" if quantile_rank(n, p) == n else None


def quantile_rank(n: int, p: float) -> int:
    """Return the position of the p-quantile among n ascending values, counted from 1: ceil(p n)."""
    if not 0 <= p <= 1:
        raise ValueError(f"p must be a fraction from 0 to 1, and is {p}")
    # A product such as (99.9 / 100) * 1000 is a rounding error above its true whole number.
    return max(1, math.ceil(p * n * (1 - 1e-12)))


OutlierMode: TypeAlias = Literal["none", "top5", "both5", "iqr", "mad"]
OUTLIER_MODES: tuple[OutlierMode, ...] = get_args(OutlierMode)

# How far out a fence is: in interquartile ranges from a quartile (Tukey, 1977),
_QUARTILE_RANGES = 1.5
# and in standard deviations from the median.
_DEVIATIONS = 3


@dataclass(frozen=True, slots=True, eq=False)
class TrimmedSample:
    """What a rule kept of one sample of n values.

    Attributes:
        mode: the rule.
        kept: shape (h,), 1 <= h <= n, in the order measured, in the unit of the data.
        dropped_low, dropped_high: how many values were dropped at each end.
        low_fence, high_fence: values outside were dropped, in the unit of the data; None if the
            rule has no fences.
        notes: how this sample forced the rule to deviate from its definition.
    """

    mode: OutlierMode
    kept: FloatArray
    dropped_low: int
    dropped_high: int
    low_fence: float | None
    high_fence: float | None
    notes: tuple[str, ...]


def trim(values: FloatArray, mode: OutlierMode) -> TrimmedSample:
    """Drop the outliers of a sample, but always keep at least one value.

    Args:
        values: shape (n,), in the order measured, finite.
        mode: one of these rules:
            "none" keeps all values.
            "top5" drops the ceil(n / 20) highest.
            "both5" drops the floor(n / 20) lowest and as many highest; among equal values, the
            earliest at the low end and the latest at the high end.
            "iqr" drops values more than 1.5 interquartile ranges outside the quartiles (nearest
            rank).
            "mad" drops values more than 3 x 1.4826 median absolute deviations from the median.
            If more than half of the values are equal, that deviation is 0 and would drop all
            others. Then the limit is 3 standard deviations, and a note says so.
    """
    require_vector("values", values)
    n = len(values)
    match mode:
        case "none":
            return _by_count(values, mode, 0, 0)
        case "top5":
            return _by_count(values, mode, 0, math.ceil(n / 20))
        case "both5":
            return _by_count(values, mode, n // 20, n // 20)
        case "iqr" | "mad":
            return _by_fences(values, mode)
        case _:
            raise ValueError(f"mode must be one of {', '.join(OUTLIER_MODES)}, and is {mode!r}")


def winsorized_sem(trimmed: TrimmedSample) -> float | None:
    """Return the standard error of a trimmed mean: s_w sqrt(n) / h (Tukey and McLaughlin, 1963).

    s_w is the standard deviation, ddof = 1, of all n values after each dropped value was replaced
    by the nearest kept one. h is the number of kept values. If none was dropped, the result is the
    plain s / sqrt(n).

    Returns:
        In the unit of the data; None if one value is kept, which shows no spread.
    """
    kept = trimmed.kept
    lows = np.full(trimmed.dropped_low, kept.min())
    highs = np.full(trimmed.dropped_high, kept.max())
    winsorized = moments(np.concatenate([lows, kept, highs]))
    if winsorized.sem is None or len(kept) == 1:
        return None
    return winsorized.sem * (winsorized.n / len(kept))


def _by_count(values: FloatArray, mode: OutlierMode, low: int, high: int) -> TrimmedSample:
    n = len(values)
    notes: tuple[str, ...] = ()
    if high == n:
        high, notes = 0, ("one value: it is always kept",)
    if mode == "both5" and high == 0:
        notes = ("fewer than 20 values: 5 % per end is less than one, and none is dropped",)
    kept = np.sort(np.argsort(values, kind="stable")[low : n - high])
    return TrimmedSample(mode, values[kept], low, high, None, None, notes)


def _by_fences(values: FloatArray, mode: Literal["iqr", "mad"]) -> TrimmedSample:
    scaled, exponent = binary_scaled(values)
    low, high, notes = _quartile_fences(scaled) if mode == "iqr" else _median_fences(scaled)
    below, above = scaled < low, scaled > high
    return TrimmedSample(
        mode=mode,
        kept=values[~(below | above)],
        dropped_low=int(np.count_nonzero(below)),
        dropped_high=int(np.count_nonzero(above)),
        low_fence=math.ldexp(low, exponent),
        high_fence=math.ldexp(high, exponent),
        notes=notes,
    )


def _quartile_fences(values: FloatArray) -> tuple[float, float, tuple[str, ...]]:
    first, third = float(nearest_rank(values, 0.25)), float(nearest_rank(values, 0.75))
    reach = _QUARTILE_RANGES * (third - first)
    note = "the quartiles are equal: every other value counts as an outlier; mad is milder"
    degenerate = first == third and np.ptp(values) > 0
    return first - reach, third + reach, (note,) if degenerate else ()


def _median_fences(values: FloatArray) -> tuple[float, float, tuple[str, ...]]:
    median = float(np.median(values))
    spread = MAD_TO_SD * float(np.median(np.abs(values - median)))
    notes: tuple[str, ...] = ()
    if spread == 0 and np.ptp(values) > 0:
        spread = moments(values).sd or 0.0
        notes = ("more than half of the values are equal: MAD is 0, and sd takes its place",)
    return median - _DEVIATIONS * spread, median + _DEVIATIONS * spread, notes

"""Drops the outliers of one sample, and computes a standard error that takes this into account.

This only describes a sample. Tests and high percentiles use all values, because they must notice
if a tail grew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from benchgate.stats.checks import require_vector
from benchgate.stats.moments import binary_scaled, moments
from benchgate.stats.quantiles import nearest_rank
from benchgate.stats.spread import MAD_TO_SD

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

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

    Raises:
        ValueError: on NaN, infinity, an empty array, another shape or an unknown mode.
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

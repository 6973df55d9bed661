"""Estimates the change of each row, its interval, and the smallest detectable change.

Log ratios are > 0 if the head is worse, whatever the metric's direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.batches import by_length, by_lengths
from benchgate.stats.differences import (
    detectable_ratio,
    detectable_ratio_two_sample,
    launches_needed,
    least_launches,
)
from benchgate.stats.rank_tests import paired_shift, two_sample_shift
from benchgate.stats.spread import pooled_robust_spread, robust_spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.stats.rank_tests import Shift

MOST_ROUNDS_FORETOLD = 1000
# Two launches show hardly anything: a detectable change of 10 ** 50 would be useless.
MOST_DETECTABLE_RATIO = 100.0
_LEAST_LAUNCHES = 2
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Estimate:
    """A log ratio with its interval, which is infinite if there are too few launches.

    Attributes:
        detectable: the smallest ratio that could have been detected; None for fewer than 2
            launches, and if it is above 100.
        needed: total rounds that would settle it; None if that cannot be predicted.
    """

    value: float
    low: float
    high: float
    detectable: float | None = None
    needed: int | None = None

    def reaches(self, margin: float, sign: int) -> bool:
        """Whether the estimate lies at the margin or beyond it, on the side of `sign`."""
        return reaches(self.value, margin, sign)

    def inside(self, margin: float) -> bool:
        """Whether the whole interval lies inside the margin, on both sides."""
        limit = np.log1p(margin)
        return bool(-limit < self.low and self.high < limit)


def reaches(log_ratio: float, margin: float, sign: int) -> bool:
    """Whether a log ratio lies at the margin or beyond it, on the side of `sign`."""
    return bool(sign * log_ratio >= np.log1p(margin) - _ROUNDING)


def paired_estimates(
    ratios: Sequence[FloatArray], margins: Sequence[float], *, confidence: float, level: float
) -> list[Estimate | None]:
    """Estimate rows of paired log ratios; None for a row without any.

    Args:
        level: one-sided level of one row's test, for the detectable change.
    """
    estimates: list[Estimate | None] = [None] * len(ratios)
    for indices, d in by_length(ratios):
        n = d.shape[1]
        shift = paired_shift(d, confidence)
        detectable: Sequence[float | None] = [None] * len(indices)
        needed: Sequence[int | None] = [None] * len(indices)
        if n >= _LEAST_LAUNCHES:
            spread = robust_spread(d)
            detectable = _detectable(detectable_ratio, spread, n, level)
            limits = np.log1p(np.array([margins[i] for i in indices]))
            needed = _needed(spread, np.abs(np.abs(shift.estimate) - limits), confidence)
        _fill(estimates, indices, shift, detectable, needed)
    return estimates


def stored_estimates(
    base: Sequence[FloatArray], head: Sequence[FloatArray], *, confidence: float, level: float
) -> list[Estimate | None]:
    """Estimate rows whose launches share no rounds, from the log values of both arms."""
    estimates: list[Estimate | None] = [None] * len(base)
    for indices, x, y in by_lengths(base, head):
        n1, n2 = x.shape[1], y.shape[1]
        detectable: Sequence[float | None] = [None] * len(indices)
        if min(n1, n2) >= _LEAST_LAUNCHES:
            spread = pooled_robust_spread(x, y)
            detectable = _detectable(detectable_ratio_two_sample, spread, n1, n2, level)
        shift = two_sample_shift(x, y, confidence)
        _fill(estimates, indices, shift, detectable, [None] * len(indices))
    return estimates


def _detectable(
    ratio_of: Callable[..., FloatArray], spread: FloatArray, *counts_and_level: float
) -> list[float | None]:
    ratios = ratio_of(spread, *counts_and_level).tolist()
    return [ratio if ratio <= MOST_DETECTABLE_RATIO else None for ratio in ratios]


def _needed(spread: FloatArray, half_width: FloatArray, confidence: float) -> list[int | None]:
    """Rounds after which an interval of this spread lies outside or inside of the margin."""
    counts = launches_needed(spread, half_width, confidence, MOST_ROUNDS_FORETOLD)
    # This follows from Student's t; with fewer rounds the rank interval is infinite.
    least = least_launches((1 - confidence) / 2, "wilcoxon")
    return [max(n, least) if n <= MOST_ROUNDS_FORETOLD else None for n in counts.tolist()]


def _fill(
    estimates: list[Estimate | None],
    indices: Sequence[int],
    shift: Shift,
    detectable: Sequence[float | None],
    needed: Sequence[int | None],
) -> None:
    columns = (shift.estimate.tolist(), shift.low.tolist(), shift.high.tolist())
    for index, *values in zip(indices, *columns, detectable, needed, strict=True):
        estimates[index] = Estimate(*values)

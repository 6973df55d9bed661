"""Error rates of operations under load: exact while nothing fails, and random once something does.

An error rate that is the same in both arms still differs from launch to launch, and the errors of a
launch are not independent of each other. So the launches are compared, not the operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.gate.exact import ExactChange
from benchgate.model.outcome import Outcome
from benchgate.stats.mannwhitney import mann_whitney
from benchgate.stats.power import least_launches
from benchgate.units import counted, format_percent

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

ALPHA_SHARE: Final = 0.1
"""What the error rates of all steps may spend of alpha, beside the rows that are timed."""

_ROUNDING = 1e-12


def compare_error_rates(
    base: FloatArray, head: FloatArray, tolerance: float, level: float
) -> ExactChange:
    """Compare error rates: a change counts if chance is an unlikely explanation.

    That is the exact test of Mann and Whitney. If one arm has errors in every launch, and the other
    has none at all, 4 ** -n bounds the probability for n launches of each, because q (1 - q) <= 1/4
    if a launch has an error with probability q.

    Args:
        base, head: the rate of each launch, shape (n1,) and (n2,), n1, n2 >= 1.
        tolerance: as a fraction of the base.
        level: one-sided level of this row.

    Returns:
        Unchanged if both arms have the same rates, or medians within the tolerance and no change is
        shown; a change if the test shows it beyond the tolerance; otherwise inconclusive.
    """
    before, after = float(np.median(base)), float(np.median(head))
    ratio = after / before if before else None
    is_beyond = abs(after - before) > tolerance * before * (1 + _ROUNDING)
    more, less = _p_values(base, head)
    if is_beyond and min(more, less) <= level:
        outcome = Outcome.REGRESSED if more < less else Outcome.IMPROVED
        return ExactChange(outcome, before, after, ratio)
    is_same = np.array_equal(np.unique(base), np.unique(head)) and len(np.unique(base)) == 1
    if is_same or (tolerance > 0 and before > 0 and not is_beyond):
        return ExactChange(Outcome.UNCHANGED, before, after, ratio)
    return ExactChange(Outcome.INCONCLUSIVE, before, after, ratio, (_why_open(base, head, level),))


def _p_values(base: FloatArray, head: FloatArray) -> tuple[float, float]:
    """One-sided p-values for more and for fewer errors in the head."""
    found = mann_whitney(base[np.newaxis], head[np.newaxis])
    more, less = float(found.p_greater[0]), float(found.p_less[0])
    apart = 4.0 ** -min(len(base), len(head))
    if not base.any() and head.all():
        more = min(more, apart)
    if base.all() and not head.any():
        less = min(less, apart)
    return more, less


def _why_open(base: FloatArray, head: FloatArray, level: float) -> str:
    needed, had = least_launches(level, "mann-whitney"), min(len(base), len(head))
    rates = f"{_span(base)} in the base, {_span(head)} in the head"
    if had < needed:
        return f"{rates}; {counted(had, 'launch')} of each side: a change needs up to {needed}"
    return f"{rates}: the difference may be chance"


def _span(rates: FloatArray) -> str:
    low, high = format_percent(float(rates.min())), format_percent(float(rates.max()))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"

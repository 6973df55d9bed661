"""Exact metrics (instructions, allocations, sizes): every change beyond the tolerance counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.model.policy import Outcome
from benchgate.model.run import Better
from benchgate.units import counted, format_change

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.model.run import Series

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class ExactChange:
    """Two exact values compared.

    Attributes:
        base, head: values in the metric's unit; the median if an arm has several values.
        ratio: head / base, the median of those of the rounds; None from 0.
    """

    outcome: Outcome
    base: float
    head: float
    ratio: float | None
    notes: tuple[str, ...] = ()


def values_of_rounds(base: Series, head: Series) -> tuple[FloatArray, FloatArray]:
    """Return the medians of each arm's launches in the common rounds, each of shape (rounds,)."""
    common = {x.round for x in base.launches} & {x.round for x in head.launches}
    before, after = (
        np.array([np.median(x.samples) for x in series.launches if x.round in common], np.float64)
        for series in (base, head)
    )
    return before, after


def compare_rounds(
    base: FloatArray,
    head: FloatArray,
    tolerance: float,
    better: Better,
    *,
    least_rounds: int = 1,
) -> ExactChange:
    """Compare launches that were measured in turn, round by round, without a test.

    Influences of the round, such as the hash seed on instructions, are the same in both arms. The
    median of the ratios counts. It is a change if every round is beyond the tolerance and the
    rounds differ by less than the change. Otherwise the metric is not exact after all: the change
    may be chance, and the result is inconclusive.

    Args:
        base, head: shape (n,), n >= 1, the same index is the same round; the base > 0.
        tolerance: as a fraction of the base.
        better: the direction of the metric.
        least_rounds: with fewer rounds a change is inconclusive, because they cannot show how
            exact the metric is.
    """
    ratios = head / base
    ratio = float(np.median(ratios))
    before, after = float(np.median(base)), float(np.median(head))
    limit = tolerance * (1 + _ROUNDING)
    if abs(ratio - 1) <= limit:
        return ExactChange(Outcome.UNCHANGED, before, after, ratio)
    if len(ratios) < least_rounds:
        note = f"{counted(len(ratios), 'round')}: a change needs {least_rounds} that agree"
        return ExactChange(Outcome.INCONCLUSIVE, before, after, ratio, (note,))
    least, most = float(ratios.min()), float(ratios.max())
    agree = most < 1 - limit or least > 1 + limit
    if not agree or most - least > abs(ratio - 1):
        spans = f"from {format_change(least)} in one round to {format_change(most)} in another"
        return _open(before, after, ratio, spans)
    return ExactChange(_direction(ratio > 1, better), before, after, ratio)


def compare_exact(
    base: FloatArray, head: FloatArray, tolerance: float, better: Better
) -> ExactChange:
    """Compare without a test: every difference beyond the tolerance is a change, even 0 -> n.

    If a metric that should be exact varies within an arm and the arms overlap, the change may be
    chance, and the result is inconclusive.

    Args:
        base, head: all values of the arm, shape (n,), n >= 1.
        tolerance: as a fraction of the base.
        better: the direction of the metric.
    """
    before, after = float(np.median(base)), float(np.median(head))
    ratio = after / before if before else None
    if abs(after - before) <= tolerance * abs(before) * (1 + _ROUNDING):
        return ExactChange(Outcome.UNCHANGED, before, after, ratio)
    if head.min() <= base.max() and base.min() <= head.max():
        spans = " and ".join(
            f"from {values.min():g} to {values.max():g} in the {arm}"
            for arm, values in (("base", base), ("head", head))
        )
        return _open(before, after, ratio, spans)
    notes = () if before else (f"from {before:g} to {after:g}",)
    return ExactChange(_direction(after > before, better), before, after, ratio, notes)


def _open(before: float, after: float, ratio: float | None, spans: str) -> ExactChange:
    note = f"not exact: varies {spans}; set a tolerance to allow this"
    return ExactChange(Outcome.INCONCLUSIVE, before, after, ratio, (note,))


def _direction(is_more: bool, better: Better) -> Outcome:  # noqa: FBT001 - a comparison's result
    return Outcome.REGRESSED if is_more is (better is Better.LOWER) else Outcome.IMPROVED

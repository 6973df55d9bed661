"""Exact metrics (instructions, allocations, sizes, counts): every change beyond the tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.model.result import Better
from benchgate.model.verdict import Outcome

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class ExactChange:
    """Two exact values compared.

    Attributes:
        base, head: in the metric's unit, the median where an arm has several values.
        ratio: head / base; None from 0.
    """

    outcome: Outcome
    base: float
    head: float
    ratio: float | None
    notes: tuple[str, ...] = ()


def compare_exact(
    base: FloatArray, head: FloatArray, tolerance: float, better: Better
) -> ExactChange:
    """Compare without a test: a change by more than the tolerance is a change, 0 -> n included.

    Where a metric that should be exact varies within an arm and the arms overlap, the change
    may be chance, and is inconclusive.

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
        note = f"not exact: varies {spans}; a tolerance would allow for it"
        return ExactChange(Outcome.INCONCLUSIVE, before, after, ratio, (note,))
    worse = (after > before) is (better is Better.LOWER)
    notes = () if before else (f"from {before:g} to {after:g}",)
    outcome = Outcome.REGRESSED if worse else Outcome.IMPROVED
    return ExactChange(outcome, before, after, ratio, notes)

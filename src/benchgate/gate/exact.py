"""Exact metrics and error rates, which need no test: every change beyond the tolerance counts.

An error rate that is the same in both arms still differs from launch to launch, and the errors of a
launch are not independent of each other. So the launches are compared, not the operations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.model.metrics import ERROR_RATIO, Better
from benchgate.model.policy import Outcome
from benchgate.stats.detectable import least_launches
from benchgate.stats.mann_whitney import mann_whitney
from benchgate.units import counted, format_change, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.arrays import FloatArray
    from benchgate.model.row import Row
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


ALPHA_SHARE: Final = 0.1
"""What the error rates of all steps may spend of alpha, beside the rows that are timed."""

MOSTLY: Final = 0.5
"""From this share on, it is the errors that are measured."""


def compare_error_rates(
    base: FloatArray, head: FloatArray, tolerance: float, level: float
) -> ExactChange:
    """Compare error rates: a change counts if chance is an unlikely explanation.

    That is the exact test of Mann and Whitney. If one arm has errors in every launch, and the other
    has none at all, 4 ** -n bounds the probability for n launches of each, because q (1 - q) <= 1/4
    if a launch has an error with probability q. If every operation of one arm fails, and the
    other arm has launches that work, one launch is enough.

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
    if base.max() < 1 == head.min() or head.max() < 1 == base.min():
        more, less = (0.0, 1.0) if after == 1 else (1.0, 0.0)
    if is_beyond and min(more, less) <= level:
        outcome = Outcome.REGRESSED if more < less else Outcome.IMPROVED
        return ExactChange(outcome, before, after, ratio)
    is_same = np.array_equal(np.unique(base), np.unique(head)) and len(np.unique(base)) == 1
    if is_same or (tolerance > 0 and before > 0 and not is_beyond):
        return ExactChange(Outcome.UNCHANGED, before, after, ratio)
    return ExactChange(Outcome.INCONCLUSIVE, before, after, ratio, (_why_open(base, head, level),))


def without_failed_requests(rows: Iterable[Row]) -> Iterator[Row]:
    """Claim nothing about times that are those of requests that failed.

    An improvement is not shown if more requests fail, nor a regression if most of the base's did.
    If most requests of both arms fail, only a regression is shown.
    """
    rows = list(rows)
    rates = {row.benchmark: row for row in rows if row.metric == ERROR_RATIO.name}
    for row in rows:
        rate = rates.get(row.benchmark)
        why = _failed_requests(row, rate) if rate and row is not rate else None
        yield replace(row, outcome=Outcome.NOT_TESTED, notes=(why, *row.notes)) if why else row


def _failed_requests(row: Row, rate: Row) -> str | None:
    if rate.base is None or rate.head is None:
        return None
    shown = f"{format_percent(rate.base)} of the base's requests fail, and"
    shown += f" {format_percent(rate.head)} of the head's"
    is_good = row.outcome in {Outcome.IMPROVED, Outcome.UNCHANGED}
    if is_good and min(rate.base, rate.head) > MOSTLY:
        return f"times of failed requests show nothing: {shown}"
    if rate.outcome is Outcome.UNCHANGED:
        return None
    if row.outcome is Outcome.IMPROVED and rate.head > rate.base:
        return f"no improvement: {shown}"
    if row.outcome is Outcome.REGRESSED and rate.base > max(MOSTLY, rate.head):
        return f"not compared with the times of failed requests: {shown}"
    return None


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

"""Makes the rows of exact metrics: counts and sizes, and error rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.error_rates import compare_error_rates
from benchgate.gate.exact import compare_exact, compare_rounds, values_of_rounds
from benchgate.gate.rows import about, notes_of, sides
from benchgate.model.run import ERROR_RATIO, INSTRUCTIONS, LEAST_COUNTED_ROUNDS
from benchgate.model.verdict import VALUE, Row

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.gate.evidence import Pair
    from benchgate.gate.exact import ExactChange
    from benchgate.model.run import Series


def exact_row(
    pair: Pair, base: Series, head: Series, tolerance: float, *, paired: bool, level: float
) -> Row:
    """Make the row of an exact metric. Only an error rate, which varies by chance, is tested.

    Args:
        tolerance: as a fraction of the base.
        level: one-sided level of the test of an error rate.
    """
    metric = head.metric
    before, after, change = _compare(base, head, tolerance, paired=paired, level=level)
    return Row(
        benchmark=pair.id,
        outcome=change.outcome,
        metric=metric.name,
        statistic=VALUE if metric == ERROR_RATIO else "exact",
        unit=metric.unit,
        better=metric.better,
        ratio=change.ratio,
        margin=tolerance,
        launches=(before, after),
        test="exact",
        notes=(*change.notes, *head.notes, *notes_of(pair, metric.name)),
        **sides(change.base, change.head, change.ratio),
        **about(pair, paired=paired),
    )


def _compare(
    base: Series, head: Series, tolerance: float, *, paired: bool, level: float
) -> tuple[int, int, ExactChange]:
    """The launches of each arm that count, and what they show."""
    metric = head.metric
    before, after = values_of_rounds(base, head) if paired else (np.empty(0), np.empty(0))
    is_rate = metric == ERROR_RATIO
    if len(before) > 0 and before.min() > 0 and not is_rate:
        least = LEAST_COUNTED_ROUNDS if metric.name == INSTRUCTIONS.name else 1
        change = compare_rounds(before, after, tolerance, metric.better, least_rounds=least)
        return len(before), len(after), change
    before, after = _all_values(base), _all_values(head)
    launches = len(base.launches), len(head.launches)
    if is_rate:
        return *launches, compare_error_rates(before, after, tolerance, level)
    return *launches, compare_exact(before, after, tolerance, metric.better)


def _all_values(series: Series) -> FloatArray:
    return np.concatenate([launch.samples for launch in series.launches])

"""Makes the rows of metrics that are only shown, and of those that were not measured.

They are screened and confirmed like all rows. If they show no change, they are not settled, which
the plan expects: they are no reason to measure longer or to doubt a pass.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.evidence import SUMMARY, series_of
from benchgate.gate.rows import (
    EXACT_SPREAD,
    Terms,
    about,
    incomparable_row,
    notes_of,
    sides,
    varies,
)
from benchgate.gate.under_load import (
    deciding_under_load,
    has_error_ratio,
    is_step,
)
from benchgate.model.metrics import (
    COUNTERS,
    ERROR_RATIO,
    INSTRUCTIONS,
    MEASURED,
    THROUGHPUT,
    TIME,
    Kind,
)
from benchgate.model.policy import Outcome
from benchgate.model.row import VALUE, Row
from benchgate.model.run import Tier
from benchgate.units import RATE_UNIT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from benchgate.gate.evidence import Pair
    from benchgate.model.run import BenchmarkResult, Series

ONLY_SHOWN = "only shown, because `metrics` in the configuration does not name "


def deciding(
    names: Collection[str], base: BenchmarkResult, head: BenchmarkResult
) -> tuple[str, ...]:
    """Choose the metrics that decide: those that the configuration names, as far as there are any.

    If it names the time, a benchmark of another tool that has no time is judged by what it has, one
    of a load tool by its errors, too, and a step of a scenario by the metrics that usually decide
    there. What one side no longer reports decides all the same.

    Args:
        names: what the configuration names.
    """
    known = _names(base, head)
    if is_step(head):
        under_load = deciding_under_load(names, known)
        if under_load or known == (THROUGHPUT.name,):
            return under_load
    chosen = tuple(name for name in names if name in known)
    has_errors = has_error_ratio(head) or has_error_ratio(base)
    if TIME.name in chosen and has_errors and ERROR_RATIO.name not in names:
        chosen = (*chosen, ERROR_RATIO.name)  # a server that answers with errors is fast
    if not chosen and TIME.name in names and known:
        return known
    # Why a metric of benchgate's own was not measured is worth a row.
    return chosen + tuple(
        name for name in names if name not in known and (not chosen or name in MEASURED)
    )


def other_rows(
    one: Pair, base: BenchmarkResult, head: BenchmarkResult, names: Collection[str], terms: Terms
) -> Iterator[Row]:
    """Make the rows of the metrics that do not decide: they show the values, without a test.

    benchgate measures the memory and the CPU time of everything, so their rows would be too many.
    Instructions are counted for a reader only if the configuration asks for it.

    Args:
        names: of those that decide.
    """
    is_own = head.tier is not Tier.STORED
    asked = {INSTRUCTIONS.name} if terms.config.measure.counter in COUNTERS else frozenset[str]()
    for name in _names(base, head):
        if name in names or (is_own and name in MEASURED and name not in asked):
            continue
        before, after = series_of(base, name), series_of(head, name)
        if before and after and _are_alike(before, after):
            row = _shown_row(one, before, after, paired=terms.paired)
            # A launch has one count, so its statistic says nothing.
            yield (
                replace(row, statistic=VALUE)
                if name in asked
                else replace(row, notes=(f"{ONLY_SHOWN}{name}", *row.notes))
            )


def _are_alike(before: Series, after: Series) -> bool:
    return (before.metric, before.counter) == (after.metric, after.counter)


def unmeasured_row(pair: Pair, metric: str, launches: tuple[int, int]) -> Row:
    """Say which arm lacks a metric; if both lack it, the arms do not differ.

    Args:
        launches: how many of base and head have it.
    """
    if any(launches):
        why = f"{metric} was measured only on the {'base' if launches[0] else 'head'}"
        return incomparable_row(pair, why, metric=metric, launches=launches)
    why = why_unmeasured(pair, metric)
    if not why and pair.base and pair.head and (known := _names(pair.base, pair.head)):
        why = f"; there is {', '.join(known)}: name it in `metrics`"
    row = incomparable_row(pair, f"{metric} was not measured{why}", metric=metric)
    return replace(row, outcome=Outcome.NOT_TESTED)


def why_unmeasured(pair: Pair, metric: str) -> str:
    """Why neither side has a metric, as the notes of the benchmark say: ": no counters"."""
    reasons = (note for note in notes_of(pair, metric) if note.startswith(f"{metric}: "))
    return next(reasons, "").removeprefix(metric)


def _names(base: BenchmarkResult, head: BenchmarkResult) -> tuple[str, ...]:
    """The metrics that a side has."""
    both = (*head.series, *base.series)
    return tuple(dict.fromkeys(series.metric.name for series in both if series.launches))


def _shown_row(one: Pair, before: Series, after: Series, *, paired: bool) -> Row:
    base, head = _median_of(before), _median_of(after)
    ratio = head / base if base > 0 else math.inf
    metric = after.metric
    return Row(
        one.id,
        Outcome.NOT_TESTED,
        metric=metric.name,
        statistic=_statistic(one, metric.kind),
        unit=metric.unit,
        better=metric.better,
        ratio=ratio if math.isfinite(ratio) else None,
        launches=(len(before.launches), len(after.launches)),
        decides=False,
        test="exact" if _are_exact(before, after) else None,
        notes=tuple(notes_of(one, metric.name)),
        **sides(base, head, ratio),
        **about(one, paired=paired),
    )


def _are_exact(before: Series, after: Series) -> bool:
    """Whether a change is known without a test: no clock is read, and neither side varies."""
    if before.metric.unit in {"s", RATE_UNIT}:
        return False
    return not (varies(before, EXACT_SPREAD) or varies(after, EXACT_SPREAD))


def _statistic(one: Pair, kind: Kind) -> str:
    if kind is Kind.SUMMARY:
        return SUMMARY
    return VALUE if one.head and is_step(one.head) else "median"


def _median_of(series: Series) -> float:
    return float(np.median([np.median(launch.samples) for launch in series.launches]))

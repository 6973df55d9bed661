"""Chooses the metrics of a benchmark that decide, and makes the rows of the others."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.errors import did_you_mean
from benchgate.gate.evidence import SUMMARY, series_of
from benchgate.gate.rows import about, incomparable_row, notes_of, sides
from benchgate.gate.under_load import deciding_under_load, has_error_ratio, is_step
from benchgate.model.policy import Outcome
from benchgate.model.run import ERROR_RATIO, MEASURED, THROUGHPUT, TIME, Kind, Tier
from benchgate.model.verdict import VALUE, Row
from benchgate.units import RATE_UNIT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from benchgate.config import Config
    from benchgate.gate.evidence import Pair
    from benchgate.model.run import BenchmarkResult, Run, Series

_EXACT_SPREAD = 0.01
ONLY_SHOWN = "only shown: it decides if `metrics` in the configuration names it"


def deciding(
    names: Collection[str], base: BenchmarkResult, head: BenchmarkResult
) -> tuple[str, ...]:
    """Choose the metrics that decide: those that the configuration names, as far as there are any.

    If it names the time, a benchmark of another tool that has no time is judged by what it has, one
    of a load tool by its errors, too, and a step of a scenario by the metrics that usually decide
    there.

    Args:
        names: what the configuration names.
    """
    known = _names(base, head)
    if is_step(head):
        under_load = deciding_under_load(names, known)
        if under_load or known == (THROUGHPUT.name,):
            return under_load
    chosen = tuple(name for name in names if name in known)
    if TIME.name in chosen and has_error_ratio(head) and ERROR_RATIO.name not in names:
        chosen = (*chosen, ERROR_RATIO.name)  # a server that answers with errors is fast
    if not chosen and TIME.name in names and known:
        return known
    # Why a metric of benchgate's own was not measured is worth a row.
    return chosen + tuple(
        name for name in names if name not in known and (not chosen or name in MEASURED)
    )


def about_unknown(base: Run, head: Run, config: Config) -> tuple[str, ...]:
    """Warn about metrics that the configuration names although no benchmark has them."""
    every = (*base.benchmarks, *head.benchmarks)
    named = dict.fromkeys(
        name for one in head.of_project for name in config.effective(one.id).metrics
    )
    known = {series.metric.name for one in every for series in one.series}
    if not known:
        return ()
    unknown = [name for name in named if name not in known and name not in MEASURED]
    return tuple(
        f"no benchmark has the metric {name}, which `metrics` names"
        f"{did_you_mean(name, [*known, *MEASURED])}"
        for name in unknown
    )


def other_rows(
    one: Pair, base: BenchmarkResult, head: BenchmarkResult, names: Collection[str], *, paired: bool
) -> Iterator[Row]:
    """Make the rows of the metrics that do not decide: they show the values, without a test.

    benchgate measures the memory and the CPU time of everything, so their rows would be too many.

    Args:
        names: of those that decide.
    """
    is_own = head.tier is not Tier.STORED
    for name in _names(base, head):
        if name in names or (is_own and name in MEASURED):
            continue
        before, after = series_of(base, name), series_of(head, name)
        if before and after and _are_alike(before, after):
            yield _shown_row(one, before, after, paired=paired)


def _are_alike(before: Series, after: Series) -> bool:
    return (before.metric, before.counter) == (after.metric, after.counter)


def unmeasured_row(pair: Pair, metric: str, *, on_base: bool, on_head: bool) -> Row:
    """Say which arm lacks a metric; if both lack it, the arms do not differ."""
    if on_base or on_head:
        arm = "base" if on_base else "head"
        return incomparable_row(pair, f"{metric} was measured only on the {arm}", metric=metric)
    reasons = (note for note in notes_of(pair, metric) if note.startswith(f"{metric}: "))
    why = next(reasons, "").removeprefix(metric)
    if not why and pair.base and pair.head and (known := _names(pair.base, pair.head)):
        why = f"; there is {', '.join(known)}: name it in `metrics`"
    row = incomparable_row(pair, f"{metric} was not measured{why}", metric=metric)
    return replace(row, outcome=Outcome.NOT_TESTED)


def _names(base: BenchmarkResult, head: BenchmarkResult) -> tuple[str, ...]:
    """The metrics that a side has."""
    both = (*head.series, *base.series)
    return tuple(dict.fromkeys(series.metric.name for series in both if series.launches))


def _shown_row(one: Pair, before: Series, after: Series, *, paired: bool) -> Row:
    base, head = _median(before), _median(after)
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
        notes=(ONLY_SHOWN, *notes_of(one, metric.name)),
        **sides(base, head, ratio),
        **about(one, paired=paired),
    )


def _are_exact(before: Series, after: Series) -> bool:
    """Whether a change is known without a test: no clock is read, and neither side varies."""
    if before.metric.unit in {"s", RATE_UNIT}:
        return False
    for series in (before, after):
        values = np.concatenate([launch.samples for launch in series.launches])
        if values.max() - values.min() > _EXACT_SPREAD * abs(values.max()):
            return False
    return True


def _statistic(one: Pair, kind: Kind) -> str:
    if kind is Kind.SUMMARY:
        return SUMMARY
    return VALUE if one.head and is_step(one.head) else "median"


def _median(series: Series) -> float:
    return float(np.median([np.median(launch.samples) for launch in series.launches]))

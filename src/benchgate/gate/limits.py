"""Rows of limits: of the head's values, whatever the base measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.config.resolved import matches
from benchgate.gate.evidence import NOTHING_MEASURED, Pair, series_of, statistic_of
from benchgate.gate.rows import about
from benchgate.gate.shown_rows import why_unmeasured
from benchgate.model.metrics import Kind
from benchgate.model.notes import TOO_FEW
from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.stats.intervals import quantile_interval
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.arrays import FloatArray
    from benchgate.config import Config, Limit
    from benchgate.model.run import BenchmarkResult, Series


def limit_rows(pair: Pair, head: BenchmarkResult, config: Config) -> Iterator[Row]:
    """Make a row for each statistic of a benchmark that has a limit; the last limit counts.

    It is over its limit, or within it, if the whole interval of the launches' median is. All values
    of an exact metric must be. A limit of what the head no longer reports cannot be tested.

    Args:
        head: the head's result, which succeeded.
    """
    name = config.name_in_policy(pair.id, pair.renamed_from)
    limits: dict[tuple[str, str, bool], Limit] = {
        (limit.metric, limit.statistic, limit.max is None): limit
        for limit in config.limits
        if matches(limit.benchmark, name)
    }
    for limit in limits.values():
        series = series_of(head, limit.metric)
        if why := _why_untested(pair, series, limit):
            yield _untested_row(pair, limit, why)
        elif series:
            yield _row(pair, series, limit, config.gate.confidence)


def _why_untested(pair: Pair, series: Series | None, limit: Limit) -> str:
    """Why a limit says nothing of the head's values; "" if it does, or never had any to judge."""
    metric, unit = limit.metric, limit.bound.unit
    if series:
        has = series.metric.unit
        return f"{metric} has another unit: {has or 'none'}" if unit not in {"", has} else ""
    if pair.base and series_of(pair.base, metric):
        return f"{metric} was measured only on the base"
    why = why_unmeasured(pair, metric)
    return f"{metric} was not measured{why}" if why else ""


def _untested_row(pair: Pair, limit: Limit, why: str) -> Row:
    known = series_of(pair.base, limit.metric) if pair.base else None
    return Row(
        benchmark=pair.id,
        outcome=Outcome.NOT_TESTED,
        metric=limit.metric,
        statistic="limit",
        unit=limit.bound.unit or (known.metric.unit if known else ""),
        base=limit.bound.value,
        test="limit",
        notes=(f"the limit is {limit.words}", why),
        **about(pair, paired=True),
    )


def _row(pair: Pair, series: Series, limit: Limit, confidence: float) -> Row:
    metric, bound = series.metric, limit.bound.value
    is_sampled = any(len(launch.samples) > 1 for launch in series.launches)
    values = statistic_of([launch.samples for launch in series.launches], limit.statistic)
    low, high, why_not = _interval(values, series, confidence)
    is_over = low > bound if limit.max else high < bound
    is_within = high <= bound if limit.max else low >= bound
    outcome, why = Outcome.NOT_SETTLED, "the interval contains the limit"
    if why_not:
        outcome, why = Outcome.NOT_TESTED, why_not
    elif is_over or is_within:
        outcome, why = Outcome.OVER_LIMIT if is_over else Outcome.WITHIN_LIMIT, ""
    value = float(np.median(values))
    return Row(
        benchmark=pair.id,
        outcome=outcome,
        metric=metric.name,
        statistic=f"{limit.statistic} limit" if is_sampled else "limit",
        unit=metric.unit,
        better=metric.better,
        base=bound,
        head=value,
        ratio=value / bound if bound else None,
        interval=(low / bound, high / bound) if bound and not why_not else None,
        confidence=confidence,
        launches=(0, len(values)),
        test="limit",
        notes=tuple(filter(None, (f"the limit is {limit.words}", why))),
        **about(pair, paired=True),
    )


def _interval(
    values: FloatArray, series: Series, confidence: float
) -> tuple[float, float, str | None]:
    """The interval of the launches' median, and why it cannot be compared with the limit."""
    metric = series.metric
    least, most = float(values.min()), float(values.max())
    if metric.unit == "s" and least <= 0:
        return least, most, NOTHING_MEASURED
    if metric.kind is Kind.EXACT:
        return least, most, None
    found = quantile_interval(values, 0.5, confidence)
    if found is None:
        return least, most, f"{TOO_FEW}: {counted(len(values), 'launch')}"
    return found.low, found.high, None

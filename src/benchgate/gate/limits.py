"""Compares the head with limits: what a metric must not exceed, whatever the base measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.config.resolved import matches
from benchgate.errors import did_you_mean
from benchgate.gate.evidence import NOTHING_MEASURED, series_of, statistic_of
from benchgate.gate.rows import about
from benchgate.model.notes import TOO_FEW
from benchgate.model.policy import Outcome
from benchgate.model.run import Kind
from benchgate.model.verdict import Row
from benchgate.stats.intervals import quantile_interval
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.arrays import FloatArray
    from benchgate.config import Config, Limit
    from benchgate.gate.evidence import Pair
    from benchgate.model.run import BenchmarkResult, Series


def limit_rows(pair: Pair, head: BenchmarkResult, config: Config) -> Iterator[Row]:
    """Make a row for each statistic of a benchmark that has a limit; the last limit counts.

    It is over its limit, or within it, if the whole interval of the launches' median is. All values
    of an exact metric must be.

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
        if series := series_of(head, limit.metric):
            yield _row(pair, series, limit, config.gate.confidence)


def without_effect(
    benchmarks: Iterable[BenchmarkResult], limits: Iterable[Limit]
) -> tuple[str, ...]:
    """Warn about limits of what no benchmark has.

    Args:
        benchmarks: of both sides; one that failed may have any metric.
    """
    metrics = [(one.id, {each.metric.name for each in one.series}) for one in benchmarks]
    known = {name for _, names in metrics for name in names}
    unused = [
        limit
        for limit in limits
        if not any(
            matches(limit.benchmark, id_) and (limit.metric in names or not names)
            for id_, names in metrics
        )
    ]
    return tuple(
        f"[[limit]] limits nothing: no benchmark {limit.benchmark!r} has the metric {limit.metric}"
        f"{'' if limit.metric in known else did_you_mean(limit.metric, known)}"
        for limit in unused
        if known
    )


def _row(pair: Pair, series: Series, limit: Limit, confidence: float) -> Row:
    metric, bound = series.metric, limit.bound.value
    is_sampled = any(len(launch.samples) > 1 for launch in series.launches)
    values = statistic_of([launch.samples for launch in series.launches], limit.statistic)
    low, high, why_not = _interval(values, series, limit, confidence)
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
    values: FloatArray, series: Series, limit: Limit, confidence: float
) -> tuple[float, float, str | None]:
    """The interval of the launches' median, and why it cannot be compared with the limit."""
    metric = series.metric
    least, most = float(values.min()), float(values.max())
    if limit.bound.unit not in {"", metric.unit}:
        return least, most, f"it has another unit than {metric.name}: {metric.unit or 'none'}"
    if metric.unit == "s" and least <= 0:
        return least, most, NOTHING_MEASURED
    if metric.kind is Kind.EXACT:
        return least, most, None
    found = quantile_interval(values, 0.5, confidence)
    if found is None:
        return least, most, f"{TOO_FEW}: {counted(len(values), 'launch')}"
    return found.low, found.high, None

"""Rows beside the comparison: limits of metrics, and what did not run with the files that decide.

Both sides usually run the benchmark files of the base. What only the head has runs with the head's
files on both sides. If the base's version of a benchmark does not run on the head, each side runs
its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.config.resolved import matches
from benchgate.gate.evidence import NOTHING_MEASURED, Pair, has_failed, series_of, statistic_of
from benchgate.gate.rows import (
    about,
    deciding_rows,
    notes_of,
    tested_row,
    unpaired_row,
    untested_row,
    why_unmeasured,
)
from benchgate.gate.single_runs import judge_at_once
from benchgate.model.notes import TOO_FEW, change, sides
from benchgate.model.policy import Outcome
from benchgate.model.run import BenchmarkFiles, Kind
from benchgate.model.verdict import Row
from benchgate.stats.intervals import quantile_interval
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.config import Config, Limit
    from benchgate.gate.rows import Terms
    from benchgate.model.run import BenchmarkResult, Run, Series


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


TOGETHER: Final = "benchmark changed together with the code"
"""How the note begins on a benchmark that each side runs in its own version."""


def is_new(result: BenchmarkResult, decide: BenchmarkFiles) -> bool:
    """Whether only the head has the benchmark, although it may have run on both sides.

    Args:
        decide: whose files decide in this run.
    """
    return result.files is BenchmarkFiles.HEAD and decide is not BenchmarkFiles.HEAD


def of_base(base: Run, decide: BenchmarkFiles) -> list[BenchmarkResult]:
    """The benchmarks that the base itself has."""
    return [one for one in base.of_project if not is_new(one, decide)]


def as_new(pairs: Iterable[Pair], decide: BenchmarkFiles) -> Iterator[Pair]:
    """Leave the base out of what only the head has if it did not run there."""
    for one in pairs:
        if one.base is None or not is_new(one.base, decide):
            yield one
        elif one.head is not None:
            yield replace(one, base=None) if has_failed(one.base) else one


def is_apart(base: BenchmarkResult, head: BenchmarkResult, decide: BenchmarkFiles) -> bool:
    """Whether two results, which succeeded, are only shown."""
    is_known = head.files in {decide, BenchmarkFiles.BASE}
    return base.files is head.files and not is_known


def rows_apart(pairs: Iterable[Pair], terms: Terms) -> list[Row]:
    """Make rows that show a change and its interval, but decide nothing."""
    rows: list[Row] = []
    for one in pairs:
        if one.base is None or one.head is None:
            continue
        together = one.head.files is BenchmarkFiles.OWN
        found, evidences = deciding_rows(one, one.base, one.head, terms)
        gate = terms.config.gate
        testable = [e for e in evidences if e.obstacle is None]
        found += [untested_row(e, None) for e in evidences if e.obstacle]
        findings = judge_at_once(testable, alpha=gate.alpha, confidence=gate.confidence)
        for evidence, finding in zip(testable, findings, strict=True):
            found.append(tested_row(evidence, replace(finding, notes=()), None, gate.confidence))
        rows += [_only_shown(row, one, together=together) for row in found]
    return rows


def _only_shown(row: Row, one: Pair, *, together: bool) -> Row:
    said = dict.fromkeys((*row.notes, *notes_of(one, row.metric)))
    if together and not any(note.startswith(TOGETHER) for note in said):
        said = {TOGETHER: None} | said
    return replace(
        row,
        outcome=Outcome.INCOMPARABLE if together else Outcome.NEW,
        test="exact" if row.test == "exact" else None,
        p=None,
        p_adjusted=None,
        detectable=None,
        rounds_needed=None,
        unconfirmed=None,
        notes=tuple(said),
        changed_together=together,
    )


def with_new_versions(rows: Sequence[Row], base: Run, head: Run, terms: Terms) -> list[Row]:
    """Note on each row what the head's version of its benchmark measured, if the base's decides."""
    before = {one.new_version_of: one for one in base.benchmarks}
    versions = {
        one.new_version_of: _said(one, before.get(one.new_version_of), terms)
        for one in head.benchmarks
        if one.new_version_of is not None
    }
    return [
        replace(row, notes=(*row.notes, *_about(row, versions[row.benchmark])))
        if row.benchmark in versions and row.decides and not row.is_limit
        else row
        for row in rows
    ]


def _said(
    head: BenchmarkResult, base: BenchmarkResult | None, terms: Terms
) -> list[tuple[Row, str]]:
    """What to note on the rows of a benchmark, each with the row of its new version."""
    alone = Pair(head.new_version_of or head.id, None, head)
    if has_failed(head):
        row = unpaired_row(alone)
        first = (head.error or "it did not run").strip().partition("\n")[0]
        return [(row, f"its new version fails: {first}")]
    if base is None or has_failed(base):
        row = unpaired_row(alone)
        value = f"; on the head: {sides(row)[1]}" if row.metric else ""
        return [(row, f"its new version does not run on the base{value}")]
    shown = rows_apart([replace(alone, base=base)], terms)
    return [(row, f"its new version: {_change(row)}") for row in shown if row.base is not None]


def _change(row: Row) -> str:
    signed = change(row)
    return " -> ".join(sides(row)) + (f" ({signed})" if signed else "")


def _about(row: Row, said: Sequence[tuple[Row, str]]) -> list[str]:
    """What is said of the same metric and statistic, or of everything."""
    return [
        text
        for one, text in said
        if not (one.metric and row.metric)
        or (one.metric == row.metric and (one.base is None or one.statistic == row.statistic))
    ][:1]

"""Makes all rows of a benchmark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.gate.evidence import SUMMARY, gather, series_of
from benchgate.gate.rows import EXACT_SPREAD, Terms, exact_row, incomparable_row, varies
from benchgate.gate.same_work import different_work, does_same_work, like_a_suite
from benchgate.gate.shown_rows import deciding, other_rows, unmeasured_row
from benchgate.gate.under_load import (
    is_step,
)
from benchgate.model.metrics import (
    ERROR_RATIO,
    Kind,
)
from benchgate.model.policy import Outcome
from benchgate.model.row import TAIL_STATISTICS, VALUE, Row, is_tail
from benchgate.model.run import Tier

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from benchgate.config import Config, RowPolicy
    from benchgate.gate.evidence import Evidence, Pair
    from benchgate.model.run import BenchmarkResult, Series


def settles_metric(name: str, names: Sequence[str], settle: Collection[str] | None) -> bool:
    """Whether a metric under load is settled; a launch under load has no other statistics of it.

    Error rates are only settled if nothing else is: more rounds do not show that they are equal.

    Args:
        names: of the metrics that decide.
        settle: the statistics to settle, which stand for all typical values, or for all tails; None
            for the typical values.
    """
    tails = {False} if settle is None else {one in TAIL_STATISTICS for one in settle}
    timed = [one for one in names if one != ERROR_RATIO.name]
    settled = [one for one in timed if is_tail(one, VALUE) in tails]
    return name in (settled or timed or names)


def open_outcome(*, settles: bool) -> Outcome:
    """The outcome of a row that is neither changed nor unchanged."""
    return Outcome.INCONCLUSIVE if settles else Outcome.NOT_SETTLED


OTHER_FILES: Final = "base and head did not run the same benchmark files"


def rows_of_pair(
    one: Pair, base: BenchmarkResult, head: BenchmarkResult, terms: Terms
) -> tuple[list[Row], list[Evidence]]:
    """Give the rows of a pair that need no test, and the evidence of those that do.

    Args:
        base, head: the results of both sides, which succeeded.
    """
    if terms.unlike:
        return [incomparable_row(one, "; ".join(terms.unlike))], []
    if terms.paired and base.files is not head.files:
        return [incomparable_row(one, OTHER_FILES)], []
    if not does_same_work(base, head):
        return [incomparable_row(one, different_work(base, head))], []
    rows, evidences = deciding_rows(one, base, head, terms)
    names = deciding_names(one, base, head, terms.config)
    rows += other_rows(one, base, head, names, terms)
    return rows, evidences


def deciding_names(
    one: Pair, base: BenchmarkResult, head: BenchmarkResult, config: Config
) -> tuple[str, ...]:
    known_as = config.name_in_policy(one.id, one.renamed_from)
    return deciding(config.effective(known_as).metrics, base, head)


def deciding_rows(
    one: Pair, base: BenchmarkResult, head: BenchmarkResult, terms: Terms
) -> tuple[list[Row], list[Evidence]]:
    """The same of the metrics that decide, whether both sides did the same work or not."""
    config, paired = terms.config, terms.paired
    rows: list[Row] = []
    evidences: list[Evidence] = []
    known_as = config.name_in_policy(one.id, one.renamed_from)
    names = deciding_names(one, base, head, config)
    shares_loops = paired and base.workload == head.workload
    for name in names:
        policy = config.effective(known_as, name)
        settles = not is_step(head) or settles_metric(name, names, policy.settle)
        before, after = series_of(base, name), series_of(head, name)
        if before and base.tier is not head.tier:
            before = like_a_suite(before, head)
        launches = _launches(before), _launches(after)
        if before is None or after is None:
            rows.append(unmeasured_row(one, name, launches))
        elif why_not := _difference(before, after, shares_loops=shares_loops):
            rows.append(incomparable_row(one, why_not, metric=name, launches=launches))
        elif _is_exact(before, after, head, policy.tolerance):
            tolerance, level = policy.tolerance, terms.level
            row = exact_row(one, before, after, tolerance, paired=paired, level=level)
            rows.append(_as_planned(row, settles=settles))
        else:
            evidences += _evidences(one, before, after, policy, paired=paired, settles=settles)
    return rows, evidences


def _launches(series: Series | None) -> int:
    return len(series.launches) if series else 0


def _is_exact(base: Series, head: Series, of: BenchmarkResult, tolerance: float) -> bool:
    """Whether a metric needs no test. What other tools count may vary after all."""
    if head.metric.kind is not Kind.EXACT or of.tier not in {Tier.STORED, Tier.SUITE}:
        return head.metric.kind is Kind.EXACT
    spread = max(tolerance, EXACT_SPREAD)
    return head.metric == ERROR_RATIO or not (varies(base, spread) or varies(head, spread))


def _difference(base: Series, head: Series, *, shares_loops: bool) -> str | None:
    """Say why two series of one metric cannot be compared; None if they can.

    Args:
        shares_loops: whether both sides must have the same: they do the same work in turn. Runs at
            different times calibrate again.
    """
    if base.metric != head.metric:
        return f"{head.metric.name} differs in its unit, direction or kind between base and head"
    if base.counter != head.counter:
        counters = f"{_who(base)} in the base and by {_who(head)} in the head"
        return f"{head.metric.name} was counted by {counters}, which do not count alike"
    if shares_loops and base.loops != head.loops:
        loops = f"{base.loops} in the base and {head.loops} in the head"
        return f"a sample of {head.metric.name} is the mean of different numbers of calls: {loops}"
    return None


def _who(series: Series) -> str:
    return series.counter or "another tool"


def _as_planned(row: Row, *, settles: bool) -> Row:
    is_open = row.outcome is Outcome.INCONCLUSIVE
    return replace(row, outcome=open_outcome(settles=settles)) if is_open else row


def _evidences(
    one: Pair,
    base: Series,
    head: Series,
    policy: RowPolicy,
    *,
    paired: bool,
    settles: bool,
) -> list[Evidence]:
    """Gather one row per statistic.

    A run of a suite, and a launch under load, give one value: all statistics of it are the same.

    Args:
        settles: whether a metric under load is settled.
    """
    if head.metric.kind is Kind.SUMMARY:
        return [gather(one, base, head, SUMMARY, margin=policy.margin, paired=paired)]
    if one.head is not None and is_step(one.head):
        margin = policy.tail_margin if is_tail(head.metric.name, VALUE) else policy.margin
        evidence = gather(one, base, head, VALUE, margin=margin, paired=paired)
        return [replace(evidence, settles=settles)]
    is_suite = one.head is not None and one.head.tier is Tier.SUITE
    is_one = is_suite or head.metric.kind is Kind.EXACT
    statistics = ("median",) if is_one else policy.statistics
    settled = policy.settled(statistics)
    return [
        replace(
            gather(one, base, head, statistic, margin=policy.margin_of(statistic), paired=paired),
            settles=statistic in settled,
        )
        for statistic in statistics
    ]

"""Makes the rows of the verdict: of the metrics that decide, of others, of what cannot be tested.

The others are screened and confirmed like all rows. If they show no change, they are not settled,
which the plan expects: they are no reason to measure longer or to doubt a pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Final, TypedDict

import numpy as np

from benchgate.escape import named
from benchgate.gate.evidence import (
    SUMMARY,
    deciding_under_load,
    gather,
    has_error_ratio,
    is_step,
    notes_under_load,
    series_of,
)
from benchgate.gate.exact import (
    compare_error_rates,
    compare_exact,
    compare_rounds,
    values_of_rounds,
)
from benchgate.model.notes import OF_ONE_THREAD, UNREADABLE
from benchgate.model.policy import OPEN, Outcome
from benchgate.model.run import (
    COUNTERS,
    ERROR_RATIO,
    INSTRUCTIONS,
    LEAST_COUNTED_ROUNDS,
    MEASURED,
    THROUGHPUT,
    TIME,
    Kind,
    Status,
    Tier,
    notes_on,
)
from benchgate.model.verdict import TAIL_STATISTICS, VALUE, ConfirmationCost, Row, is_tail
from benchgate.stats.spread import finite_exp
from benchgate.units import RATE_UNIT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.config import Config, RowPolicy
    from benchgate.gate.estimates import Finding
    from benchgate.gate.evidence import Evidence, Pair
    from benchgate.gate.exact import ExactChange
    from benchgate.model.run import BenchmarkResult, Launch, Series
    from benchgate.model.verdict import Classical


# A quotient, multiplied by its divisor again, can differ from the original in its last digits.
_ROUNDING = 1e-12


class RowValues(TypedDict):
    """The values of a row, in the metric's unit."""

    base: float | None
    head: float | None
    base_median: float | None
    head_median: float | None


def sides(
    base_median: float | None,
    head_median: float | None,
    ratio: float | None,
    *,
    from_head: bool = False,
) -> RowValues:
    """Return values of base and head that agree with a ratio, and the unchanged medians.

    Without a finite ratio above 0, the values are the medians.

    Args:
        ratio: head / base.
        from_head: show the head as measured, and compute the base from it.
    """
    base, head = base_median, head_median
    if base is not None and head is not None and ratio and 0 < ratio < math.inf:
        if from_head:
            base = _unless_equal(head / ratio, base)
        else:
            head = _unless_equal(base * ratio, head)
    return {"base": base, "head": head, "base_median": base_median, "head_median": head_median}


def _unless_equal(value: float, median: float) -> float:
    """Return the median itself if it is the same number, so that counts stay whole."""
    same = math.isclose(value, median, rel_tol=_ROUNDING)
    return median if same or not math.isfinite(value) else value


_PARTS_NAMED = 4


def tested_row(
    evidence: Evidence, finding: Finding, classical: Classical | None, confidence: float
) -> Row:
    """Make the row of a finding, on the metric's own scale."""
    estimate, sign = finding.estimate, evidence.worse_sign
    ratio = interval = None
    if estimate:
        ratio = finite_exp(sign * estimate.value)
        low, high = sorted((sign * estimate.low, sign * estimate.high))
        if math.isfinite(low) and math.isfinite(high):
            interval = (finite_exp(low), finite_exp(high))
    used = slice(finding.start, finding.start + finding.count) if evidence.paired else slice(None)
    base, head = evidence.base[used], evidence.head[used]
    is_open = finding.outcome in OPEN
    needed = estimate.needed if estimate and is_open else None
    row = untested_row(evidence, classical)
    calibration = finding.calibration
    calibrated = calibration is not None and calibration.calibrated
    # The ratio of a calibrated row refers to all earlier runs, not only to the base.
    values = sides(_median(base), _median(head), ratio, from_head=calibrated)
    return replace(
        row,
        **values,
        outcome=finding.outcome,
        ratio=ratio,
        interval=interval,
        confidence=confidence,
        p=finding.p,
        p_adjusted=finding.p_adjusted,
        launches=(len(base), len(head)),
        test=_test(evidence, finding, calibrated=calibrated),
        detectable=estimate.detectable if estimate else None,
        rounds_needed=max(needed - finding.count, 1) if needed else None,
        unconfirmed=_unconfirmed(evidence, finding),
        advisory=not evidence.paired and not calibrated,
        calibration=calibration,
        notes=(*finding.notes, *row.notes),
    )


def _unconfirmed(evidence: Evidence, finding: Finding) -> ConfirmationCost | None:
    if not finding.unconfirmed:
        return None
    head = evidence.pair.head
    round_s = head.round_s if head else None
    return ConfirmationCost(
        finding.unconfirmed, None if round_s is None else finding.unconfirmed * round_s
    )


def _test(evidence: Evidence, finding: Finding, *, calibrated: bool) -> str:
    if evidence.paired:
        return finding.test
    if calibrated:
        return "prediction"
    return "threshold" if evidence.is_alone else "mann-whitney"


def untested_row(evidence: Evidence, classical: Classical | None) -> Row:
    """Make a row that says why it cannot be tested, and still shows its values."""
    obstacle = (evidence.obstacle,) if evidence.obstacle else ()
    return Row(
        benchmark=evidence.pair.id,
        outcome=Outcome.NOT_TESTED,
        metric=evidence.metric.name,
        statistic=evidence.statistic,
        unit=evidence.metric.unit,
        better=evidence.metric.better,
        margin=evidence.margin,
        launches=(len(evidence.base), len(evidence.head)),
        classical=classical,
        notes=(*obstacle, *evidence.notes, *notes_of(evidence.pair, evidence.metric.name)),
        **sides(_median(evidence.base), _median(evidence.head), None),
        **about(evidence.pair, paired=evidence.paired),
    )


def unpaired_row(
    pair: Pair, unread: Sequence[str] = (), *, is_represented: bool = False, is_new: bool = False
) -> Row:
    """Make the row of a benchmark that failed, or that only one arm has.

    Args:
        unread: ids of the benchmarks that it stands for, if it is a file that could not be read.
        is_represented: whether the head has benchmarks of it, if it is a file or folder that could
            not be read in the base.
        is_new: whether only the head has it, although it may have run on both sides.
    """
    both = [("base", pair.base), ("head", pair.head)]
    failed = [(arm, r) for arm, r in both if r and r.status is Status.FAILED]
    if is_new and pair.head and failed:
        crashed = pair.head
        notes = _why_broken(crashed, "crashes", "the head")
        return Row(
            pair.id, Outcome.NEW, notes=notes, error=crashed.error, location=crashed.location
        )
    if failed and (pair.head or is_represented):
        arm, broken = failed[-1]  # if both failed, the head's failure is the one to fix
        where = "base and head" if len(failed) > 1 else f"the {arm}"
        # A base that worked until something disturbed it is not a broken base.
        never_ran = failed[0][0] == "base" and not failed[0][1].series
        is_old = never_ran and not any(one.of_all for _, one in failed)
        return Row(
            pair.id,
            Outcome.BASE_FAILED if is_old else Outcome.FAILED,
            notes=_why_broken(broken, "crashed", where, *_stands_for(unread)),
            error=broken.error,
            location=broken.location,
            renamed_from=pair.renamed_from,
        )
    outcome, result = (
        (Outcome.NEW, pair.head) if pair.base is None else (Outcome.MISSING, pair.base)
    )
    if result is None:
        raise ValueError(f"{pair.id} is in neither run")
    return _one_sided_row(pair, outcome, result)


def _why_broken(broken: BenchmarkResult, verb: str, where: str, *more: str) -> tuple[str, ...]:
    how = UNREADABLE if UNREADABLE in broken.notes else verb
    return (f"{how} on {where}", *more, *(one for one in broken.notes if one != UNREADABLE))


def _stands_for(unread: Sequence[str]) -> tuple[str, ...]:
    """Name the benchmarks of a file that could not be read on one side."""
    return (f"not compared, because this file has them: {named(unread)}",) if unread else ()


def incomparable_row(
    pair: Pair, why: str, *, metric: str = "", launches: tuple[int, int] = (0, 0)
) -> Row:
    """Make a row that says why a benchmark, or one of its metrics, cannot be compared.

    Args:
        launches: how many of base and head have the metric.
    """
    return Row(
        pair.id,
        Outcome.INCOMPARABLE,
        metric=metric,
        launches=launches,
        notes=(why,),
        location=pair.head.location if pair.head else None,
        renamed_from=pair.renamed_from,
    )


def different_work(base: BenchmarkResult, head: BenchmarkResult) -> str:
    """Say that a benchmark's definition changed, and in which parts if they are known."""
    if (base.tier is Tier.STORED) is not (head.tier is Tier.STORED):
        return "another tool measured one side: benchgate and that tool do not measure alike"
    every = dict.fromkeys((*base.parts, *head.parts)) if base.parts and head.parts else {}
    changed = [part for part in every if base.parts.get(part) != head.parts.get(part)]
    why = "the benchmark's own definition changed: base and head did different work"
    if not changed:
        return why
    more = f" and {len(changed) - _PARTS_NAMED} more" if len(changed) > _PARTS_NAMED else ""
    return f"{why}; changed: {', '.join(changed[:_PARTS_NAMED])}{more}"


def _one_sided_row(pair: Pair, outcome: Outcome, result: BenchmarkResult) -> Row:
    series = series_of(result, "time") or next(iter(result.series), None)
    value = None
    if series and series.launches:
        value = _median(np.array([np.median(x.samples) for x in series.launches]))
    new = outcome is Outcome.NEW
    if not new and series and len(series.launches) == 1 and result.tier is not Tier.STORED:
        value = None  # what only the base has runs once, cold
    return Row(
        pair.id,
        outcome,
        metric=series.metric.name if series else "",
        statistic="median" if series else "",
        unit=series.metric.unit if series else "",
        notes=result.notes,
        location=result.location if new else None,
        display_unit=result.display_unit,
        **sides(None if new else value, value if new else None, None),
    )


class RowSubject(TypedDict):
    """What a row says about the benchmark itself."""

    tier: Tier
    location: str | None
    display_unit: str | None
    renamed_from: str | None


def about(pair: Pair, *, paired: bool) -> RowSubject:
    """The fields of a row about the benchmark itself, taken from the head if it has them."""
    result = pair.head or pair.base
    return {
        "tier": result.tier if paired and result else Tier.STORED,
        "location": result.location if result else None,
        "display_unit": result.display_unit if result else None,
        "renamed_from": pair.renamed_from,
    }


def notes_of(pair: Pair, metric: str) -> tuple[str, ...]:
    """The notes of both sides, without those on other metrics, and how the load went."""
    sides = [side for side in (pair.base, pair.head) if side]
    names = {series.metric.name for side in sides for series in side.series}
    every = dict.fromkeys(note for side in sides for note in side.notes if note != OF_ONE_THREAD)
    own = notes_on(metric, every, names)
    return (*own, *notes_under_load(pair, metric))


def _median(values: FloatArray) -> float | None:
    return median(values.tolist()) if len(values) else None  # of few values faster than numpy


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


TOOL: Final = "its tool"
VERSION: Final = "its version, as its tool tells it"
"""Names of two parts of the work of a suite's benchmark."""


def work_in_files(suite: BenchmarkResult) -> str | None:
    """The work that a file of its tool would name; None if it is of no suite."""
    tool = suite.parts.get(TOOL) if suite.tier is Tier.SUITE else None
    if tool is None:
        return None
    version = suite.parts.get(VERSION)
    return f"{tool}:{suite.id}" + ("" if version is None else f"@{version}")


def does_same_work(base: BenchmarkResult, head: BenchmarkResult) -> bool:
    """Whether two benchmarks of one id did the same work, as far as is known."""
    if base.workload == head.workload:
        return True
    return base.tier is Tier.STORED and base.workload == work_in_files(head)


def like_a_suite(base: Series, head: BenchmarkResult) -> Series:
    """Reduce each launch to its median, as benchgate does with the runs of a suite.

    Args:
        base: of any tier.
        head: what it is compared with.
    """
    if head.tier is not Tier.SUITE or base.metric.kind is Kind.EXACT:
        return base
    launches = tuple(_reduced(launch) for launch in base.launches)
    kind = replace(base.metric, kind=Kind.SAMPLED)
    return replace(base, metric=kind, loops=1, launches=launches)


def _reduced(launch: Launch) -> Launch:
    return replace(launch, samples=np.array([np.median(launch.samples)]))


_EXACT_SPREAD = 0.01
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
    return not (_varies(before, _EXACT_SPREAD) or _varies(after, _EXACT_SPREAD))


def _varies(series: Series, spread: float) -> bool:
    values = _all_values(series)
    return bool(values.max() - values.min() > spread * abs(values.max()))


def _statistic(one: Pair, kind: Kind) -> str:
    if kind is Kind.SUMMARY:
        return SUMMARY
    return VALUE if one.head and is_step(one.head) else "median"


def _median_of(series: Series) -> float:
    return float(np.median([np.median(launch.samples) for launch in series.launches]))


OTHER_FILES: Final = "base and head did not run the same benchmark files"


@dataclass(frozen=True, slots=True)
class Terms:
    """How the rows of a pair are compared.

    Attributes:
        paired: whether both arms were measured in turn.
        level: one-sided level of each test of an error rate.
        unlike: what makes the machines of the two arms incomparable; nothing if they are alike.
    """

    config: Config
    paired: bool
    level: float
    unlike: tuple[str, ...] = ()


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
    spread = max(tolerance, _EXACT_SPREAD)
    return head.metric == ERROR_RATIO or not (_varies(base, spread) or _varies(head, spread))


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
        return [gather(one, base, head, VALUE, margin=margin, paired=paired, settles=settles)]
    is_suite = one.head is not None and one.head.tier is Tier.SUITE
    is_one = is_suite or head.metric.kind is Kind.EXACT
    statistics = ("median",) if is_one else policy.statistics
    settled = policy.settled(statistics)
    return [
        gather(
            one,
            base,
            head,
            statistic,
            margin=policy.margin_of(statistic),
            paired=paired,
            settles=statistic in settled,
        )
        for statistic in statistics
    ]

"""Makes the rows of the metrics that decide, and of what cannot be tested."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from benchgate.escape import named
from benchgate.gate.evidence import series_of
from benchgate.gate.exact import (
    compare_error_rates,
    compare_exact,
    compare_rounds,
    values_of_rounds,
)
from benchgate.gate.under_load import (
    notes_under_load,
)
from benchgate.model.metrics import (
    ERROR_RATIO,
    INSTRUCTIONS,
    notes_on,
)
from benchgate.model.notes import OF_ONE_THREAD, UNREADABLE
from benchgate.model.policy import OPEN, Outcome
from benchgate.model.row import VALUE, ConfirmationCost, Row
from benchgate.model.run import LEAST_COUNTED_ROUNDS, Status, Tier
from benchgate.stats.spread import finite_exp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.config import Config
    from benchgate.gate.estimates import Finding
    from benchgate.gate.evidence import Evidence, Pair
    from benchgate.gate.exact import ExactChange
    from benchgate.model.row import Classical
    from benchgate.model.run import BenchmarkResult, Series


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


def same_code_row(pair: Pair, *, paired: bool) -> Row | None:
    """Make the row of a benchmark that a side did not measure because its code was the same.

    Only sides that were measured together had the same code as each other.

    Returns:
        None if both sides were measured, or if the head crashed.
    """
    sides = {"base": pair.base, "head": pair.head}
    names = [name for name, one in sides.items() if one and one.status is Status.SAME_CODE]
    if not names or not all(sides.values()) or (pair.head and pair.head.status is Status.FAILED):
        return None
    about = Row(
        pair.id,
        Outcome.SAME_CODE,
        location=pair.head.location if pair.head else None,
        renamed_from=pair.renamed_from,
    )
    if paired and len(names) == len(sides):
        return about
    one = f"the result of the {names[0]} did not measure it"
    what = "neither result measured it" if len(names) > 1 else one
    why = f"{what}, because its code was the same as its base's"
    return replace(about, outcome=Outcome.NOT_TESTED, notes=(why,))


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


EXACT_SPREAD = 0.01


def varies(series: Series, spread: float) -> bool:
    values = _all_values(series)
    return bool(values.max() - values.min() > spread * abs(values.max()))


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

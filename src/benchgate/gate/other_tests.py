"""Other estimates and tests of the rows, for readers who want to compare methods."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.estimates import MOST_DETECTABLE_RATIO
from benchgate.interval import Interval
from benchgate.model.row import Comparison, Effect, RatioEstimate, Significance
from benchgate.stats.bootstrap import ratio_of_percentile
from benchgate.stats.detectable import (
    detectable_ratio,
    detectable_ratio_two_sample,
    launches_to_detect,
    least_launches,
)
from benchgate.stats.differences import MOST_COUNTED
from benchgate.stats.mann_whitney import (
    least_p_mann_whitney,
    mann_whitney,
    mann_whitney_classical,
    two_sample_shift,
)
from benchgate.stats.multiple_tests import benjamini_hochberg
from benchgate.stats.resampling import affordable_resamples
from benchgate.stats.signed_rank import least_p_signed_rank, paired_shift, signed_rank
from benchgate.stats.spread import finite_exp, pooled_robust_spread, robust_spread
from benchgate.stats.t_tests import effect_size, paired_t, two_sample_t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.suite import Judgment
    from benchgate.stats.bootstrap import RatioInterval
    from benchgate.stats.mann_whitney import MannWhitney
    from benchgate.stats.midranks import Shifts
    from benchgate.stats.t_tests import TTest

_TAIL = 0.95


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """How to compare.

    Attributes:
        alpha: false-alarm rate of the whole suite.
        power: probability of finding the detectable change.
        seed: seed of the resampling.
    """

    confidence: float
    alpha: float
    seed: int
    power: float = 0.8


def with_details(judgment: Judgment, settings: CompareSettings) -> Judgment:
    """Add the comparison to each row that is based on launches of both arms."""
    testable = [e for e in judgment.evidence if e.obstacle is None]
    level = settings.alpha / max(len(testable), 1)
    tails: dict[tuple[str, str], RatioInterval] = {}
    found = [_compare(e, settings, level, tails) for e in testable]
    q_values = _false_discovery(found)
    details = {
        e.key: replace(one, q=q) for e, one, q in zip(testable, found, q_values, strict=True)
    }
    rows = tuple(
        replace(row, detail=details.get((row.benchmark, row.metric, row.statistic)))
        for row in judgment.rows
    )
    return replace(judgment, rows=rows)


def _false_discovery(found: Sequence[Comparison]) -> list[float]:
    if not found:
        return []
    adjusted: list[float] = benjamini_hochberg(np.array([one.tests[0].p for one in found])).tolist()
    return adjusted


def _compare(
    evidence: Evidence,
    settings: CompareSettings,
    level: float,
    tails: dict[tuple[str, str], RatioInterval],
) -> Comparison:
    base, head = np.log(evidence.base), np.log(evidence.head)
    ratios, tests, notes = _of_launches(base, head, settings.confidence)
    if evidence.paired:
        rounds = _of_rounds(evidence.log_ratios(), settings.confidence)
        ratios, tests, notes = (*rounds[0], *ratios), (*rounds[1], *tests), (*rounds[2], *notes)
    key = (evidence.pair.id, evidence.metric.name)
    if key not in tails:
        tails[key] = _tail_ratio(evidence, settings)
    tail = tails[key]
    if tail.ratio is not None:
        ratios = (*ratios, RatioEstimate("p95 of all samples", tail.ratio, tail.interval))
    detectable, needed, unseen = _power(base, head, evidence, level, settings.power)
    size = effect_size(evidence.base, evidence.head)
    return Comparison(
        launches=(len(base), len(head)),
        ratios=ratios,
        tests=tests,
        effect=Effect(
            size.cliffs_delta,
            size.vargha_delaney_a,
            size.cohens_d,
            size.hedges_g,
            size.magnitude,
        ),
        q=None,
        power=settings.power,
        detectable_ratio=detectable,
        launches_needed=needed,
        notes=tuple(dict.fromkeys((*notes, *size.notes, *_of_tail(tail.notes), *unseen))),
    )


def _of_rounds(
    d: FloatArray, confidence: float
) -> tuple[tuple[RatioEstimate, ...], tuple[Significance, ...], tuple[str, ...]]:
    """Estimates and tests from the log ratios of the rounds, with notes on what is missing."""
    test, t = signed_rank(d[np.newaxis]), paired_t(d, confidence)
    least = least_launches((1 - confidence) / 2, "wilcoxon")
    few = (f"a rank interval needs {least} rounds, not {len(d)}",) if len(d) < least else ()
    ratios = (
        _shifted("Hodges-Lehmann, of rounds", paired_shift(d[np.newaxis], confidence), confidence),
        _mean_ratio("geometric mean, of rounds", t),
    )
    tests = (
        Significance(
            "Wilcoxon signed rank",
            float(test.p_two_sided[0]),
            float(test.p_greater[0]),
            float(test.p_less[0]),
        ),
        *_t_test("t of log ratios", t),
    )
    return ratios, tests, (*few, *t.notes)


def _of_launches(
    base: FloatArray, head: FloatArray, confidence: float
) -> tuple[tuple[RatioEstimate, ...], tuple[Significance, ...], tuple[str, ...]]:
    """Estimates and tests from the logs of the launches, ignoring rounds; notes on gaps."""
    x, y = base[np.newaxis], head[np.newaxis]
    welch = two_sample_t(base, head, confidence, equal_variance=False)
    shift = _shifted("Hodges-Lehmann, of launches", two_sample_shift(x, y, confidence), confidence)
    ratios = (shift, _mean_ratio("geometric mean, of launches", welch))
    least = least_launches((1 - confidence) / 2, "mann-whitney")
    few = f"a rank interval needs {least} v {least} launches, not {len(base)} v {len(head)}"
    best = mann_whitney(x, y)
    normal = mann_whitney(x, y, "asymptotic")
    tests = (
        *((_mann_whitney("Mann-Whitney, exact", best),) if best.exact[0] else ()),
        _mann_whitney("Mann-Whitney, continuity corrected", normal),
        Significance("Mann-Whitney, textbook", float(mann_whitney_classical(x, y)[0])),
        *_t_test("Welch's t of logs", welch),
    )
    return ratios, tests, (*(() if shift.interval else (few,)), *welch.notes)


def _mann_whitney(name: str, found: MannWhitney) -> Significance:
    return Significance(
        name, float(found.p_two_sided[0]), float(found.p_greater[0]), float(found.p_less[0])
    )


def _t_test(name: str, found: TTest) -> tuple[Significance, ...]:
    if found.p_two_sided is None:
        return ()
    return (Significance(name, found.p_two_sided, found.p_greater, found.p_less),)


def _shifted(name: str, shift: Shifts, confidence: float) -> RatioEstimate:
    low, high = float(shift.low[0]), float(shift.high[0])
    interval = None
    if math.isfinite(low) and math.isfinite(high):
        interval = Interval(finite_exp(low), finite_exp(high), confidence, "inverted rank test")
    return RatioEstimate(name, finite_exp(shift.estimate[0]), interval)


def _mean_ratio(name: str, found: TTest) -> RatioEstimate:
    ends = found.interval
    interval = ends and Interval(
        finite_exp(ends.low), finite_exp(ends.high), ends.confidence, f"{ends.method} on logs"
    )
    return RatioEstimate(name, finite_exp(found.estimate), interval)


def _of_tail(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Say that a tail row has no other figures."""
    return tuple(f"p{100 * _TAIL:g}: {note}" for note in notes)


def _tail_ratio(evidence: Evidence, settings: CompareSettings) -> RatioInterval:
    base = [launch.samples for launch in evidence.base_launches]
    head = [launch.samples for launch in evidence.head_launches]
    return ratio_of_percentile(
        base,
        head,
        _TAIL,
        settings.confidence,
        paired=evidence.paired,
        seed=settings.seed,
        resamples=affordable_resamples(sum(map(len, (*base, *head)))),
    )


def _power(
    base: FloatArray, head: FloatArray, evidence: Evidence, level: float, power: float
) -> tuple[float | None, int | None, tuple[str, ...]]:
    """The detectable ratio, the launches that would detect the margin, and notes."""
    n1, n2 = len(base), len(head)
    if min(n1, n2) < 2:
        return None, None, ()
    least_p = least_p_signed_rank(n1) if evidence.paired else least_p_mann_whitney(n1, n2)
    if evidence.paired:
        spread = robust_spread((head - base)[np.newaxis])
        detectable = detectable_ratio(spread, n1, level, power)
    else:
        spread = pooled_robust_spread(base[np.newaxis], head[np.newaxis])
        detectable = detectable_ratio_two_sample(spread, n1, n2, level, power)
    needed = int(
        launches_to_detect(
            spread,
            1 + evidence.margin,
            level,
            power,
            MOST_COUNTED,
            test="wilcoxon" if evidence.paired else "mann-whitney",
        )[0]
    )
    ratio = float(detectable[0])
    seen = least_p <= level and ratio <= MOST_DETECTABLE_RATIO
    few = "too few launches: even the largest change leaves p above alpha shared by all rows"
    return (
        ratio if seen else None,
        needed if needed <= MOST_COUNTED else None,
        () if least_p <= level else (few,),
    )

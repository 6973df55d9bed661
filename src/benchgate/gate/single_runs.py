"""Judges launches that share no rounds, by how much earlier runs of equal code differed.

If something changes on a machine between two runs, it shifts all launches of a run equally. No
test of launches can distinguish that from a change of the code; only the spread of other runs can.
A row is calibrated if enough earlier runs are known. Their mean and standard deviation then predict
the value of the next run of equal code (Hahn and Meeker, Statistical Intervals, 1991).

The prediction uses the standard deviation instead of a robust spread: an unusual run must widen the
prediction, because the head's run can be the next unusual one. Student's t is exact for it. With
the median absolute deviation of ten runs, three times as many unchanged builds fail as promised
(simulated).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.gate.estimates import (
    MOST_DETECTABLE_RATIO,
    Estimate,
    Finding,
    RowStage,
    by_length,
    by_lengths,
    paired_estimates,
    reaches,
    stored_estimates,
)
from benchgate.gate.evidence import NOTHING_MEASURED
from benchgate.gate.exact import compare_exact
from benchgate.gate.pair_rows import open_outcome
from benchgate.gate.suspects import is_large
from benchgate.model.metrics import THROUGHPUT, Kind
from benchgate.model.notes import TOO_FEW
from benchgate.model.policy import Outcome
from benchgate.model.row import Calibration
from benchgate.model.verdict import RUNS_NEEDED
from benchgate.stats import special
from benchgate.stats.detectable import least_launches
from benchgate.stats.mann_whitney import mann_whitney
from benchgate.stats.multiple_tests import holm
from benchgate.stats.signed_rank import signed_rank
from benchgate.stats.spread import finite_exp, moments
from benchgate.units import counted, format_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.gate.evidence import Evidence
    from benchgate.model.row import Row


_LEAST_SCREENED: Final = 5
"""With fewer rounds, all of them agree too often by chance."""
NOISE_FLOOR: Final = 1.0
"""The smallest change that counts if nobody knows how much runs differ: a factor of 2.

Of unchanged builds of three to ten benchmarks, recorded on busy machines, 2 to 5 % have a benchmark
that seems slower by this factor if a single launch of each side is compared, but 40 to 65 % have
one that seems slower by 20 %.
"""


LEAST_PAIRED: Final = 5
"""Rounds in which all values of one side must be zero, and none of the other, to decide a row.

Of values that only chance sorts into two sides of 5, one of 252 sortings puts the zeros there.
"""


def judge_alone(evidence: Evidence, needed: int) -> tuple[Outcome, tuple[str, ...]]:
    """Compare the values of two sides, of which one has a single launch, with a threshold.

    Args:
        evidence: with values above 0.
        needed: the number of launches of each side that a test needs.

    Returns:
        The outcome, and notes on it.
    """
    least = 1 + max(evidence.margin, NOISE_FLOOR)
    before, after = (np.log(np.median(side)) for side in (evidence.base, evidence.head))
    worse = evidence.worse_sign * float(after - before)
    why = "no samples" if evidence.metric.kind is Kind.SUMMARY else "one launch"
    unknown = f"{why}: run-to-run noise is unknown"
    counts = f"only a change by a factor of {least:g} counts"
    notes = (f"{unknown}, so {counts}; a test needs {needed} launches of each side",)
    if reaches(worse, least - 1, 1):
        return Outcome.REGRESSED, notes
    return (Outcome.IMPROVED if reaches(worse, least - 1, -1) else Outcome.NOT_TESTED), notes


def with_zeros(row: Row, evidence: Evidence) -> Row:
    """Decide a row without a test if a side has nothing but zeros, such as an error ratio.

    Times of 0 decide nothing: nobody can do work in no time. Nor does a throughput of 0 of both.

    Args:
        row: that of the evidence, not tested.
    """
    base, head = evidence.base, evidence.head
    is_idle = evidence.metric.name == THROUGHPUT.name and not (base.any() or head.any())
    if evidence.obstacle == NOTHING_MEASURED or is_idle:
        return row
    if evidence.is_tail or min(base.size, head.size) < (LEAST_PAIRED if evidence.paired else 1):
        return row
    if (base.any() and head.any()) or (_overlap(base, head) and (base.any() or head.any())):
        return row
    found = compare_exact(base, head, evidence.margin, evidence.metric.better)
    return replace(
        row,
        outcome=found.outcome,
        test="threshold",
        advisory=not evidence.paired,
        notes=found.notes,
    )


def _overlap(base: FloatArray, head: FloatArray) -> bool:
    return bool(head.min() <= base.max() and base.min() <= head.max())


_MISSED = 0.1
_QUARTER = 0.25


@dataclass(frozen=True, slots=True)
class Forecast:
    """What calibrated runs predict for one row, in log ratios that are > 0 if the head is worse.

    Attributes:
        estimate: the head's run against the mean of the earlier runs. The interval covers the
            change of the code, and includes the difference between runs.
        against_newest: the head's run against only the newest earlier run.
        floor: the smallest change that differences between runs do not explain, as a fraction.
        p: one-sided probability that a run of equal code lies as far off.
    """

    estimate: Estimate
    against_newest: float
    floor: float
    p: float

    def reaches(self, margin: float, sign: int) -> bool:
        """Whether it shows a change in the direction of `sign` that reaches the margin.

        The newest run must agree: it also contains changes merged since the others, which the
        head did not cause.
        """
        least = max(margin, self.floor)
        return self.estimate.reaches(least, sign) and reaches(self.against_newest, least, sign)

    def doubts(self, margin: float) -> bool:
        """Whether the newest run alone contradicts a change that would count."""
        least = max(margin, self.floor)
        return any(self.estimate.reaches(least, s) and not self.reaches(margin, s) for s in (1, -1))


def run_value(launches: FloatArray, count: int) -> FloatArray:
    """Return the value of a run: the median of the logs of its first launches.

    Args:
        launches: shape (..., n), > 0.
        count: number of launches to use, the same as the head has. A value from fewer launches
            spreads more, and the head's value must spread like the values it is compared with.

    Returns:
        Shape (...).
    """
    value: FloatArray = np.median(np.log(launches[..., :count]), axis=-1)
    return value


def prediction_reach(spread: float, runs: int, alpha: float) -> float:
    """How far above the mean of `runs` values the next one lies with probability alpha.

    It is t(1 - alpha, runs - 1) spread sqrt(1 + 1 / runs), for normal values.

    Args:
        spread: standard deviation of the values, ddof = 1, finite, >= 0.
        runs: at least 2.
        alpha: within (0, 1/2).
    """
    # From the lower tail, which is precise even if alpha is small.
    return -float(special.stdtrit(runs - 1, alpha)) * spread * math.sqrt(1 + 1 / runs)


def foretell(evidence: Evidence, *, confidence: float, level: float) -> Forecast | None:
    """Compare the head's run with the earlier runs; None if too few are known.

    Args:
        confidence: of the interval.
        level: one-sided level of this row's test: alpha / rows.
    """
    n = len(evidence.runs)
    if n < RUNS_NEEDED:
        return None
    known = moments(evidence.worse_sign * evidence.runs)
    spread = known.sd or 0.0
    head = evidence.worse_sign * float(run_value(evidence.head, len(evidence.head)))
    reach = prediction_reach(spread, n, level)
    half_width = prediction_reach(spread, n, (1 - confidence) / 2)
    detectable = finite_exp(reach + prediction_reach(spread, n, _MISSED))
    change = head - known.mean
    return Forecast(
        Estimate(
            change,
            change - half_width,
            change + half_width,
            detectable if detectable <= MOST_DETECTABLE_RATIO else None,
        ),
        head - evidence.worse_sign * float(evidence.runs[0]),
        finite_exp(reach) - 1,
        _p(change, spread, n),
    )


def is_steady(evidence: Evidence, *, confidence: float) -> bool:
    """Whether a head of equal code would be judged unchanged at least half of the time.

    The margin must exceed the sum of two things: the half-width of the prediction interval, and the
    distance that the head itself stays within half of the time.

    Args:
        confidence: of the interval that has to lie inside the margin.
    """
    n = len(evidence.runs)
    if n < RUNS_NEEDED:
        return False
    spread = moments(evidence.runs).sd or 0.0
    half_width = prediction_reach(spread, n, (1 - confidence) / 2)
    return half_width + prediction_reach(spread, n, _QUARTER) < math.log1p(evidence.margin)


def _p(change: float, spread: float, runs: int) -> float:
    """Invert `prediction_reach`; if all runs are equal, any change is certain."""
    if not spread:
        return 0.0 if change else 0.5
    return float(special.stdtr(runs - 1, -abs(change) / (spread * math.sqrt(1 + 1 / runs))))


def calibration_of(evidence: Evidence, forecast: Forecast | None) -> Calibration | None:
    """Describe the earlier runs for the verdict; None for arms that were measured in turn."""
    if evidence.paired:
        return None
    n = len(evidence.runs)
    return Calibration(
        runs=n,
        spread=moments(evidence.runs).sd if n else None,
        floor=forecast.floor if forecast else None,
    )


def judge_at_once(
    evidences: Sequence[Evidence], *, alpha: float, confidence: float
) -> list[Finding]:
    """Judge rows on all their launches; no row needs more, because no more can be measured."""
    if not evidences:
        return []
    level = alpha / len(evidences)
    one_sided = np.ones(len(evidences))
    estimates: dict[int, Estimate | None] = {}
    for judge, chosen in (
        (_judge_paired, [i for i, e in enumerate(evidences) if e.paired]),
        (_judge_stored, [i for i, e in enumerate(evidences) if not e.paired]),
    ):
        p_values, found = judge([evidences[i] for i in chosen], confidence, level)
        one_sided[chosen] = p_values
        estimates.update(zip(chosen, found, strict=True))
    adjusted = holm(np.minimum(1.0, 2 * one_sided)).tolist()
    return [
        _finding(
            evidence,
            estimates[i],
            foretell(evidence, confidence=confidence, level=level),
            (float(one_sided[i]), adjusted[i]),
            alpha=alpha,
            level=level,
        )
        for i, evidence in enumerate(evidences)
    ]


def least_rounds(level: float, *, paired: bool) -> int:
    """How many rounds, or launches of each side, a row needs so that a test can decide it.

    Args:
        level: of the row's test, two-sided: alpha / rows.
    """
    return least_launches(level / 2, "wilcoxon" if paired else "mann-whitney")


def _judge_paired(
    evidences: Sequence[Evidence], confidence: float, level: float
) -> tuple[list[float], list[Estimate | None]]:
    ratios = [e.worse_log_ratios() for e in evidences]
    p_values = [1.0] * len(evidences)
    for indices, d in by_length(ratios):
        test = signed_rank(d)
        for index, p in zip(indices, np.minimum(test.p_greater, test.p_less), strict=True):
            p_values[index] = float(p)
    margins = [e.margin for e in evidences]
    return p_values, paired_estimates(ratios, margins, confidence=confidence, level=level)


def _judge_stored(
    evidences: Sequence[Evidence], confidence: float, level: float
) -> tuple[list[float], list[Estimate | None]]:
    base = [e.worse_sign * np.log(e.base) for e in evidences]
    head = [e.worse_sign * np.log(e.head) for e in evidences]
    p_values = [1.0] * len(evidences)
    for indices, x, y in by_lengths(base, head):
        test = mann_whitney(x, y)
        for index, p in zip(indices, np.minimum(test.p_greater, test.p_less), strict=True):
            p_values[index] = float(p)
    return p_values, stored_estimates(base, head, confidence=confidence, level=level)


def _finding(
    evidence: Evidence,
    of_launches: Estimate | None,
    forecast: Forecast | None,
    p_values: tuple[float, float],
    *,
    alpha: float,
    level: float,
) -> Finding:
    p, p_adjusted = p_values
    if forecast and evidence.is_alone:
        p, p_adjusted = forecast.p, min(1.0, forecast.p * alpha / level)
    elif forecast:
        # Both kinds of chance must be ruled out: between launches, and between runs.
        p, p_adjusted = max(p, forecast.p), max(p_adjusted, min(1.0, forecast.p * alpha / level))
    estimate = forecast.estimate if forecast else of_launches
    changed = forecast or estimate
    needed = least_rounds(level, paired=evidence.paired)
    outcome = open_outcome(settles=evidence.settles)
    notes: tuple[str, ...] = ()
    unconfirmed = 0
    if changed and p_adjusted <= alpha and changed.reaches(evidence.margin, 1):
        outcome = Outcome.REGRESSED
    elif changed and p_adjusted <= alpha and changed.reaches(evidence.margin, -1):
        outcome = Outcome.IMPROVED
    elif estimate and estimate.inside(evidence.margin):
        outcome = Outcome.UNCHANGED
    elif evidence.is_alone and not forecast:
        outcome, notes = judge_alone(evidence, needed)
    elif evidence.rounds < needed:
        outcome = Outcome.NOT_TESTED
        unit = "round" if evidence.paired else "launch"
        had = counted(evidence.rounds, unit)
        of_each = "" if evidence.paired else " of each side"
        notes = (f"{TOO_FEW}: {had}, and a test needs {needed}{of_each}",)
        unconfirmed = needed - evidence.rounds if _is_suspect(evidence) else 0
    elif forecast and forecast.doubts(evidence.margin):
        against_newest = finite_exp(evidence.worse_sign * forecast.against_newest)
        notes = (f"but {format_change(against_newest)} against only the newest of them",)
    return Finding(
        outcome,
        RowStage.DONE,
        estimate,
        0,
        evidence.rounds,
        p,
        p_adjusted,
        notes,
        calibration_of(evidence, forecast),
        unconfirmed,
    )


def _is_suspect(evidence: Evidence) -> bool:
    """Whether all rounds agree that it got worse, and there are enough for a screen to tell."""
    if not evidence.paired or evidence.is_tail or evidence.rounds < _LEAST_SCREENED:
        return False
    return bool(is_large(float(evidence.worse_log_ratios().min()), evidence.margin))

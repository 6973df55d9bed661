"""Judges rows whose launches are all measured: one two-sided test each, with Holm over all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.alone import judge_alone
from benchgate.gate.batches import by_length, by_lengths
from benchgate.gate.calibration import calibration_of, foretell
from benchgate.gate.estimates import paired_estimates, stored_estimates
from benchgate.gate.findings import Finding, Stage
from benchgate.gate.to_settle import open_outcome
from benchgate.model.policy import Outcome
from benchgate.report.words import TOO_FEW
from benchgate.stats.differences import least_launches
from benchgate.stats.rank_tests import holm, mann_whitney, signed_rank
from benchgate.stats.spread import finite_exp
from benchgate.units import counted, format_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gate.calibration import Forecast
    from benchgate.gate.estimates import Estimate
    from benchgate.gate.evidence import Evidence


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
    elif forecast and forecast.doubts(evidence.margin):
        against_newest = finite_exp(evidence.worse_sign * forecast.against_newest)
        notes = (f"but {format_change(against_newest)} against only the newest of them",)
    return Finding(
        outcome,
        Stage.DONE,
        estimate,
        0,
        evidence.rounds,
        p,
        p_adjusted,
        notes,
        calibration_of(evidence, forecast),
    )

"""Rows measured in shared rounds: screened, confirmed on fresh rounds, or settled.

The outcome follows from the rounds alone, so a saved run gives the same again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.gate.estimates import paired_estimates
from benchgate.gate.evidence import TAIL_STATISTICS
from benchgate.gate.findings import Finding, Stage
from benchgate.gate.waves import confirm, find_suspects
from benchgate.model.verdict import Outcome
from benchgate.stats.power import least_launches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.gate.estimates import Estimate
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.waves import Suspect, WaveSettings


def judge_in_waves(
    evidences: Sequence[Evidence], waves: WaveSettings, confidence: float
) -> list[Finding]:
    """Judge rows by what their rounds so far show, and say what each still needs."""
    ratios = [evidence.worse_log_ratios() for evidence in evidences]
    margins = [evidence.margin for evidence in evidences]
    level = waves.alpha / max(len(evidences), 1)
    suspects = find_suspects(ratios, margins, waves)
    tests = confirm(ratios, suspects)
    on_test = paired_estimates(
        [s.fresh(d) if s else d[:0] for s, d in zip(suspects, ratios, strict=True)],
        margins,
        confidence=confidence,
        level=level,
    )
    # What is not confirmed may still be settled, by every round that did not choose it.
    on_all = paired_estimates(
        [d[s.start :] if s else d for s, d in zip(suspects, ratios, strict=True)],
        margins,
        confidence=confidence,
        level=level,
    )
    rows = map(_WaveRow, evidences, suspects, tests, on_test, on_all)
    return [_confirmed(row, waves) or _unconfirmed(row, waves) for row in rows]


@dataclass(frozen=True, slots=True)
class _WaveRow:
    """One row with all that the waves say of it.

    Attributes:
        test: (p, p adjusted) of a suspect.
        on_test: estimated on the rounds of the test; None for what is no suspect.
        on_all: estimated on all rounds that did not make it a suspect.
    """

    evidence: Evidence
    suspect: Suspect | None
    test: tuple[float, float] | None
    on_test: Estimate | None
    on_all: Estimate | None


def _confirmed(row: _WaveRow, waves: WaveSettings) -> Finding | None:
    """Give the finding where the test shows a change that reaches the margin, else None."""
    suspect, estimate = row.suspect, row.on_test
    if suspect is None or row.test is None or estimate is None:
        return None
    p, p_adjusted = row.test
    if p_adjusted > waves.alpha or not estimate.reaches(row.evidence.margin, suspect.sign):
        return None
    used = suspect.fresh(row.evidence.worse_log_ratios())
    outcome = Outcome.REGRESSED if suspect.sign > 0 else Outcome.IMPROVED
    agreeing = int((suspect.sign * used > 0).sum())
    note = f"{_direction(suspect)} in {agreeing} of {len(used)} rounds"
    return Finding(outcome, Stage.DONE, estimate, suspect.start, len(used), p, p_adjusted, (note,))


def _unconfirmed(row: _WaveRow, waves: WaveSettings) -> Finding:
    """Judge a row in which no change was confirmed."""
    evidence, suspect = row.evidence, row.suspect
    p, p_adjusted = row.test or (None, None)
    start = suspect.start if suspect else 0
    rounds, used = evidence.rounds, evidence.rounds - start
    outcome, stage = Outcome.INCONCLUSIVE, Stage.SETTLE
    notes: tuple[str, ...] = ()
    least = least_launches(waves.alpha, "wilcoxon")
    if suspect and used < suspect.rounds:
        stage = Stage.CONFIRM
        looked = f"looked {_direction(suspect)} at first"
        notes = (f"{looked}; {used} of {suspect.rounds} rounds to confirm it",)
    elif row.on_all and row.on_all.inside(evidence.margin):
        outcome, stage = Outcome.UNCHANGED, Stage.DONE
    elif suspect is None and rounds < least:
        outcome, notes = Outcome.NOT_TESTED, (f"{rounds} rounds: a test needs {least}",)
        stage = Stage.SCREEN if rounds < waves.screen_rounds else Stage.SETTLE
    if stage is Stage.SETTLE and _is_hopeless(evidence, row.on_all, waves):
        stage = Stage.DONE
    return Finding(outcome, stage, row.on_all, start, used, p, p_adjusted, notes)


def _direction(suspect: Suspect) -> str:
    return "slower" if suspect.sign > 0 else "faster"


def _is_hopeless(evidence: Evidence, estimate: Estimate | None, waves: WaveSettings) -> bool:
    """Whether more rounds, up to the limit, are not expected to settle a row.

    The first rounds say little of the spread, so a location is given twice as many before it
    is given up; a tail, which is always wider, is not.
    """
    if evidence.rounds >= waves.max_rounds:
        return True
    if evidence.statistic not in TAIL_STATISTICS and evidence.rounds < waves.look(1):
        return False
    needed = estimate.needed if estimate else None
    return needed is None or needed > waves.max_rounds

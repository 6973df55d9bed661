"""Rows measured in shared rounds: screened, confirmed on fresh rounds, or settled.

The outcome follows from the rounds alone, so a saved run gives the same again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from benchgate.gate.estimates import paired_estimates
from benchgate.gate.findings import Finding, Stage
from benchgate.gate.waves import TESTS, WaveRows, confirm, find_suspects
from benchgate.model.verdict import Outcome
from benchgate.stats.power import least_launches
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.gate.estimates import Estimate
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.waves import Suspect, WaveSettings

# Looked at after every round, an interval must be wider to hold as often as it says: with this
# share of its errors, a true change of the margin is called unchanged less often than allowed.
LOOKING_SHARE = 0.5


def judge_in_waves(
    evidences: Sequence[Evidence], waves: WaveSettings, confidence: float
) -> list[Finding]:
    """Judge rows by what their rounds so far show, and say what each still needs."""
    ratios = [evidence.worse_log_ratios() for evidence in evidences]
    margins = [evidence.margin for evidence in evidences]
    suspects = find_suspects(WaveRows(ratios, margins, [e.is_tail for e in evidences]), waves)
    level = waves.alpha / max(len(evidences), 1)
    estimated = partial(paired_estimates, margins=margins, level=level)
    tests = [
        _tests(ratios, suspects, test, partial(estimated, confidence=confidence))
        for test in range(TESTS)
    ]
    starts = [_start(s, d) for s, d in zip(suspects, ratios, strict=True)]
    on_all = estimated(
        [d[start:] for start, d in zip(starts, ratios, strict=True)],
        confidence=1 - (1 - confidence) * LOOKING_SHARE,
    )
    rows = map(_WaveRow, evidences, ratios, suspects, zip(*tests, strict=True), starts, on_all)
    return [_confirmed(row, waves) or _unconfirmed(row, waves) for row in rows]


@dataclass(frozen=True, slots=True)
class _Test:
    """One of a suspect's tests, on the fresh rounds that are there.

    Attributes:
        count: how many rounds it was done on.
    """

    count: int
    p: float
    p_adjusted: float
    estimate: Estimate


def _tests(
    ratios: Sequence[FloatArray],
    suspects: Sequence[Suspect | None],
    test: int,
    estimated: partial[list[Estimate | None]],
) -> list[_Test | None]:
    """Do the first or the second test of every suspect that has rounds for it."""
    fresh = [s.fresh(d, test) if s else d[:0] for s, d in zip(suspects, ratios, strict=True)]
    return [
        _Test(len(d), *p_values, estimate) if p_values and estimate else None
        for d, p_values, estimate in zip(
            fresh, confirm(ratios, suspects, test), estimated(fresh), strict=True
        )
    ]


def _start(suspect: Suspect | None, ratios: FloatArray) -> int:
    """Index of the first round that a row is estimated on where no change was confirmed.

    That is every round which did not make it a suspect, or all until there is such a one.
    """
    return suspect.start if suspect and len(ratios) > suspect.start else 0


@dataclass(frozen=True, slots=True)
class _WaveRow:
    """One row with all that the waves say of it.

    Attributes:
        ratios: of all its rounds.
        tests: of a suspect; None for each that it has no rounds for.
        start: index of the first round that `on_all` is estimated on.
    """

    evidence: Evidence
    ratios: FloatArray
    suspect: Suspect | None
    tests: tuple[_Test | None, ...]
    start: int
    on_all: Estimate | None


def _confirmed(row: _WaveRow, waves: WaveSettings) -> Finding | None:
    """Give the finding where a test shows a change that reaches the margin, else None.

    What is shown before the last round of the test is open all the same: the test holds its
    level when it is done once, on rounds whose number was fixed or that the budget cut short.
    """
    suspect = row.suspect
    if suspect is None:
        return None
    for planned, test in zip(suspect.rounds, row.tests, strict=False):
        if test is None or test.p_adjusted > waves.alpha:
            continue
        if not test.estimate.reaches(row.evidence.margin, suspect.sign):
            continue
        fresh = row.ratios[suspect.start : suspect.start + test.count]
        agreeing = int((suspect.sign * fresh > 0).sum())
        return Finding(
            Outcome.REGRESSED if suspect.sign > 0 else Outcome.IMPROVED,
            Stage.DONE if test.count == planned else Stage.CONFIRM,
            test.estimate,
            suspect.start,
            test.count,
            test.p,
            test.p_adjusted,
            (f"{_direction(row, suspect)} in {agreeing} of {test.count} rounds",),
        )
    return None


def _unconfirmed(row: _WaveRow, waves: WaveSettings) -> Finding:
    """Judge a row in which no change was confirmed."""
    last = next((test for test in reversed(row.tests) if test), None)
    used = len(row.ratios) - row.start
    finding = Finding(
        Outcome.INCONCLUSIVE,
        Stage.DONE,
        row.on_all,
        row.start,
        used,
        last.p if last else None,
        last.p_adjusted if last else None,
    )
    is_first_test_over = not row.suspect or used >= row.suspect.rounds[0]
    if is_first_test_over and row.on_all and row.on_all.inside(row.evidence.margin):
        return replace(finding, outcome=Outcome.UNCHANGED)
    if row.suspect and row.suspect.missing(row.ratios):
        return _awaiting_confirmation(finding, row, row.suspect)
    least = least_launches(waves.alpha, "wilcoxon")
    is_screened = len(row.ratios) >= waves.screen_rounds
    if used < least and not (is_screened and not row.evidence.settles):
        note = f"{counted(used, 'round')}: a test needs {least}"
        finding = replace(finding, outcome=Outcome.NOT_TESTED, notes=(note,))
    if not is_screened:
        return replace(finding, stage=Stage.SCREEN)
    if row.evidence.settles and _can_settle(row, waves):
        return replace(finding, stage=Stage.SETTLE)
    return finding


def _awaiting_confirmation(finding: Finding, row: _WaveRow, suspect: Suspect) -> Finding:
    missing, estimate = suspect.missing(row.ratios), finding.estimate
    if estimate:
        needed = max(estimate.needed or 0, finding.count + missing)
        estimate = replace(estimate, needed=needed)
    planned = suspect.rounds[-1]
    looked = f"looked {_direction(row, suspect)} at first"
    note = f"{looked}; {planned - missing} of {planned} rounds to confirm it"
    return replace(finding, stage=Stage.CONFIRM, estimate=estimate, notes=(note,))


def _direction(row: _WaveRow, suspect: Suspect) -> str:
    worse, better = ("slower", "faster") if row.evidence.metric.unit == "s" else ("worse", "better")
    return worse if suspect.sign > 0 else better


def _can_settle(row: _WaveRow, waves: WaveSettings) -> bool:
    """Whether more rounds, up to the limit, are expected to settle a row.

    The first rounds say little of the spread: a row is given twice as many before it is given up.
    """
    if len(row.ratios) >= waves.most_rounds:
        return False
    if len(row.ratios) < waves.look(1):
        return True
    needed = row.on_all.needed if row.on_all else None
    return needed is not None and row.start + needed <= waves.most_rounds

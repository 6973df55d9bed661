"""Judges rows by the rounds that the waves gave them, and says what each row still needs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.estimates import Finding, RowStage, paired_estimates
from benchgate.gate.suspects import MARGIN_SHARE
from benchgate.gate.waves import (
    TESTS,
    WaveRows,
    confirm,
    find_suspects,
    lacking_rounds,
    late_test,
    launch_test,
    rounds_to_confirm,
)
from benchgate.model.notes import CONFIRMED, TOO_FEW
from benchgate.model.policy import Outcome
from benchgate.stats import special
from benchgate.stats.detectable import detectable_ratio, launches_needed, least_launches
from benchgate.stats.signed_rank import MAX_PAIRS
from benchgate.stats.spread import robust_spread
from benchgate.units import RATE_UNIT, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.gate.estimates import Estimate
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.waves import Suspect, WaveSettings

_MOST_FORETOLD = 1_000_000


def is_within_reach(
    d: FloatArray, estimate: Estimate, margin: float, *, confidence: float, level: float, most: int
) -> bool:
    """Whether this many rounds can still show that a row is inside the margin, or beyond it.

    Inside: if the interval will be narrow enough for a row that did not change; how close a row
    lies to the margin is only known after that many rounds. Beyond: see `can_show_change`.

    Args:
        d: the row's log ratios, shape (n,), n >= 2.
        confidence: of the interval that has to lie inside.
        level: one-sided level of this row's test.
        most: number of rounds.
    """
    needed = launches_needed(robust_spread(d[np.newaxis]), math.log1p(margin), confidence, most)
    return bool(needed[0] <= most) or can_show_change(d, estimate, margin, level, most)


def can_show_change(
    d: FloatArray, estimate: Estimate, margin: float, level: float, most: int
) -> bool:
    """Whether the estimate reaches the margin, and this many rounds can rule out chance."""
    seen = math.log(detectable_ratio(robust_spread(d[np.newaxis]), most, level)[0])
    return abs(estimate.value) >= max(math.log1p(margin), seen)


def foretold(d: FloatArray, estimate: Estimate, margin: float, confidence: float) -> int | None:
    """Total rounds that would separate the estimate from the margin; None beyond a million.

    With that many rounds Student's t is close to normal: n = (z s / distance) ** 2.
    """
    distance = abs(abs(estimate.value) - math.log1p(margin))
    if distance == 0:
        return None
    z = -float(special.ndtri((1 - confidence) / 2))
    widest = z * float(robust_spread(d[np.newaxis])[0])
    if widest > distance * math.sqrt(_MOST_FORETOLD):
        return None
    return math.ceil((widest / distance) ** 2)


# An interval that is checked after every round must be wider to be right as often as promised. With
# this share of its errors, a true change of the margin is called unchanged less often than allowed.
LOOKING_SHARE = 2 / 3
# The same share, if rows may be checked until the last of the late looks.
LOOKING_LONGER_SHARE = 0.125


def judge_in_waves(
    evidences: Sequence[Evidence], waves: WaveSettings, confidence: float
) -> list[Finding]:
    """Judge rows by their rounds so far, and say what each row still needs."""
    ratios = [evidence.worse_log_ratios() for evidence in evidences]
    margins = [evidence.margin for evidence in evidences]
    suspects = find_suspects(WaveRows(ratios, margins, [e.is_tail for e in evidences]), waves)
    level = waves.alpha / max(len(evidences), 1)
    estimated = partial(paired_estimates, margins=margins, level=level)
    tested = partial(estimated, confidence=confidence)
    tests = [_tests(ratios, suspects, test, waves, tested) for test in range(TESTS)]
    late = [_late_tests(ratios, look, waves, tested) for look in waves.late_looks]
    cut_short = launch_test(evidences, lacking_rounds(evidences, suspects, waves), waves)
    on_launches = tested([d if i in cut_short else d[:0] for i, d in enumerate(ratios)])
    # If no change was confirmed, an estimate uses the rounds that made no suspect of a row, or all.
    starts = [
        s.start if s and len(d) > s.start else 0 for s, d in zip(suspects, ratios, strict=True)
    ]
    share = LOOKING_LONGER_SHARE if waves.until_decided else LOOKING_SHARE
    terms = _Terms(waves, 1 - (1 - confidence) * share, level / waves.families / 2)
    on_all = estimated(
        [d[start:] for start, d in zip(starts, ratios, strict=True)], confidence=terms.confidence
    )
    rows = [
        _WaveRow(
            evidence,
            ratios[i],
            suspects[i],
            tuple(of_all[i] for of_all in tests),
            tuple(of_all[i] for of_all in late),
            _joined([ratios[i]], [cut_short.get(i)], [on_launches[i]])[0],
            starts[i],
            on_all[i],
        )
        for i, evidence in enumerate(evidences)
    ]
    findings = [_confirmed(row, waves) or _unconfirmed(row, terms) for row in rows]
    return [_foreseen(finding, row, terms) for row, finding in zip(rows, findings, strict=True)]


@dataclass(frozen=True, slots=True)
class _Terms:
    """The settings that a row is judged by.

    Attributes:
        confidence: of the interval that has to lie inside the margin.
        level: one-sided level of one row's test at a late look.
    """

    waves: WaveSettings
    confidence: float
    level: float


@dataclass(frozen=True, slots=True)
class _Test:
    """One of a suspect's tests, on the fresh rounds that are available.

    Attributes:
        count: the number of rounds that it used.
    """

    count: int
    p: float
    p_adjusted: float
    estimate: Estimate


def _tests(
    ratios: Sequence[FloatArray],
    suspects: Sequence[Suspect | None],
    test: int,
    waves: WaveSettings,
    estimated: partial[list[Estimate | None]],
) -> list[_Test | None]:
    """Run the first or the second test of every suspect that has enough rounds for it."""
    fresh = [s.fresh(d, test) if s else d[:0] for s, d in zip(suspects, ratios, strict=True)]
    return _joined(fresh, confirm(ratios, suspects, test, waves), estimated(fresh))


def _late_tests(
    ratios: Sequence[FloatArray],
    look: int,
    waves: WaveSettings,
    estimated: partial[list[Estimate | None]],
) -> list[_Test | None]:
    """Test every row that has as many rounds as a late look needs."""
    judged = [d[:look] if len(d) >= look else d[:0] for d in ratios]
    return _joined(judged, late_test(ratios, look, waves), estimated(judged))


def _joined(
    judged: Sequence[FloatArray],
    p_values: Sequence[tuple[float, float] | None],
    estimates: Sequence[Estimate | None],
) -> list[_Test | None]:
    return [
        _Test(len(d), *both, estimate) if both and estimate else None
        for d, both, estimate in zip(judged, p_values, estimates, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _WaveRow:
    """One row with all results of the waves.

    Attributes:
        ratios: the log ratios of all its rounds.
        tests: the tests of a suspect; None for each test that lacks rounds.
        late: the tests of the late looks; None for each test that lacks rounds.
        cut_short: the test on all its rounds if it lacks rounds for the others.
        start: index of the first round that `on_all` uses.
    """

    evidence: Evidence
    ratios: FloatArray
    suspect: Suspect | None
    tests: tuple[_Test | None, ...]
    late: tuple[_Test | None, ...]
    cut_short: _Test | None
    start: int
    on_all: Estimate | None


def _confirmed(row: _WaveRow, waves: WaveSettings) -> Finding | None:
    """Return the finding if a test shows a change that reaches the margin, else None.

    A change that shows before the test's last round stays open: the test keeps its level only if it
    is run once, on a fixed number of rounds or on those before the budget ended.
    """
    suspect = row.suspect
    if suspect:
        for planned, test in zip(suspect.rounds, row.tests, strict=False):
            if test and _shows(test, suspect.sign, row, waves):
                stage = RowStage.DONE if test.count == planned else RowStage.CONFIRM
                return _changed(row, suspect.sign, test, suspect.start, stage)
    for test in row.late:
        if test and _shows(test, sign := 1 if test.estimate.value > 0 else -1, row, waves):
            return _changed(row, sign, test, 0, RowStage.DONE)
    if row.cut_short and _shows(row.cut_short, 1, row, waves):
        stage = RowStage.CONFIRM if row.suspect else RowStage.SETTLE
        found = _changed(row, 1, row.cut_short, 0, stage)
        early = "measuring ended early: decided by the gap between the launches of both sides"
        return replace(found, test="mann-whitney", notes=(*found.notes, early))
    return None


def _shows(test: _Test, sign: int, row: _WaveRow, waves: WaveSettings) -> bool:
    """Whether a test rules out chance, and its estimate reaches the margin."""
    return test.p_adjusted <= waves.alpha and test.estimate.reaches(row.evidence.margin, sign)


def _changed(row: _WaveRow, sign: int, test: _Test, start: int, stage: RowStage) -> Finding:
    """Return the finding for a change that a test has shown."""
    agreeing = int((sign * row.ratios[start : start + test.count] > 0).sum())
    return Finding(
        Outcome.REGRESSED if sign > 0 else Outcome.IMPROVED,
        stage,
        test.estimate,
        start,
        test.count,
        test.p,
        test.p_adjusted,
        (f"{CONFIRMED}{agreeing} of {test.count} rounds",),
    )


def _unconfirmed(row: _WaveRow, terms: _Terms) -> Finding:
    """Judge a row for which no change was confirmed."""
    waves = terms.waves
    last = next((test for test in reversed((*row.tests, *row.late)) if test), None)
    used = len(row.ratios) - row.start
    finding = Finding(
        Outcome.INCONCLUSIVE,
        RowStage.DONE,
        row.on_all,
        row.start,
        used,
        last.p if last else None,
        last.p_adjusted if last else None,
    )
    is_first_test_over = not row.suspect or used >= row.suspect.first_rounds
    if is_first_test_over and row.on_all and row.on_all.inside(row.evidence.margin):
        return replace(finding, outcome=Outcome.UNCHANGED)
    if row.suspect and row.suspect.missing(len(row.ratios)):
        return _awaiting_confirmation(finding, row, row.suspect)
    least = least_launches(waves.alpha, "wilcoxon")
    is_screened = len(row.ratios) >= waves.screen_rounds
    settles = row.evidence.settles or waves.until_decided
    if is_screened and not settles:
        return replace(finding, outcome=Outcome.NOT_SETTLED)
    if used < least:
        note = f"{TOO_FEW}: {counted(used, 'round')}, and a test needs {least}"
        finding = replace(finding, outcome=Outcome.NOT_TESTED, notes=(note,))
    if not is_screened:
        return replace(finding, stage=RowStage.SCREEN)
    stage = _stage_of_open(row, terms)
    if stage is RowStage.DONE and waves.until_decided:
        return _given_up(finding, row, terms)
    return _awaiting_late_look(replace(finding, stage=stage), row, waves.late_looks[0])


def _awaiting_confirmation(finding: Finding, row: _WaveRow, suspect: Suspect) -> Finding:
    missing, estimate = suspect.missing(len(row.ratios)), finding.estimate
    if estimate:
        needed = max(estimate.needed or 0, finding.count + missing)
        estimate = replace(estimate, needed=needed)
    planned = suspect.rounds[-1]
    looked = f"looked {_direction(row, suspect.sign)} at first"
    note = f"{looked}; {planned - missing} of the {planned} rounds that confirm it"
    unconfirmed = missing if suspect.sign > 0 else 0
    return replace(
        finding, stage=RowStage.CONFIRM, estimate=estimate, notes=(note,), unconfirmed=unconfirmed
    )


def _awaiting_late_look(finding: Finding, row: _WaveRow, look: int) -> Finding:
    """Say what confirms a row that looks worse, if only the late look can."""
    if finding.stage is not RowStage.CONFIRM or row.on_all is None or row.on_all.value < 0:
        return finding
    rounds = len(row.ratios)
    note = f"looks {_direction(row, 1)}; {rounds} of the {look} rounds that confirm it"
    return replace(finding, notes=(*finding.notes, note), unconfirmed=look - rounds)


def _direction(row: _WaveRow, sign: int) -> str:
    is_speed = row.evidence.metric.unit in {"s", RATE_UNIT}
    worse, better = ("slower", "faster") if is_speed else ("worse", "better")
    return worse if sign > 0 else better


def _stage_of_open(row: _WaveRow, terms: _Terms) -> RowStage:
    """Tell whether more rounds, up to the limit, will probably settle a row.

    The first rounds show little of the spread. So a row gets twice as many before it is given up,
    or as many as the first late look needs if rows are measured until they are decided.
    """
    waves, rounds, first = terms.waves, len(row.ratios), terms.waves.late_looks[0]
    if waves.until_decided:
        goes_on = rounds < first or (rounds < waves.most_rounds and _is_within_reach(row, terms))
        return RowStage.SETTLE if goes_on else RowStage.DONE
    ratios, margin, estimate = row.ratios[row.start :], row.evidence.margin, row.on_all
    may_change = estimate and can_show_change(ratios, estimate, margin, terms.level, first)
    if may_change and waves.look(1) <= rounds < first:
        return RowStage.CONFIRM
    if rounds >= waves.most_rounds:
        return RowStage.DONE
    needed = estimate.needed if estimate else None
    fits = needed is not None and row.start + needed <= waves.most_rounds
    return RowStage.SETTLE if fits or len(ratios) < waves.look(1) else RowStage.DONE


def _foreseen(finding: Finding, row: _WaveRow, terms: _Terms) -> Finding:
    """Say about how many more rounds a row will get; decides nothing."""
    waves, rounds, stage = terms.waves, len(row.ratios), finding.stage
    if stage is RowStage.DONE or not rounds:
        return finding
    at_most = False
    screen, limit = waves.screen_rounds, math.log1p(row.evidence.margin)
    settles = row.evidence.settles or waves.until_decided
    if row.suspect and (missing := row.suspect.missing(rounds)):
        expected = rounds + missing
        # A suspect that is one by chance may be cleared in any round.
        at_most = row.suspect.sign * float(np.median(row.ratios)) < limit
    elif stage is RowStage.CONFIRM:
        expected, at_most = waves.late_looks[0], True
    elif not settles:
        expected = screen
    elif stage is RowStage.SCREEN and _looks_changed(row.ratios, limit):
        expected = screen + rounds_to_confirm(1, screen, waves)
    else:
        expected = row.start + _likely_rounds(row.ratios[row.start :], limit, terms)
        # What the first rounds do not decide may take any number; few show little of the spread.
        quick = screen + 1 if rounds >= screen else 2 * screen
        at_most = max(expected, rounds + 1) > quick and not waves.until_decided
        expected = waves.most_rounds if at_most else expected
    return replace(finding, ahead=max(expected, screen, rounds + 1) - rounds, at_most=at_most)


def _looks_changed(ratios: FloatArray, limit: float) -> bool:
    """Whether the first rounds all agree that a row changed, or the only one by much."""
    low, high = float(ratios.min()), float(ratios.max())
    return max(low, -high) > limit * (MARGIN_SHARE if len(ratios) > 1 else 2)


def _likely_rounds(ratios: FloatArray, limit: float, terms: _Terms) -> int:
    """How many rounds will likely show on which side of the limit a row is."""
    # One round does not show how far they spread, but how far they may.
    spread = robust_spread(ratios[np.newaxis]) if len(ratios) > 1 else np.abs(ratios)
    # An estimate close to the limit is most likely off. This share was right most often.
    away = max(limit - abs(float(np.median(ratios))), 0.75 * limit)
    least = least_launches((1 - terms.confidence) / 2, "wilcoxon")
    needed = launches_needed(spread, np.array([away]), terms.confidence, MAX_PAIRS)
    return max(int(needed[0]), least)


def _is_within_reach(row: _WaveRow, terms: _Terms) -> bool:
    return row.on_all is not None and is_within_reach(
        row.ratios[row.start :],
        row.on_all,
        row.evidence.margin,
        confidence=terms.confidence,
        level=terms.level,
        most=terms.waves.most_rounds - row.start,
    )


def _given_up(finding: Finding, row: _WaveRow, terms: _Terms) -> Finding:
    """Say how many rounds a row would need if it does not get them."""
    if finding.estimate is None:
        return finding
    ratios, margin = row.ratios[row.start :], row.evidence.margin
    needed = foretold(ratios, finding.estimate, margin, terms.confidence)
    note = f"given up: the limit is {terms.waves.most_rounds} rounds per row"
    if needed is None:
        note = "given up: too close to the margin for any number of rounds"
    estimate = replace(finding.estimate, needed=needed)
    return replace(finding, estimate=estimate, notes=(*finding.notes, note))

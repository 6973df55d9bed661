"""Replays builds from the rounds of a self-check: which changes a check would find.

A build takes the rounds in random order. The order is the same for every benchmark, because what
disturbs one often disturbs its neighbors. A change that is found in an unmodified build is a false
alarm.

The gate itself runs: its own plan says what to measure next, and its own rules judge.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.gate.next_round import follow_up
from benchgate.gate.single_runs import judge_at_once
from benchgate.gate.suite import needs_of
from benchgate.gate.wave_findings import judge_in_waves
from benchgate.gate.waves import WaveSettings
from benchgate.model.policy import Outcome
from benchgate.model.self_check_findings import Rehearsal
from benchgate.stats import special
from benchgate.stats.spread import finite_exp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np

    from benchgate.config import Config
    from benchgate.gate.estimates import Finding
    from benchgate.gate.evidence import Evidence


@dataclass(frozen=True, slots=True)
class ReplayedRow:
    """The gate's judgment of one row; `ratio` is > 1 if the head is worse."""

    benchmark: str
    metric: str
    statistic: str
    outcome: Outcome
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class ReplayedBuild:
    """The gate's judgment of one build.

    Attributes:
        rounds: pairs of launches that were measured, over all benchmarks.
        most_rounds: rounds of the benchmark that was measured most.
        unfinished: benchmarks for which the gate asked for more rounds than there are.
    """

    rows: tuple[ReplayedRow, ...]
    rounds: int
    most_rounds: int
    unfinished: tuple[str, ...] = ()

    def having(self, outcome: Outcome) -> set[str]:
        """Return the benchmarks with at least one row of this outcome."""
        return {row.benchmark for row in self.rows if row.outcome is outcome}

    @property
    def regressed(self) -> set[str]:
        return self.having(Outcome.REGRESSED)


def replay(evidences: Sequence[Evidence], waves: WaveSettings, confidence: float) -> ReplayedBuild:
    """Measure and judge one build as `check` does, with an unlimited budget.

    Args:
        evidences: the rows, with every round that the gate may ask for, in the order of release.
    """
    for state in states(evidences, waves, confidence, first=waves.screen_rounds):
        last = state
    return build_of(evidences, last.findings, last.measured, last.wanted)


@dataclass(frozen=True, slots=True)
class BuildState:
    """The state of a build between two rounds, which is final if the budget ends there.

    Attributes:
        findings: findings of the rows without an obstacle, in their order.
        measured: rounds by benchmark.
        wanted: benchmarks for which the gate asks for one more round.
    """

    findings: Sequence[Finding]
    measured: Mapping[str, int]
    wanted: tuple[str, ...]


def states(
    evidences: Sequence[Evidence], waves: WaveSettings, confidence: float, *, first: int
) -> Iterator[BuildState]:
    """Yield one state after another, the last one if nothing is open or no rounds are left.

    Args:
        first: number of rounds of every benchmark in the first state.
    """
    testable = [evidence for evidence in evidences if evidence.obstacle is None]
    there: dict[str, int] = {}
    for evidence in evidences:
        id_ = evidence.pair.id
        there[id_] = max(evidence.rounds, there.get(id_, 0))
    rounds = first
    measured = {id_: min(rounds, of_all) for id_, of_all in there.items()}
    while True:
        so_far = [e.taken(slice(measured[e.pair.id])) for e in testable]
        findings = judge_in_waves(so_far, waves, confidence)
        wanted = follow_up(needs_of(testable, findings), {}, math.inf).ids
        yield BuildState(findings, dict(measured), wanted)
        going_on = [id_ for id_ in wanted if measured[id_] < there[id_]]
        if not going_on:
            break
        before, rounds = rounds, waves.next_look(rounds)
        for id_ in going_on:
            measured[id_] = min(measured[id_] + rounds - before, there[id_])


def build_of(
    evidences: Sequence[Evidence],
    findings: Iterable[Finding],
    measured: Mapping[str, int],
    unfinished: tuple[str, ...],
) -> ReplayedBuild:
    """Assemble the judgment of a build from its findings.

    Args:
        findings: of the rows without an obstacle, in their order.
        measured: rounds by benchmark.
    """
    found = iter(findings)
    rows = tuple(_row(e, None if e.obstacle else next(found)) for e in evidences)
    return ReplayedBuild(
        rows, sum(measured.values()), max(measured.values(), default=0), unfinished
    )


def _row(evidence: Evidence, finding: Finding | None) -> ReplayedRow:
    if finding is None:
        return ReplayedRow(*evidence.key, Outcome.NOT_TESTED)
    ratio = finite_exp(finding.estimate.value) if finding.estimate else None
    return ReplayedRow(*evidence.key, finding.outcome, ratio)


_ERROR = 0.05


def shuffled(evidences: Sequence[Evidence], rng: np.random.Generator) -> list[Evidence]:
    """Put the rounds of all rows into the same random order."""
    order = rng.permutation(max((evidence.rounds for evidence in evidences), default=0))
    return [evidence.taken(order[order < evidence.rounds]) for evidence in evidences]


def judge_as_check(
    evidences: Sequence[Evidence], config: Config, fixed: int | None
) -> ReplayedBuild:
    """Judge existing rounds as `check` would judge them while it measures.

    Args:
        fixed: number of rounds to measure in any case; None to screen and confirm.
    """
    if fixed is None:
        waves = replace(WaveSettings.of(config), until_decided=False)
        return replay(evidences, waves, config.gate.confidence)
    cut = [one.taken(slice(fixed)) for one in evidences]
    testable = [one for one in cut if one.obstacle is None]
    gate = config.gate
    findings = judge_at_once(testable, alpha=gate.alpha, confidence=gate.confidence)
    measured = {one.pair.id: fixed for one in cut}
    short = tuple(dict.fromkeys(one.pair.id for one in cut if one.rounds < fixed))
    return build_of(cut, findings, measured, short)


def summed_up(
    clean: Sequence[ReplayedBuild], slower: Sequence[tuple[str, ReplayedBuild]]
) -> Rehearsal:
    """Count false alarms and regressions found, with exact bounds (Clopper and Pearson, 1934).

    Args:
        clean: unmodified builds, at least one.
        slower: equally many builds, each with the benchmark that was made slower in it.
    """
    blamed = Counter(id_ for build in clean for id_ in sorted(build.regressed))
    alarms = sum(bool(build.regressed) for build in clean)
    missed = Counter(benchmark for benchmark, build in slower if benchmark not in build.regressed)
    found = len(slower) - missed.total()
    return Rehearsal(
        clean=len(clean),
        alarms=alarms,
        alarms_at_most=_at_most(alarms, len(clean)),
        blamed=tuple(id_ for id_, _ in blamed.most_common()),
        slower=len(slower),
        found=found,
        found_at_least=1 - _at_most(missed.total(), len(slower)),
        missed=tuple(id_ for id_, _ in missed.most_common()),
        cut_short=sum(bool(build.unfinished) for build in (*clean, *(b for _, b in slower))),
    )


def _at_most(hits: int, trials: int) -> float:
    return float(special.betaincinv(hits + 1, trials - hits, 1 - _ERROR)) if hits < trials else 1.0

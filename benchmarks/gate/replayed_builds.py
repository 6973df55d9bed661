"""Replays builds from rounds that exist: which changes a check would find.

The gate itself runs: its own plan says what to measure next, and its own rules judge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.gate.next_round import follow_up
from benchgate.gate.suite import needs_of
from benchgate.gate.wave_findings import judge_in_waves
from benchgate.model.policy import Outcome
from benchgate.stats.spread import finite_exp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.gate.estimates import Finding
    from benchgate.gate.evidence import Evidence
    from benchgate.gate.waves import WaveSettings


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

"""A build replayed: launches that are there already, given out round by round as `check` would.

Nothing of the gate is imitated: its own plan says what to measure next, its own rule judges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.gate.in_waves import judge_in_waves
from benchgate.gate.plan import follow_up
from benchgate.gate.suite import needs_of
from benchgate.model.verdict import Outcome
from benchgate.stats.scaling import finite_exp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.gate.evidence import Evidence
    from benchgate.gate.findings import Finding
    from benchgate.gate.waves import WaveSettings


@dataclass(frozen=True, slots=True)
class ReplayedRow:
    """What the gate said of one row; `ratio` is > 1 where the head is worse."""

    benchmark: str
    metric: str
    statistic: str
    outcome: Outcome
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class Build:
    """What the gate said of one build.

    Attributes:
        rounds: launch pairs measured, over all benchmarks.
        most_rounds: of the benchmark that was measured most.
        unfinished: benchmarks of which the gate asked for more rounds than there are.
    """

    rows: tuple[ReplayedRow, ...]
    rounds: int
    most_rounds: int
    unfinished: tuple[str, ...] = ()

    def having(self, outcome: Outcome) -> set[str]:
        """Give the benchmarks with at least one row of this outcome."""
        return {row.benchmark for row in self.rows if row.outcome is outcome}

    @property
    def regressed(self) -> set[str]:
        """The benchmarks that regressed."""
        return self.having(Outcome.REGRESSED)


def replay(evidences: Sequence[Evidence], waves: WaveSettings, confidence: float) -> Build:
    """Measure and judge one build as `check` does, the budget without end.

    Args:
        evidences: with every round that the gate may ask for, in the order in which they come.
    """
    testable = [evidence for evidence in evidences if evidence.obstacle is None]
    there: dict[str, int] = {}
    for evidence in evidences:
        id_ = evidence.pair.id
        there[id_] = max(evidence.rounds, there.get(id_, 0))
    rounds = waves.screen_rounds
    measured = {id_: min(rounds, of_all) for id_, of_all in there.items()}
    while True:
        findings = judge_in_waves([_cut(e, measured) for e in testable], waves, confidence)
        wanted = follow_up(needs_of(testable, findings), {}, math.inf).ids
        going_on = [id_ for id_ in wanted if measured[id_] < there[id_]]
        if not going_on:
            break
        before, rounds = rounds, waves.next_look(rounds)
        for id_ in going_on:
            measured[id_] = min(measured[id_] + rounds - before, there[id_])
    found = iter(findings)
    rows = tuple(_row(e, None if e.obstacle else next(found)) for e in evidences)
    return Build(rows, sum(measured.values()), max(measured.values(), default=0), wanted)


def _cut(evidence: Evidence, measured: Mapping[str, int]) -> Evidence:
    """Leave the rounds that have been measured."""
    rounds = measured[evidence.pair.id]
    return replace(evidence, base=evidence.base[:rounds], head=evidence.head[:rounds])


def _row(evidence: Evidence, finding: Finding | None) -> ReplayedRow:
    if finding is None:
        return ReplayedRow(*evidence.key, Outcome.NOT_TESTED)
    ratio = finite_exp(finding.estimate.value) if finding.estimate else None
    return ReplayedRow(*evidence.key, finding.outcome, ratio)

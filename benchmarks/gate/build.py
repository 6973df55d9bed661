"""One build, measured round by round as `check` would, and judged by the gate itself.

The rounds come from a source: a recording of real launches, or a simulated machine. Nothing of
the gate is imitated: its own plan says what to measure next, its own rule judges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from benchgate.config.rules import LEAST_TAIL_SAMPLES
from benchgate.gate.plan import follow_up
from benchgate.gate.suite import judge
from benchgate.gate.waves import WaveSettings
from benchgate.model.environment import Environment
from benchgate.model.result import BenchmarkResult, Launch, Metric, Run, Series, Source, Tier
from benchgate.model.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.config import Config
    from benchgate.model.verdict import Row

TIME = Metric("time", "s")


@dataclass(frozen=True, slots=True)
class Build:
    """What the gate said of one build.

    Attributes:
        rounds: launch pairs measured, over all benchmarks.
        most_rounds: of the benchmark that was measured most.
    """

    rows: Sequence[Row]
    rounds: int
    most_rounds: int

    def having(self, outcome: Outcome) -> set[str]:
        """Give the benchmarks with at least one row of this outcome."""
        return {row.benchmark for row in self.rows if row.outcome is outcome}

    @property
    def regressed(self) -> set[str]:
        """The benchmarks that regressed."""
        return self.having(Outcome.REGRESSED)


@dataclass(slots=True)
class _Measured:
    """A benchmark whose launches are known in advance, and given out round by round."""

    id: str
    values: FloatArray
    base: list[Launch] = field(default_factory=list)
    head: list[Launch] = field(default_factory=list)

    def measure(self, round_index: int) -> None:
        if round_index >= self.values.shape[1]:
            raise ValueError(f"{self.id} has only {self.values.shape[1]} rounds")
        for launches, values in zip((self.base, self.head), self.values, strict=True):
            launches.append(Launch(round_index, 0, _samples(*values[round_index]), np.empty(0)))

    def result(self, launches: Sequence[Launch]) -> BenchmarkResult:
        series = Series(TIME, 1, tuple(launches))
        return BenchmarkResult(self.id, "workload", Tier.LOCKSTEP, (series,))


def _samples(p25: float, p95: float) -> FloatArray:
    """Samples that have these quantiles; 0 stands for a tail that was not measured."""
    half = LEAST_TAIL_SAMPLES // 2
    values = [p25, p95] if p95 else [p25]
    return np.repeat(values, half)


def run_build(source: Mapping[str, FloatArray], config: Config) -> Build:
    """Measure and judge one build as `check` does, the budget without end.

    Args:
        source: for each benchmark an array of shape (2, rounds, 2): p25 and p95 of the launches
            of base and head, as many rounds as the gate may ask for.
    """
    waves = WaveSettings(
        config.gate.alpha,
        config.measure.screen_rounds,
        config.measure.confirm_rounds,
        config.measure.max_rounds,
    )
    suite = {id_: _Measured(id_, values) for id_, values in source.items()}
    open_ids: Sequence[str] = tuple(suite)
    round_index = 0
    while True:
        for id_ in open_ids:
            suite[id_].measure(round_index)
        round_index += 1
        if round_index < waves.screen_rounds:
            continue
        base = _run([s.result(s.base) for s in suite.values()], waves)
        head = _run([s.result(s.head) for s in suite.values()], waves)
        judgement = judge(base, head, config, paired=True, waves=waves)
        open_ids = follow_up(judgement.needs, {}, math.inf).ids
        if not open_ids:
            counts = [len(s.base) for s in suite.values()]
            return Build(judgement.rows, sum(counts), max(counts))


def _run(benchmarks: list[BenchmarkResult], waves: WaveSettings) -> Run:
    return Run(
        Source(),
        "2026-01-01T00:00:00Z",
        Environment(),
        tuple(benchmarks),
        screen_rounds=waves.screen_rounds,
    )

"""Estimates how small a change each benchmark can show."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.config.resolved import LEAST_TAIL_SAMPLES
from benchgate.gate.estimates import MOST_DETECTABLE_RATIO
from benchgate.gate.evidence import cpu_ratio, gather, series_of
from benchgate.gate.wave_findings import LOOKING_SHARE
from benchgate.gate.waves import WaveSettings, rounds_to_confirm
from benchgate.model.metrics import CPU_TIME, INSTRUCTIONS, TIME
from benchgate.model.row import TAIL_STATISTICS
from benchgate.model.run import Tier
from benchgate.model.self_check_findings import Sensitivity, SteadierMetric, Tail
from benchgate.stats.detectable import detectable_ratio, launches_to_detect
from benchgate.stats.differences import MOST_COUNTED
from benchgate.stats.spread import pooled_robust_spread, robust_spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from benchgate.arrays import FloatArray
    from benchgate.config import Config
    from benchgate.gate.evidence import Evidence


_LEAST_ROUNDS = 2
# Both ends of an interval lie inside the margin in 9 of 10 cases if each does in 19 of 20.
_EACH_END = 0.95
# Of a normal distribution.
_NINE_OF_TEN = 1.2816
_MUCH_STEADIER = 0.5
_LARGEST_MARGIN = 10.0
_UNPINNED = "not pinned: "


@dataclass(frozen=True, slots=True)
class Procedure:
    """How a check tests one changed row among unchanged ones.

    Attributes:
        rounds: number of rounds in which a change is tested.
        level: one-sided level of that test.
        confidence: of the interval that has to lie inside the margin.
        limit: most rounds of one benchmark.
    """

    rounds: int
    level: float
    confidence: float
    limit: int

    @classmethod
    def of(cls, config: Config, rows: int, fixed: int | None) -> Self:
        """Derive the procedure from the configuration.

        Args:
            rows: number of rows that are tested.
            fixed: number of rounds to measure in any case; None to screen and confirm.
        """
        gate = config.gate
        if fixed:
            return cls(fixed, gate.alpha / max(rows, 1) / 2, gate.confidence, fixed)
        waves = replace(WaveSettings.of(config), until_decided=False)
        return cls(
            rounds_to_confirm(1, waves.look(0), waves),
            gate.alpha / waves.families,
            1 - (1 - gate.confidence) * LOOKING_SHARE,
            waves.most_rounds,
        )

    def detectable(self, spread: FloatArray, margin: float) -> float | None:
        """Return the smallest ratio that is found in 9 of 10 cases; None beyond 100.

        Chance must be ruled out, and the estimate must reach the margin.
        """
        if self.rounds < _LEAST_ROUNDS:
            return None
        ratio = float(detectable_ratio(spread, self.rounds, self.level)[0])
        if ratio > MOST_DETECTABLE_RATIO:
            return None
        beyond = math.exp(_NINE_OF_TEN * float(spread[0]) / math.sqrt(self.rounds))
        return max(ratio, (1 + margin) * beyond)

    def rounds_for(self, spread: FloatArray, margin: float) -> int | None:
        """Return the rounds that show in 9 of 10 cases that nothing changed; None beyond 1000.

        That is the power of two one-sided tests (Schuirmann, 1987): the margin must exceed the
        sum of the interval's half-width and the likely error of the estimate.
        """
        tail = (1 - self.confidence) / 2
        count = int(launches_to_detect(spread, 1 + margin, tail, _EACH_END, MOST_COUNTED)[0])
        return count if count <= MOST_COUNTED else None

    def least_margin(self, spread: FloatArray) -> float | None:
        """Return the smallest margin for which the limit of rounds suffices; None beyond 1000 %."""
        if self.limit < _LEAST_ROUNDS:
            return None
        tail = (1 - self.confidence) / 2
        margin = float(detectable_ratio(spread, self.limit, tail, _EACH_END)[0]) - 1
        return margin if margin <= _LARGEST_MARGIN else None


def sensitivities(evidences: Iterable[Evidence], procedure: Procedure) -> list[Sensitivity]:
    """Return one for each benchmark and metric that can be tested, the noisiest first."""
    groups: dict[tuple[str, str], list[Evidence]] = {}
    for evidence in evidences:
        groups.setdefault((evidence.pair.id, evidence.metric.name), []).append(evidence)
    found = [_sensitivity(group, procedure) for group in groups.values()]
    return sorted(
        (one for one in found if one),
        key=lambda one: (one.is_decidable, -(one.rounds or MOST_COUNTED), -one.pair_spread),
    )


def _sensitivity(rows: Sequence[Evidence], procedure: Procedure) -> Sensitivity | None:
    """Judge a metric by its first row that is not a tail, or by its tail if there is no other."""
    main = next((row for row in rows if not row.is_tail), rows[0])
    if main.obstacle or main.rounds < _LEAST_ROUNDS:
        return None
    spread = _pair_spread(main)
    head = main.pair.head
    notes = head.notes if head else ()
    return Sensitivity(
        benchmark=main.pair.id,
        metric=main.metric.name,
        pair_spread=float(spread[0]),
        launch_spread=_launch_spread(main),
        detectable=procedure.detectable(spread, main.margin),
        margin=main.margin,
        rounds=procedure.rounds_for(spread, main.margin),
        limit=procedure.limit,
        least_margin=procedure.least_margin(spread),
        tail=next(
            (_tail(row, procedure) for row in rows if row.statistic in TAIL_STATISTICS), None
        ),
        steadier=steadier_metric(main, procedure),
        counted=bool(head and series_of(head, INSTRUCTIONS.name)),
        unpinned=next((n.removeprefix(_UNPINNED) for n in notes if n.startswith(_UNPINNED)), ""),
        is_command=bool(head and head.tier is Tier.INTERLEAVED and head.load is None),
    )


def _pair_spread(row: Evidence) -> FloatArray:
    return robust_spread(row.worse_log_ratios()[np.newaxis])


def _launch_spread(row: Evidence) -> float:
    base, head = np.log(row.base)[np.newaxis], np.log(row.head)[np.newaxis]
    return float(pooled_robust_spread(base, head)[0])


def _tail(row: Evidence, procedure: Procedure) -> Tail:
    launches = (*row.base_launches, *row.head_launches)
    series = series_of(row.pair.head, row.metric.name) if row.pair.head else None
    loops = series.loops if series else 1
    typical = float(np.median([np.median(launch.samples) for launch in launches]))
    spread = None if row.obstacle else _pair_spread(row)
    return Tail(
        obstacle=row.obstacle or "",
        detectable=None if spread is None else procedure.detectable(spread, row.margin),
        statistic=row.statistic,
        samples=min(len(launch.samples) for launch in launches),
        needed_samples=LEAST_TAIL_SAMPLES[row.statistic],
        sample_s=typical * loops,
        loops=loops,
        settles=row.settles,
        rounds=None if spread is None else procedure.rounds_for(spread, row.margin),
        least_margin=None if spread is None else procedure.least_margin(spread),
    )


def steadier_metric(main: Evidence, procedure: Procedure) -> SteadierMetric | None:
    """Describe the CPU time of a row if it is much steadier than the wall time."""
    base, head = main.pair.base, main.pair.head
    if main.metric != TIME or base is None or head is None:
        return None
    sides = [series_of(side, CPU_TIME.name) for side in (base, head)]
    if sides[0] is None or sides[1] is None:
        return None
    cpu = gather(main.pair, sides[0], sides[1], main.statistic, margin=main.margin, paired=True)
    if cpu.obstacle or cpu.rounds < _LEAST_ROUNDS:
        return None
    spread = _pair_spread(cpu)
    if spread[0] > _MUCH_STEADIER * _pair_spread(main)[0]:
        return None
    share = cpu_ratio(cpu.head, main.head)
    if share is None:
        return None
    return SteadierMetric(
        metric=CPU_TIME.name,
        pair_spread=float(spread[0]),
        rounds=procedure.rounds_for(spread, main.margin),
        share=share,
    )

"""What a row rests on: one value of each launch, and how the launches of both arms relate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.model.result import Better, Kind
from benchgate.stats.quantiles import nearest_rank

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.gate.pairing import Pair
    from benchgate.model.result import BenchmarkResult, Launch, Metric, Series

LEAST_TAIL_SAMPLES = 40
TAIL_STATISTICS = frozenset({"p95"})
_QUANTILES = {"p25": 0.25, "median": 0.5, "p95": 0.95}


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The launches behind one row.

    Attributes:
        base, head: shape (n1,) and (n2,), the statistic of each launch, in the metric's unit;
            when paired n1 == n2 and the same index is the same round.
        paired: the launches of both arms were measured in turn, in the same rounds.
        margin: as a fraction.
        base_launches, head_launches: what the values were taken from, in their order.
        obstacle: why it cannot be tested, whatever the number of launches; None when it can.
    """

    pair: Pair
    metric: Metric
    statistic: str
    base: FloatArray
    head: FloatArray
    paired: bool
    margin: float
    base_launches: tuple[Launch, ...]
    head_launches: tuple[Launch, ...]
    obstacle: str | None = None

    @property
    def worse_sign(self) -> int:
        """+1 where a larger value is worse, else -1."""
        return 1 if self.metric.better is Better.LOWER else -1

    @property
    def rounds(self) -> int:
        """How many pairs, or how many launches the smaller arm has."""
        return min(len(self.base), len(self.head))

    def worse_log_ratios(self) -> FloatArray:
        """Give log(head / base) of each round, > 0 where the head is worse."""
        ratios: FloatArray = self.worse_sign * (np.log(self.head) - np.log(self.base))
        return ratios


def series_of(result: BenchmarkResult, metric: str) -> Series | None:
    """Give the series of one metric, None where it was not measured."""
    return next((s for s in result.series if s.metric.name == metric), None)


def gather(
    pair: Pair, base: Series, head: Series, statistic: str, *, margin: float, paired: bool
) -> Evidence:
    """Take the statistic of every launch of both arms; for pairs, of the rounds both have."""
    base_launches, head_launches = list(base.launches), list(head.launches)
    if paired:
        common = {x.round for x in base_launches} & {x.round for x in head_launches}
        base_launches = [x for x in base_launches if x.round in common]
        head_launches = [x for x in head_launches if x.round in common]
    base_values = _statistic([x.samples for x in base_launches], statistic)
    head_values = _statistic([x.samples for x in head_launches], statistic)
    samples = [len(x.samples) for x in (*base_launches, *head_launches)]
    obstacle = None
    if head.metric.kind is Kind.SUMMARY:
        obstacle = "no samples: a single value of each run cannot be tested"
    elif statistic in TAIL_STATISTICS and min(samples, default=0) < LEAST_TAIL_SAMPLES:
        obstacle = f"tail not tested: needs {LEAST_TAIL_SAMPLES} samples per launch"
    elif np.any(base_values <= 0) or np.any(head_values <= 0):
        obstacle = "a launch measured 0: there is no ratio to test"
    return Evidence(
        pair=pair,
        metric=head.metric,
        statistic=statistic,
        base=base_values,
        head=head_values,
        paired=paired,
        margin=margin,
        base_launches=tuple(base_launches),
        head_launches=tuple(head_launches),
        obstacle=obstacle,
    )


def _statistic(launches: list[FloatArray], statistic: str) -> FloatArray:
    """Take a statistic of each launch; launches may differ in length."""
    if not launches:
        return np.empty(0)
    if len({len(samples) for samples in launches}) == 1:
        return _of_rows(np.stack(launches), statistic)
    return np.concatenate([_of_rows(samples[None, :], statistic) for samples in launches])


def _of_rows(samples: FloatArray, statistic: str) -> FloatArray:
    if statistic in _QUANTILES:
        return nearest_rank(samples, _QUANTILES[statistic])
    values: FloatArray = samples.mean(axis=-1) if statistic == "mean" else samples.min(axis=-1)
    return values

"""Finds how the samples of a series, or the latencies of a scenario's step, are distributed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.describe.loads import histogram_of
from benchgate.model.distribution import Axis, Curve, Distribution, Shape
from benchgate.model.metrics import TIME
from benchgate.model.run import Kind
from benchgate.stats.histogram import Histogram

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from benchgate.arrays import FloatArray, IntArray
    from benchgate.model.load import LoadLaunch
    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult, Series

LATENCY: Final = "latency"
"""What the distribution of a step's operations goes by; no metric has this name."""

# The axis ends where this share of an arm lies beyond it: an outlier would squeeze all the rest.
_BEYOND: Final = 0.01
_BEYOND_UNDER_LOAD: Final = 0.001
_LOG_FROM_RATIO: Final = 10.0
# A narrower axis would make noise look large, and its labels would all be the same.
_LEAST_SPAN_RATIO: Final = 0.002
_LEAST_BINS: Final = 5
_LEAST_BIN_COLUMNS: Final = 2


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of one arm: ascending distinct values, and how many are up to each."""

    launches: int
    ascending: FloatArray
    cumulated: IntArray

    @property
    def count(self) -> int:
        return int(self.cumulated[-1])

    def up_to(self, ends: FloatArray) -> IntArray:
        """How many values are at most each of the ends."""
        return self._cumulated_at(np.searchsorted(self.ascending, ends, side="right"))

    def below(self, end: float) -> int:
        return int(self._cumulated_at(np.searchsorted(self.ascending, [end], side="left"))[0])

    def quantile(self, p: float) -> float:
        """The nearest-rank quantile."""
        rank = max(1, math.ceil(p * self.count))
        return float(self.ascending[np.searchsorted(self.cumulated, rank)])

    def _cumulated_at(self, indices: IntArray) -> IntArray:
        return np.concatenate([[0], self.cumulated])[indices]


def distributions(
    result: Result, shape: Shape, columns: int, metrics: Collection[str] = ()
) -> tuple[Distribution, ...]:
    """Find the distributions of all sampled values, both arms on one axis.

    Args:
        columns: how many shares each curve has.
        metrics: the names of the metrics; without any, the latencies of steps and the time of other
            benchmarks, or all sampled metrics of those that have no time.

    Raises:
        FormatError: the histogram of a scenario is damaged.
    """
    arms = {"base": result.base, "head": result.head}
    found: dict[tuple[str, str], dict[str, tuple[BenchmarkResult, Series | None]]] = {}
    for arm in ("head", "base"):
        run = arms[arm]
        for benchmark in run.of_project if run else ():
            for name, series in _drawn(benchmark, metrics):
                found.setdefault((benchmark.id, name), {})[arm] = (benchmark, series)
    return tuple(
        _distribution(name, {arm: by_arm[arm] for arm in arms if arm in by_arm}, shape, columns)
        for (_, name), by_arm in found.items()
    )


def _drawn(
    benchmark: BenchmarkResult, metrics: Collection[str]
) -> Iterator[tuple[str, Series | None]]:
    """The metrics of a benchmark that are drawn; None stands for the latencies of a step."""
    if benchmark.load and not metrics:
        if any(launch.ops + launch.unfinished for launch in benchmark.load.launches):
            yield LATENCY, None
        return
    sampled = {
        series.metric.name: series
        for series in benchmark.series
        if series.launches and series.metric.kind is Kind.SAMPLED
    }
    names = metrics or ([TIME.name] if TIME.name in sampled else sampled)
    yield from ((name, series) for name, series in sampled.items() if name in names)


def _distribution(
    name: str,
    by_arm: Mapping[str, tuple[BenchmarkResult, Series | None]],
    shape: Shape,
    columns: int,
) -> Distribution:
    benchmark, series = next(iter(by_arm.values()))
    if series is None:
        values = {
            arm: _latencies(one.id, one.load.launches)
            for arm, (one, _) in by_arm.items()
            if one.load
        }
    else:
        values = {arm: _samples(one) for arm, (_, one) in by_arm.items() if one}
    axis = _axis(values.values(), _BEYOND if series else _BEYOND_UNDER_LOAD)
    shares = _cumulative if shape is Shape.ECDF else _binned
    ends = _ends(axis, columns if shape is Shape.ECDF else _bins(axis, values.values(), columns))
    return Distribution(
        benchmark=benchmark.id,
        metric=name,
        unit=TIME.unit if series is None else series.metric.unit,
        what="operations" if series is None else "samples",
        shape=shape,
        axis=axis,
        curves=tuple(
            Curve(arm, one.launches, one.count, shares(one, ends, columns))
            for arm, one in values.items()
        ),
        below=sum(one.below(axis.low) for one in values.values()),
        above=sum(one.count - int(one.up_to(ends[-1:])[0]) for one in values.values()),
        display_unit=benchmark.display_unit,
    )


def _samples(series: Series) -> _Values:
    pooled = np.concatenate([launch.samples for launch in series.launches])
    ascending, counts = np.unique(pooled, return_counts=True)
    return _Values(len(series.launches), ascending, np.cumsum(counts))


def _latencies(benchmark: str, launches: Sequence[LoadLaunch]) -> _Values:
    total = Histogram()
    for launch in launches:
        total.merge(histogram_of(benchmark, launch))
    middles_ns, counts = total.middles()
    return _Values(len(launches), middles_ns / 1e9, np.cumsum(counts))


def _axis(arms: Collection[_Values], beyond: float) -> Axis:
    """The range that all arms share.

    Args:
        beyond: the share of an arm's values that may lie outside, at either end.
    """
    low = min(one.quantile(beyond) for one in arms)
    high = max(one.quantile(1 - beyond) for one in arms)
    if low > 0 and high / low >= _LOG_FROM_RATIO:
        return Axis(low, high, log=True)
    # Fractions, because the difference of two large numbers may not be finite.
    least = _LEAST_SPAN_RATIO * max(abs(low), abs(high)) or 1.0
    if high / 2 - low / 2 < least / 2:
        middle = low / 2 + high / 2
        return Axis(middle - least / 2, middle + least / 2)
    return Axis(low, high)


def _ends(axis: Axis, parts: int) -> FloatArray:
    """The ends of equal parts of the axis, shape (parts + 1,)."""
    place = np.linspace(0, 1, parts + 1)
    if axis.log:
        ends = np.exp(math.log(axis.low) * (1 - place) + math.log(axis.high) * place)
    else:
        ends = axis.low * (1 - place) + axis.high * place
    ends[0], ends[-1] = axis.low, axis.high
    return ends


def _bins(axis: Axis, arms: Collection[_Values], columns: int) -> int:
    """The number of bins by the rule of Freedman and Diaconis, as far as there is room."""

    def placed(value: float) -> float:
        return math.log(value) if axis.log else value / 2

    span = placed(axis.high) - placed(axis.low)
    widths = [
        2 * (placed(one.quantile(0.75)) - placed(one.quantile(0.25))) / span / one.count ** (1 / 3)
        for one in arms
    ]
    narrowest = min((width for width in widths if width > 0), default=1.0)
    most = max(columns // _LEAST_BIN_COLUMNS, 1)
    return min(max(math.ceil(min(1 / narrowest, most)), _LEAST_BINS), most)


def _cumulative(values: _Values, ends: FloatArray, columns: int) -> tuple[float, ...]:
    """The share of values up to the right end of each column."""
    return tuple((values.up_to(ends[1 : columns + 1]) / values.count).tolist())


def _binned(values: _Values, ends: FloatArray, columns: int) -> tuple[float, ...]:
    """For each column, the share of values in the bin that it belongs to."""
    counts = values.up_to(ends)
    counts[0] = values.below(float(ends[0]))
    shares = np.diff(counts) / values.count
    bins = len(ends) - 1
    return tuple(float(shares[column * bins // columns]) for column in range(columns))

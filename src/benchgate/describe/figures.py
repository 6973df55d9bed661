"""Computes what the figures of a report show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from benchgate.describe.launches import histogram_of, launch_values, mean_of_launches, warmup_curve
from benchgate.interval import CONFIDENCE
from benchgate.model.figures import (
    ArmFigures,
    BenchmarkFigures,
    ColumnRange,
    Curve,
    Distribution,
    LatencyBar,
    LaunchFigure,
    LoadArm,
    LoadFigures,
    SeriesFigures,
    Shape,
)
from benchgate.model.run import TIME, Kind, renamed
from benchgate.stats.histogram import Histogram
from benchgate.stats.spread import nearest_rank, small_sample_note

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from benchgate.arrays import FloatArray, IntArray
    from benchgate.model.load import LoadLaunch, LoadResult
    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult, Run, Series


_Course: TypeAlias = tuple[tuple[float, ...], tuple[float, ...], tuple[float | None, ...]]

_PERCENTILES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
# A rate over a small part of a window says little.
_LEAST_PART: Final = 0.5


def load_figures(
    benchmark: str, base: LoadResult | None, head: LoadResult | None, points: int, *, seed: int
) -> LoadFigures | None:
    """Compute the figures of a step; None if it was not launched.

    Args:
        points: how many values a course may have.
        seed: of the bootstrap.

    Raises:
        FormatError: a histogram is damaged.
    """
    known = [one for one in (base, head) if one and one.launches]
    if not known:
        return None
    width_s = max(launch.windows.width_s for one in known for launch in one.launches)
    longest = max(len(launch.windows.ops) for one in known for launch in one.launches)
    joined = max(1, math.ceil(longest / points))

    def arm(one: LoadResult | None) -> LoadArm | None:
        if one is None or not one.launches:
            return None
        course = _in_line(one.launches) if longest == 1 else _over(one.launches, width_s, joined)
        return LoadArm(len(one.launches), *course, _latency_bars(benchmark, one.launches, seed))

    return LoadFigures(width_s * joined, arm(base), arm(head), in_line=longest == 1)


def _over(launches: Sequence[LoadLaunch], width_s: float, joined: int) -> _Course:
    """The course of a launch: each value is the mean or median over the launches."""
    # Launches are of one length; one with wider windows has no value of its own where others have.
    regular = [one for one in launches if one.windows.width_s == width_s]
    length = max(len(one.windows.ops) for one in regular)
    rates = np.full((len(regular), length), math.nan)
    p95 = np.full((len(regular), length), math.nan)
    for index, one in enumerate(regular):
        found = _rates(one)
        count = len(found)
        if one.windows.last_s < _LEAST_PART * width_s:
            count = max(1, count - 1)
        rates[index, :count] = found[:count]
        p95[index, :count] = _p95_s(one)[:count]
    course: tuple[list[float], list[float], list[float | None]] = ([], [], [])
    for start in range(0, length, joined):
        part = slice(start, start + joined)
        rate = _known(rates[:, part])
        if not len(rate):
            continue
        slow = _known(p95[:, part])
        course[0].append((start + min(joined, length - start) / 2) * width_s)
        course[1].append(float(rate.mean()))
        course[2].append(float(np.median(slow)) if len(slow) else None)
    return tuple(course[0]), tuple(course[1]), tuple(course[2])


def _in_line(launches: Sequence[LoadLaunch]) -> _Course:
    """One value for each launch, which has one window, at the time that was measured until then."""
    ends = np.cumsum([one.duration_s for one in launches])
    middles = [end - one.duration_s / 2 for end, one in zip(ends, launches, strict=True)]
    slow = [_p95_s(one)[:1] for one in launches]
    return (
        tuple(map(float, middles)),
        tuple(float(_rates(one)[0]) if one.windows.ops else 0.0 for one in launches),
        tuple(float(x[0]) if len(x) and not math.isnan(x[0]) else None for x in slow),
    )


def _rates(one: LoadLaunch) -> FloatArray:
    widths = np.full(len(one.windows.ops), one.windows.width_s)
    widths[-1:] = one.windows.last_s or one.windows.width_s
    found: FloatArray = np.array(one.windows.ops) / widths
    return found


def _p95_s(one: LoadLaunch) -> FloatArray:
    return np.array([math.nan if ns is None else ns / 1e9 for ns in one.windows.p95_ns])


def _known(values: FloatArray) -> FloatArray:
    found: FloatArray = values[~np.isnan(values)]
    return found


def _latency_bars(
    benchmark: str, launches: Sequence[LoadLaunch], seed: int
) -> tuple[LatencyBar, ...]:
    """The percentiles that a launch has enough operations for; p50 always, if there are any."""
    found = [histogram_of(benchmark, launch) for launch in launches]
    filled = [one for one in found if one.count]
    if not filled:
        return ()
    fewest = min(one.count for one in filled)
    bars = []
    for name, p in _PERCENTILES.items():
        if small_sample_note(fewest, p) and name != "p50":
            continue
        values = np.array([one.percentile(p) or 0 for one in filled]) / 1e9
        mean = mean_of_launches(values, CONFIDENCE, seed=seed)
        ends = mean.interval
        bars.append(
            LatencyBar(name, mean.mean, ends.low if ends else None, ends.high if ends else None)
        )
    return tuple(bars)


MOST_POINTS: Final = 200
"""Values of a curve if there are few benchmarks; a curve of more looks the same."""

_LEAST_POINTS: Final = 24
# Of all curves together: keeps a page of 1,000 benchmarks small.
_ALL_POINTS: Final = 60_000
_BARS: Final = 30
_LEAST_FOR_BARS: Final = 50
_WARMUP_SHOWN: Final = 100
# The slowest samples would leave the others no room in a histogram.
_SHOWN_SHARE: Final = 0.99


class Figures(Mapping[str, BenchmarkFigures]):
    """The figures of benchmarks by id. They are computed when they are asked for.

    Raises:
        FormatError: the histogram of a scenario is damaged.
    """

    def __init__(self, makers: Mapping[str, Callable[[], BenchmarkFigures]]) -> None:
        self._makers = dict(makers)

    def __getitem__(self, id_: str) -> BenchmarkFigures:
        return self._makers[id_]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __or__(self, others: Figures) -> Figures:
        return Figures(self._makers | others._makers)


def figures(
    head: Run, base: Run | None = None, aliases: Mapping[str, str] | None = None
) -> Figures:
    """Give the figures of all benchmarks, those of the head first.

    Args:
        aliases: old id to new id; see `renamed`.
    """
    heads = {one.id: one for one in head.of_project}
    bases = {one.id: one for one in base.of_project} if base else {}
    old_ids = renamed(bases, heads, aliases or {})
    pairs = [(one, bases.get(old_ids.get(id_, id_))) for id_, one in heads.items()]
    paired = {one.id for _, one in pairs if one}
    alone = [one for id_, one in bases.items() if id_ not in paired]
    every = [*heads.values(), *bases.values()]
    points = points_for(sum(len(one.series) for one in every))
    seed = head.seed
    of_pairs = {one.id: partial(_benchmark, one, other, points, seed) for one, other in pairs}
    return Figures(
        of_pairs | {one.id: partial(_benchmark, None, one, points, seed) for one in alone}
    )


def figures_of(
    result: Result, stored_base: Run | None = None, aliases: Mapping[str, str] | None = None
) -> Figures:
    """Give the figures of all benchmarks of a result.

    Args:
        stored_base: the stored run that served as the base, if the result itself has none.
        aliases: old id to new id; see `renamed`.
    """
    found = figures(result.head, result.base or stored_base, aliases)
    if result.screening is None or result.screening.head is None:
        return found
    # What stored runs decided first was measured on the head alone, and is not in both arms.
    return figures(result.screening.head) | found


def points_for(curves: int) -> int:
    """How many values a curve gets, if there are so many."""
    return min(MOST_POINTS, max(_LEAST_POINTS, _ALL_POINTS // max(1, curves)))


def _benchmark(
    head: BenchmarkResult | None, base: BenchmarkResult | None, points: int, seed: int
) -> BenchmarkFigures:
    known = [one for one in (head, base) if one]
    names = dict.fromkeys(one.metric.name for arm in known for one in arm.series)
    found = (
        _series(_of(base, name), _of(head, name), points)
        for name in names
        if _of(base, name) or _of(head, name)
    )
    return BenchmarkFigures(
        known[0].id,
        known[0].display_unit,
        tuple(found),
        load_figures(
            known[0].id,
            base.load if base else None,
            head.load if head else None,
            points,
            seed=seed,
        ),
    )


def _of(benchmark: BenchmarkResult | None, metric: str) -> Series | None:
    """A series with launches."""
    every = benchmark.series if benchmark else ()
    return next((one for one in every if one.metric.name == metric and one.launches), None)


def _series(base: Series | None, head: Series | None, points: int) -> SeriesFigures:
    known = [one for one in (head, base) if one]
    pooled = [np.concatenate([launch.samples for launch in one.launches]) for one in known]
    metric = known[0].metric
    edges = _edges(pooled) if metric.kind is Kind.SAMPLED else np.empty(0)
    every = np.concatenate(pooled)
    arms = {
        id(one): _arm(one, values, edges, points) for one, values in zip(known, pooled, strict=True)
    }
    return SeriesFigures(
        metric.name,
        metric.unit,
        metric.kind,
        arms.get(id(base)),
        arms.get(id(head)),
        tuple(edges.tolist()),
        float(np.mean(every > edges[-1])) if len(edges) else 0.0,
        float(every.max()),
    )


def _edges(pooled: Sequence[FloatArray]) -> FloatArray:
    """Edges from the least to the p99 of both arms; none if that says no more than a curve."""
    if min(map(len, pooled)) < _LEAST_FOR_BARS:
        return np.empty(0)
    every = np.concatenate(pooled)
    low, high = float(every.min()), float(nearest_rank(every, _SHOWN_SHARE))
    edges = np.linspace(low, high, _BARS + 1)
    # Values that differ in the last digit only have no room for edges between them.
    return edges if np.all(np.diff(edges) > 0) else np.empty(0)


def _arm(series: Series, pooled: FloatArray, edges: FloatArray, points: int) -> ArmFigures:
    shares = _shares(len(pooled), points)
    ranks = np.maximum(1, np.ceil(shares * len(pooled) - 1e-9)).astype(int)
    curve, discarded = warmup_curve(series.launches)
    shown = curve[: min(_WARMUP_SHOWN, points)] if series.metric.kind is Kind.SAMPLED else ()
    return ArmFigures(
        samples=len(pooled),
        values=tuple(np.sort(pooled)[ranks - 1].tolist()),
        shares=tuple(shares.tolist()),
        thinned=len(shares) < len(pooled),
        launches=_launches(series),
        bars=tuple((np.histogram(pooled, edges)[0] / len(pooled)).tolist()) if len(edges) else (),
        warmup=shown,
        discarded=discarded,
    )


def _shares(samples: int, points: int) -> FloatArray:
    if samples <= points:
        return np.arange(1, samples + 1) / samples
    return np.linspace(1 / samples, 1, points)


def _launches(series: Series) -> LaunchFigure:
    samples = [launch.samples for launch in series.launches]
    return LaunchFigure(
        tuple(launch.round for launch in series.launches),
        tuple(launch_values(samples, 0.25).tolist()),
        tuple(launch_values(samples, 0.75).tolist()),
    )


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


def _axis(arms: Collection[_Values], beyond: float) -> ColumnRange:
    """The range that all arms share.

    Args:
        beyond: the share of an arm's values that may lie outside, at either end.
    """
    low = min(one.quantile(beyond) for one in arms)
    high = max(one.quantile(1 - beyond) for one in arms)
    if low > 0 and high / low >= _LOG_FROM_RATIO:
        return ColumnRange(low, high, log=True)
    # Fractions, because the difference of two large numbers may not be finite.
    least = _LEAST_SPAN_RATIO * max(abs(low), abs(high)) or 1.0
    if high / 2 - low / 2 < least / 2:
        middle = low / 2 + high / 2
        return ColumnRange(middle - least / 2, middle + least / 2)
    return ColumnRange(low, high)


def _ends(axis: ColumnRange, parts: int) -> FloatArray:
    """The ends of equal parts of the axis, shape (parts + 1,)."""
    place = np.linspace(0, 1, parts + 1)
    if axis.log:
        ends = np.exp(math.log(axis.low) * (1 - place) + math.log(axis.high) * place)
    else:
        ends = axis.low * (1 - place) + axis.high * place
    ends[0], ends[-1] = axis.low, axis.high
    return ends


def _bins(axis: ColumnRange, arms: Collection[_Values], columns: int) -> int:
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

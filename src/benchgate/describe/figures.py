"""Computes what the figures of a report show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from benchgate.describe.launches import launch_values, warmup_curve
from benchgate.describe.steps import histogram_of, mean_of_launches
from benchgate.gate.evidence import SUMMARY, are_in_turn, log_ratios_by_round, statistic_of
from benchgate.interval import CONFIDENCE
from benchgate.model.figures import (
    ArmFigures,
    BenchmarkFigures,
    LatencyBar,
    LaunchFigure,
    LoadArm,
    LoadFigures,
    SeriesFigures,
)
from benchgate.model.metrics import Kind
from benchgate.model.row import TAILS, VALUE
from benchgate.model.run import renamed
from benchgate.stats.spread import nearest_rank, small_sample_note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.model.calls import CallTree
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
# The slowest samples would leave the others no room in a histogram, if they are so much slower.
_SHOWN_SHARE: Final = 0.95
_MUCH: Final = 2
_STATISTICS: Final = ("p25", "median", "mean", "min", *TAILS, SUMMARY, VALUE)


class Figures(Mapping[str, BenchmarkFigures]):
    """The figures of benchmarks by id. They are computed when they are asked for."""

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
    old_ids = {new: old for old, new in renamed(bases, heads, aliases or {}).items()}
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
        _series(_of(base, name), _of(head, name), points, head)
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
        _calls(base, head),
    )


def _calls(
    base: BenchmarkResult | None, head: BenchmarkResult | None
) -> Mapping[str, tuple[CallTree, CallTree]]:
    """What both sides call, by metric."""
    before, after = (one.calls if one else {} for one in (base, head))
    return {metric: (before[metric], after[metric]) for metric in before if metric in after}


def _of(benchmark: BenchmarkResult | None, metric: str) -> Series | None:
    every = benchmark.series if benchmark else ()
    return next((one for one in every if one.metric.name == metric and one.launches), None)


def _series(
    base: Series | None, head: Series | None, points: int, of_head: BenchmarkResult | None
) -> SeriesFigures:
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
        _of_pairs(base, head) if base and head and are_in_turn(of_head, metric) else {},
    )


def _of_pairs(base: Series, head: Series) -> dict[int, float]:
    found = log_ratios_by_round(base.launches, head.launches)
    return {number: math.exp(ratio) for number, ratio in found.items()}


def _edges(pooled: Sequence[FloatArray]) -> FloatArray:
    """Edges of equal ranges of both arms; none if they say no more than a curve."""
    if min(map(len, pooled)) < _LEAST_FOR_BARS:
        return np.empty(0)
    every = np.concatenate(pooled)
    low, high = float(every.min()), float(nearest_rank(every, _SHOWN_SHARE))
    if every.max() - low < _MUCH * (high - low):
        high = float(every.max())
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
    values = {name: tuple(statistic_of(samples, name).tolist()) for name in _STATISTICS}
    values["p75"] = tuple(launch_values(samples, 0.75).tolist())
    return LaunchFigure(tuple(launch.round for launch in series.launches), values)

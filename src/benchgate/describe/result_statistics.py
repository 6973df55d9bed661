"""Describes a whole result file, and finds which parameters of a benchmark matter."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchgate.describe.centers import full_mean, quantiles, trimmed_mean
from benchgate.describe.launches import (
    LEAST_SAMPLES,
    between_launches,
    finite_ratio,
    launch_values,
    reach,
    spread_ratio,
    summarize,
    warmup,
    within_launch,
)
from benchgate.describe.steps import describe_load
from benchgate.interval import CONFIDENCE
from benchgate.model.metrics import Kind
from benchgate.model.run import Status
from benchgate.model.statistics import (
    Failure,
    Grid,
    GridCell,
    GridPair,
    LaneStatistics,
    ResultStatistics,
    RunStatistics,
    SeriesDetail,
    SeriesStatistics,
)
from benchgate.stats.multiple_tests import kruskal_wallis, pairwise
from benchgate.stats.spread import nearest_rank, robust_spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.model.launch_table import Launch
    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult, Run, Series
    from benchgate.stats.spread import OutlierMode


_LEAST_PAIRS = 2


def compare_lanes(series: Series, other: Series | None) -> tuple[LaneStatistics, ...]:
    """Describe each lane of a series of times; nothing if there is only one.

    Args:
        other: the same metric on the other side, measured in turn; None if there is none.
    """
    if series.metric.kind is not Kind.SAMPLED or series.metric.unit != "s":
        return ()
    lanes = sorted({launch.lane for launch in series.launches}, key=lambda x: (x is not None, x))
    if len(lanes) < 2:
        return ()
    return tuple(
        _describe_lane(lane, [one for one in series.launches if one.lane == lane], other)
        for lane in lanes
    )


def _describe_lane(
    lane: int | None, launches: Sequence[Launch], other: Series | None
) -> LaneStatistics:
    typical = launch_values([launch.samples for launch in launches], 0.25)
    return LaneStatistics(
        lane=lane,
        launches=len(launches),
        p25=float(np.median(typical)),
        spread_ratio=spread_ratio(typical),
        pair_spread_ratio=_pair_spread(launches, other) if other else None,
    )


def _pair_spread(launches: Sequence[Launch], other: Series) -> float | None:
    beside = {launch.round: launch for launch in other.launches}
    pairs = [(one, beside[one.round]) for one in launches if one.round in beside]
    if len(pairs) < _LEAST_PAIRS:
        return None
    own, theirs = (
        launch_values([launch.samples for launch in side], 0.25)
        for side in zip(*pairs, strict=True)
    )
    if min(own.min(), theirs.min()) <= 0:
        return None
    return float(robust_spread((np.log(own) - np.log(theirs))[None, :])[0])


_ID = re.compile(r"(?P<name>.+)\[(?P<label>[^\[\]]*=[^\[\]]*)\]", re.DOTALL)
_ALPHA = 0.05
# Every pair is compared, so the work grows with the square of the cells.
_MOST_CELLS = 50


def grids(benchmarks: Sequence[BenchmarkResult]) -> tuple[Grid, ...]:
    """Compare the cells of each benchmark that has parameters, for each sampled metric."""
    by_name: dict[tuple[str, str], list[tuple[str, BenchmarkResult, Series]]] = {}
    for benchmark in benchmarks:
        match = _ID.fullmatch(benchmark.id)
        for series in benchmark.series if match else ():
            if match and series.launches and series.metric.kind is Kind.SAMPLED:
                key = (match["name"], series.metric.name)
                by_name.setdefault(key, []).append((match["label"], benchmark, series))
    return tuple(_grid(name, cells) for (name, _), cells in by_name.items() if len(cells) > 1)


def _grid(name: str, cells: Sequence[tuple[str, BenchmarkResult, Series]]) -> Grid:
    labels = [label for label, _, _ in cells]
    groups = [launch_values([x.samples for x in series.launches], 0.25) for _, _, series in cells]
    medians = [float(np.median(values)) for values in groups]
    test = kruskal_wallis(groups)
    few = len(cells) <= _MOST_CELLS
    # With two cells the only pair decides, because its p is exact.
    notes = test.notes if len(cells) > 2 else ()
    if not few:
        notes = (*notes, f"more than {_MOST_CELLS} cells: their pairs are not compared")
    if _least_p(groups) > _ALPHA:
        notes = (*notes, "too few launches to tell an effect of the parameters from noise")
    _, benchmark, series = cells[0]
    return Grid(
        benchmark=name,
        metric=series.metric.name,
        unit=series.metric.unit,
        cells=tuple(
            GridCell(label, len(values), median)
            for label, values, median in zip(labels, groups, medians, strict=True)
        ),
        h=test.h,
        df=test.df,
        p=test.p,
        pairs=tuple(
            GridPair(
                labels[one.first],
                labels[one.second],
                finite_ratio(medians[one.second], medians[one.first]),
                one.p,
                one.p_adjusted,
            )
            for one in (pairwise(groups) if few else ())
        ),
        notes=notes,
        display_unit=benchmark.display_unit,
    )


def _least_p(groups: Sequence[FloatArray]) -> float:
    """The p of groups of these sizes that do not overlap at all."""
    ends = np.cumsum([len(values) for values in groups])
    apart = np.split(np.arange(float(ends[-1])), ends[:-1])
    return kruskal_wallis(apart).p if len(apart) > 2 else pairwise(apart)[0].p


def describe(
    result: Result, outliers: OutlierMode | None = None, confidence: float = CONFIDENCE
) -> ResultStatistics:
    """Describe the benchmarks of a result, the head's run first.

    Args:
        outliers: how to find the outliers that the second mean leaves out, if all details are
            wanted; None for only a line per series.
        confidence: of all intervals.
    """
    runs = [_describe_run("head", result.head, result.base, outliers, confidence)]
    if result.base is not None:
        runs.append(_describe_run("base", result.base, result.head, outliers, confidence))
    phases = result.phases if outliers else ()
    return ResultStatistics(tuple(runs), result.duration_s, result.warnings, phases)


def _describe_run(
    arm: str, run: Run, other: Run | None, outliers: OutlierMode | None, confidence: float
) -> RunStatistics:
    beside = {
        (b.id, s.metric.name): s for b in (other.benchmarks if other else ()) for s in b.series
    }
    shown = run.of_project
    return RunStatistics(
        arm=arm,
        source=run.source,
        started=run.started,
        complete=run.complete,
        environment=run.environment,
        series=tuple(
            _describe(b, s, beside.get((b.id, s.metric.name)), run, outliers, confidence=confidence)
            for b in shown
            for s in b.series
            if s.launches
        ),
        failures=tuple(Failure(b.id, b.error or "") for b in shown if b.status is Status.FAILED),
        same_code=tuple(b.id for b in shown if b.status is Status.SAME_CODE),
        grids=grids(shown) if outliers else (),
        loads=tuple(
            describe_load(
                b, b.load, seed=run.seed, confidence=confidence, detailed=outliers is not None
            )
            for b in shown
            if b.load and b.load.launches
        ),
    )


def _describe(
    benchmark: BenchmarkResult,
    series: Series,
    other: Series | None,
    run: Run,
    outliers: OutlierMode | None,
    *,
    confidence: float,
) -> SeriesStatistics:
    found = summarize(benchmark, series)
    if outliers is None:
        return found
    cost_ns = run.environment.timer_cost_ns
    more = describe_series(series, outliers, confidence, seed=run.seed, timer_cost_ns=cost_ns)
    return replace(found, detail=replace(more, lanes=compare_lanes(series, other)))


_FALSE_ALARMS, _POWER = 0.01, 0.8  # of the promises about what a comparison would find


def describe_series(
    series: Series,
    outliers: OutlierMode,
    confidence: float,
    *,
    seed: int,
    timer_cost_ns: float | None,
) -> SeriesDetail:
    """Describe a series, which has at least one launch.

    Args:
        confidence: of all intervals.
        timer_cost_ns: cost of reading the clock, in ns; None if unknown.
    """
    launches = [launch.samples for launch in series.launches]
    pooled = np.concatenate(launches)
    sampled = series.metric.kind is Kind.SAMPLED and len(pooled) > 1
    is_time = _is_time(series)
    found, doubts = quantiles(launches, confidence, seed=seed, resampled=sampled)
    trimmed, remarks = trimmed_mean(pooled, outliers, confidence)
    return SeriesDetail(
        samples=len(pooled),
        quantiles=found,
        full=full_mean(pooled, confidence),
        trimmed=trimmed,
        within=within_launch(launches) if sampled else None,
        between=between_launches(launches, confidence, seed=seed) if sampled else None,
        reach=reach(launches, _FALSE_ALARMS, _POWER) if sampled else None,
        warmup=warmup(series.launches) if sampled and is_time else None,
        timer_ratio=_timer_ratio(pooled, series.loops, timer_cost_ns) if is_time else None,
        notes=(*_notes(series), *remarks, *doubts),
    )


def _is_time(series: Series) -> bool:
    return series.metric.name == "time"


def _timer_ratio(samples: FloatArray, loops: int, cost_ns: float | None) -> float | None:
    interval_ns = float(nearest_rank(samples, 0.5)) * loops * 1e9
    return finite_ratio(cost_ns, interval_ns) if interval_ns > 0 else None


def _notes(series: Series) -> tuple[str, ...]:
    if series.metric.kind is Kind.EXACT:
        return ("exact: it does not vary, so there is nothing to estimate",)
    if series.metric.kind is Kind.SUMMARY:
        return ("a summary: the samples behind it are not stored",)
    notes = []
    if len(series.launches) == 1:
        notes.append(
            "one launch: how launches differ is unknown, so no interval here covers another run"
        )
    samples = max(len(launch.samples) for launch in series.launches)
    if samples == 1:
        notes.append("one sample per launch: the spread within a launch is unknown")
    elif samples < LEAST_SAMPLES:
        unseen = "how neighbors depend on each other"
        if _is_time(series) and warmup(series.launches) is None:
            unseen += ", or when a launch is warm"
        notes.append(f"fewer than {LEAST_SAMPLES} samples in a launch: too few to see {unseen}")
    return tuple(notes)

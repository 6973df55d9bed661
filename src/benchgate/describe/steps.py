"""Describes the steps of scenarios: latencies, throughput and errors under load."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.errors import FormatError
from benchgate.gate.under_load import load_notes
from benchgate.model.document import REWRITE
from benchgate.model.statistics import (
    ErrorCount,
    LaunchCourse,
    LoadDetail,
    LoadMetric,
    LoadPercentile,
    LoadStatistics,
    Mean,
)
from benchgate.stats.histogram import Histogram, decode
from benchgate.stats.intervals import (
    location_interval,
    mean_interval,
)
from benchgate.stats.spread import (
    moments,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.model.load import LoadLaunch, LoadResult
    from benchgate.model.run import BenchmarkResult


def mean_of_launches(values: FloatArray, confidence: float, *, seed: int) -> Mean:
    """The geometric mean, if there is one: a launch that took twice as long weighs less."""
    found = moments(values)
    spread = (found.sd, found.cv, found.sem)
    if values.min() <= 0:
        return Mean(found.n, found.mean, *spread, mean_interval(values, confidence))
    # exp(log(x)) may differ from x in the last digit; equal values keep theirs.
    center = float(np.clip(math.exp(moments(np.log(values)).mean), values.min(), values.max()))
    interval = location_interval(values, confidence, seed=seed)
    return Mean(found.n, center, *spread, interval, geometric=True)


_PERCENTILES: Final = {
    "min": 0.0,
    "p50": 0.5,
    "p75": 0.75,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p99.9": 0.999,
    "p99.99": 0.9999,
    "max": 1.0,
}
_ERRORS_NAMED: Final = 10


def describe_load(
    benchmark: BenchmarkResult, load: LoadResult, *, seed: int, confidence: float, detailed: bool
) -> LoadStatistics:
    """Describe a step of a scenario.

    Args:
        seed: of the bootstrap.
        confidence: of the intervals.
        detailed: whether to read the histograms.
    """
    launches = load.launches
    texts = Counter(kept.text for launch in launches for kept in launch.kept_errors)
    counts = [(launch.windows.ops, launch.windows.errors) for launch in launches]
    return LoadStatistics(
        benchmark=benchmark.id,
        scenario=load.scenario,
        target=load.target,
        step=load.step,
        loop=load.loop,
        workers=load.workers,
        rate=load.rate,
        launches=len(launches),
        duration_s=float(np.median([x.duration_s for x in launches])) if launches else 0.0,
        ops=sum(launch.ops for launch in launches),
        errors=sum(launch.errors for launch in launches),
        unfinished=sum(launch.unfinished for launch in launches),
        metrics=_metrics(benchmark, launches, confidence, seed),
        error_texts=tuple(ErrorCount(*one) for one in texts.most_common(_ERRORS_NAMED)),
        window_s=max((launch.windows.width_s for launch in launches), default=None),
        windows=sum(len(ops) for ops, _ in counts),
        empty_windows=sum(
            not any(both) for ops, errors in counts for both in zip(ops, errors, strict=True)
        ),
        server=dict(load.server),
        notes=(*load_notes(launches), *benchmark.notes),
        detail=_detail(benchmark.id, launches) if detailed else None,
    )


def histogram_of(benchmark: str, launch: LoadLaunch) -> Histogram:
    """The latencies of a launch, in ns."""
    place = f"the histogram of {benchmark!r} in round {launch.round}"
    try:
        histogram = decode(launch.histogram)
    except ValueError as error:
        raise FormatError(f"{place} cannot be read ({error})", hint=REWRITE) from None
    recorded = launch.ops + launch.unfinished
    if histogram.count != recorded:
        counts = f"{histogram.count} latencies, but {recorded} operations have one"
        raise FormatError(f"{place} has {counts}", hint=REWRITE)
    return histogram


def _metrics(
    benchmark: BenchmarkResult, launches: Sequence[LoadLaunch], confidence: float, seed: int
) -> tuple[LoadMetric, ...]:
    found = [
        (one.metric.name, one.metric.unit, np.array([np.median(x.samples) for x in one.launches]))
        for one in benchmark.series
        if one.launches
    ]
    if launches:
        found.insert(0, ("ops", "", np.array([float(launch.ops) for launch in launches])))
    return tuple(_metric(name, unit, values, confidence, seed) for name, unit, values in found)


def _metric(name: str, unit: str, values: FloatArray, confidence: float, seed: int) -> LoadMetric:
    mean = mean_of_launches(values, confidence, seed=seed)
    return LoadMetric(name, unit, mean, float(values.min()), float(values.max()))


def _detail(benchmark: str, launches: Sequence[LoadLaunch]) -> LoadDetail:
    total = Histogram()
    courses = []
    for launch in launches:
        histogram = histogram_of(benchmark, launch)
        total.merge(histogram)
        courses.append(_course(launch, histogram))
    values = {name: total.percentile(p) for name, p in _PERCENTILES.items()}
    return LoadDetail(
        tuple(
            LoadPercentile(name, _PERCENTILES[name], value / 1e9)
            for name, value in values.items()
            if value is not None
        ),
        None if total.mean is None else total.mean / 1e9,
        None if total.stdev is None else total.stdev / 1e9,
        tuple(courses),
    )


def _course(launch: LoadLaunch, histogram: Histogram) -> LaunchCourse:
    generator = launch.generator

    def at(p: float) -> float | None:
        value = histogram.percentile(p)
        return None if value is None else value / 1e9

    return LaunchCourse(
        launch.round,
        launch.ops,
        launch.errors,
        p50_s=at(0.5),
        p95_s=at(0.95),
        p99_s=at(0.99),
        max_s=at(1.0),
        window_ops=launch.windows.ops,
        generator_cpu_ratio=max((group.cpu_ratio for group in generator.groups), default=0.0),
        start_spread_s=generator.start_spread_s,
        late_p99_s=generator.late_p99_s,
        turn_s=launch.turn_s,
    )

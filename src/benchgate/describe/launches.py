"""Describes the launches of a series, and the steps of scenarios."""

from __future__ import annotations

import math
import sys
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.config.resolved import LEAST_TAIL_SAMPLES
from benchgate.errors import FormatError
from benchgate.gate.evidence import cpu_ratio, load_notes, series_of
from benchgate.model.document import REWRITE
from benchgate.model.run import CPU_TIME, TIME, Kind, notes_on
from benchgate.model.statistics import (
    BetweenLaunches,
    ErrorCount,
    LaunchCourse,
    LaunchesForChange,
    LoadDetail,
    LoadMetric,
    LoadPercentile,
    LoadStatistics,
    Mean,
    Quantile,
    Reach,
    SeriesStatistics,
    Warmup,
    WithinLaunch,
    WithoutOutliers,
)
from benchgate.model.verdict import TAILS
from benchgate.stats.autocorrelation import corrected_sem
from benchgate.stats.bootstrap import affordable_resamples, hierarchical_intervals
from benchgate.stats.detectable import (
    detectable_ratio_two_sample,
    launches_to_detect,
    least_launches,
)
from benchgate.stats.differences import MOST_COUNTED
from benchgate.stats.histogram import Histogram, decode
from benchgate.stats.intervals import (
    location_interval,
    mean_interval,
    quantile_interval,
    trimmed_mean_interval,
)
from benchgate.stats.spread import (
    finite_exp,
    moments,
    nearest_rank,
    robust_spread,
    small_sample_note,
    trim,
    variance_components,
    winsorized_sem,
)
from benchgate.stats.trend import settled_index, trend_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.interval import Interval
    from benchgate.model.load import LoadLaunch, LoadResult
    from benchgate.model.run import BenchmarkResult, Launch, Series
    from benchgate.stats.spread import OutlierMode


_LEAST_LAUNCHES = 2


def summarize(benchmark: BenchmarkResult, series: Series) -> SeriesStatistics:
    """Take medians over the launches of a series, which has one at least."""
    counts = [len(launch.samples) for launch in series.launches]
    launches = stacked([launch.samples for launch in series.launches])
    typical = launch_values(launches, 0.25)
    return SeriesStatistics(
        benchmark=benchmark.id,
        metric=series.metric.name,
        unit=series.metric.unit,
        launches=len(launches),
        samples=int(median(counts)),
        loops=series.loops,
        p25=median(typical.tolist()),
        median=median(launch_values(launches, 0.5).tolist()),
        p95=_tail(launches, "p95"),
        spread_ratio=None if series.metric.kind is Kind.EXACT else spread_ratio(typical),
        better=series.metric.better,
        kind=series.metric.kind,
        display_unit=benchmark.display_unit,
        cpu_ratio=_cpu_ratio(benchmark, series, typical),
        p99=_tail(launches, "p99"),
        p999=_tail(launches, "p99.9"),
        max=_tail(launches, "max"),
        notes=(*series.notes, *notes_on(series.metric.name, benchmark.notes)),
    )


def stacked(launches: Sequence[FloatArray]) -> Sequence[FloatArray] | FloatArray:
    """Launches that are equally long as one array, shape (launches, n), which is faster."""
    return np.stack(launches) if len({len(samples) for samples in launches}) == 1 else launches


def launch_values(launches: Sequence[FloatArray] | FloatArray, p: float) -> FloatArray:
    """The p-quantile of each launch, shape (launches,)."""
    rows = launches if isinstance(launches, np.ndarray) else stacked(launches)
    if isinstance(rows, np.ndarray):
        return nearest_rank(rows, p)
    return np.array([float(nearest_rank(samples, p)) for samples in rows])


def finite_ratio(value: float | None, scale: float) -> float | None:
    """Value / scale; None without a value, for a scale of 0, and beyond the largest float."""
    if value is None or not scale:
        return None
    ratio = value / scale
    return ratio if math.isfinite(ratio) else None


def spread_ratio(values: FloatArray) -> float | None:
    """The robust spread of values as a fraction of their median; None for a single value."""
    middle = median(values.tolist())
    if len(values) < _LEAST_LAUNCHES:
        return None
    return finite_ratio(float(robust_spread(values[np.newaxis])[0]), abs(middle))


def _cpu_ratio(benchmark: BenchmarkResult, series: Series, typical_s: FloatArray) -> float | None:
    cpu = series_of(benchmark, CPU_TIME.name)
    if series.metric != TIME or cpu is None:
        return None
    return cpu_ratio(launch_values([launch.samples for launch in cpu.launches], 0.25), typical_s)


def _tail(launches: Sequence[FloatArray] | FloatArray, statistic: str) -> float | None:
    if min(map(len, launches)) < LEAST_TAIL_SAMPLES[statistic]:
        return None
    value: float = median(launch_values(launches, TAILS[statistic]).tolist())
    return value


WINDOW = 10
"""Values in a row that have to be steady."""


def warmup(launches: Sequence[Launch]) -> Warmup | None:
    """The curve of the launches, warm-up included; None if no launch has enough values."""
    long = _long_curves(launches)
    if not long:
        return None
    found = [settled_index(curve, window=WINDOW) for curve in long]
    settled = [index for index in found if index is not None]
    return Warmup(
        curve=_typical(long),
        discarded=_discarded(launches),
        launches=len(long),
        settled=len(settled),
        settled_at=int(np.median(settled)) if settled else None,
    )


def warmup_curve(launches: Sequence[Launch]) -> tuple[tuple[float, ...], int]:
    """The curve of the launches alone, and how many of its values are discarded."""
    long = _long_curves(launches)
    return (_typical(long) if long else ()), _discarded(launches)


def _long_curves(launches: Sequence[Launch]) -> list[FloatArray]:
    curves = [np.concatenate([launch.warmup, launch.samples]) for launch in launches]
    return [curve for curve in curves if len(curve) >= WINDOW]


def _typical(curves: Sequence[FloatArray]) -> tuple[float, ...]:
    length = min(map(len, curves))
    return tuple(np.median([curve[:length] for curve in curves], axis=0).tolist())


def _discarded(launches: Sequence[Launch]) -> int:
    return int(np.median([len(launch.warmup) for launch in launches]))


_QUANTILES = {
    "min": 0.0,
    "p25": 0.25,
    "median": 0.5,
    "p75": 0.75,
    "p95": 0.95,
    "p99": 0.99,
    "p99.9": 0.999,
    "max": 1.0,
}


def quantiles(
    launches: Sequence[FloatArray], confidence: float, *, seed: int, resampled: bool
) -> tuple[tuple[Quantile, ...], tuple[str, ...]]:
    """Quantiles of all samples, and notes; if `resampled`, with intervals except at the ends."""
    pooled = np.concatenate(launches)
    inner = {name: p for name, p in _QUANTILES.items() if 0 < p < 1}
    intervals: dict[str, Interval | None] = {}
    notes: tuple[str, ...] = ()
    if resampled:
        found, notes = _intervals(launches, tuple(inner.values()), confidence, seed=seed)
        intervals = dict(zip(inner, found, strict=True))
    found_quantiles = tuple(
        Quantile(
            name,
            p,
            float(nearest_rank(pooled, p)),
            intervals.get(name),
            _note(len(pooled), p, intervals.get(name), resampled=resampled),
        )
        for name, p in _QUANTILES.items()
    )
    return found_quantiles, notes


def full_mean(values: FloatArray, confidence: float) -> Mean:
    found = moments(values)
    return Mean(
        found.n, found.mean, found.sd, found.cv, found.sem, mean_interval(values, confidence)
    )


def trimmed_mean(
    values: FloatArray, mode: OutlierMode, confidence: float
) -> tuple[WithoutOutliers, tuple[str, ...]]:
    """The mean without outliers, with the Winsorized standard error, and notes."""
    trimmed = trim(values, mode)
    found = moments(trimmed.kept)
    mean = Mean(
        found.n,
        found.mean,
        found.sd,
        found.cv,
        winsorized_sem(trimmed),
        trimmed_mean_interval(trimmed, confidence),
    )
    notes = tuple(f"outliers by {mode}: {note}" for note in trimmed.notes)
    return WithoutOutliers(mode, trimmed.dropped_low, trimmed.dropped_high, mean), notes


def _note(samples: int, p: float, interval: Interval | None, *, resampled: bool) -> str:
    """That a quantile is no more than the maximum, or why it has no interval."""
    if p in {0, 1}:
        return ""
    few = "too few samples for an interval" if resampled and interval is None else ""
    return small_sample_note(samples, p) or few


def _intervals(
    launches: Sequence[FloatArray], ps: tuple[float, ...], confidence: float, *, seed: int
) -> tuple[Sequence[Interval | None], tuple[str, ...]]:
    """By resampling launches; of a single launch by order statistics, for itself alone."""
    if len(launches) == 1:
        return [quantile_interval(launches[0], p, confidence) for p in ps], ()
    resamples = affordable_resamples(sum(map(len, launches)))
    found = hierarchical_intervals(launches, ps, confidence, seed=seed, resamples=resamples)
    return found.quantiles, tuple(f"quantiles: {note}" for note in found.notes)


LEAST_SAMPLES = 10
"""Neighbors of fewer samples are too few to correlate."""

_CHANGES = (0.01, 0.02, 0.05, 0.1)


def within_launch(launches: Sequence[FloatArray]) -> WithinLaunch | None:
    """The dependence of neighboring samples; None if no launch has ten samples that differ."""
    found = [corrected_sem(samples) for samples in launches if len(samples) >= LEAST_SAMPLES]
    known = [
        (e.lag_one, e.effective_n)
        for e in found
        if e.lag_one is not None and e.effective_n is not None
    ]
    if not known:
        return None
    lag_one, effective_n = np.median(np.array(known), axis=0).tolist()
    counts = [len(samples) for samples in launches if len(samples) >= LEAST_SAMPLES]
    return WithinLaunch(lag_one, effective_n, int(np.median(counts)))


def between_launches(
    launches: Sequence[FloatArray], confidence: float, *, seed: int
) -> BetweenLaunches | None:
    """The dependence of samples on their launch; None for one launch."""
    if len(launches) == 1:
        return None
    means = np.array([moments(samples).mean for samples in launches])
    parts = variance_components(launches)
    scale = abs(moments(means).mean)
    return BetweenLaunches(
        between_ratio=finite_ratio(parts.between_sd, scale),
        within_ratio=finite_ratio(parts.within_sd, scale),
        intraclass_correlation=parts.intraclass_correlation,
        understatement=finite_ratio(parts.launch_sem, parts.pooled_sem or 0.0),
        mean=mean_of_launches(means, confidence, seed=seed),
        trend_p=trend_p(launch_values(launches, 0.25)),
    )


def reach(launches: Sequence[FloatArray], alpha: float, power: float) -> Reach | None:
    """What comparing two such runs could detect; None for one launch, or without logarithms."""
    values = launch_values(launches, 0.25)
    n = len(values)
    if n == 1 or values.min() <= 0:
        return None
    spread = robust_spread(np.log(values)[np.newaxis])
    detectable = None
    if n >= least_launches(alpha, "mann-whitney"):
        detectable = float(detectable_ratio_two_sample(spread, n, n, alpha, power)[0])
        # It is infinite if the values are as far apart as floats can be.
        detectable = min(detectable, sys.float_info.max)
    needed = tuple(
        LaunchesForChange(change, count if count <= MOST_COUNTED else None)
        for change in _CHANGES
        for count in (
            int(
                launches_to_detect(
                    spread, 1 + change, alpha, power, MOST_COUNTED, test="mann-whitney"
                )[0]
            ),
        )
    )
    return Reach(finite_exp(float(spread[0])) - 1, alpha, power, detectable, needed)


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

"""Describes the launches of a series."""

from __future__ import annotations

import math
import sys
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchgate.config.resolved import LEAST_TAIL_SAMPLES
from benchgate.describe.steps import mean_of_launches
from benchgate.gate.evidence import cpu_ratio, series_of
from benchgate.model.metrics import CPU_TIME, TIME, Kind, notes_on
from benchgate.model.row import TAILS
from benchgate.model.statistics import (
    BetweenLaunches,
    LaunchesForChange,
    Reach,
    SeriesStatistics,
    Warmup,
    WithinLaunch,
)
from benchgate.stats.autocorrelation import corrected_sem
from benchgate.stats.detectable import (
    detectable_ratio_two_sample,
    launches_to_detect,
    least_launches,
)
from benchgate.stats.differences import MOST_COUNTED
from benchgate.stats.spread import (
    finite_exp,
    moments,
    nearest_rank,
    robust_spread,
    variance_components,
)
from benchgate.stats.trend import settled_index, trend_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.model.launch_table import Launch
    from benchgate.model.run import BenchmarkResult, Series


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

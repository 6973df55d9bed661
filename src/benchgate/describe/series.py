"""Summarizes one metric of one benchmark on one line: what a typical launch measured."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchgate.config.rules import LEAST_TAIL_SAMPLES
from benchgate.gate.evidence import series_of
from benchgate.gate.utilization import cpu_ratio
from benchgate.model.metrics import CPU_TIME, TIME, notes_on
from benchgate.model.row import TAILS
from benchgate.model.run import Kind
from benchgate.model.statistics import SeriesStatistics
from benchgate.stats.quantiles import nearest_rank
from benchgate.stats.spread import robust_spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
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

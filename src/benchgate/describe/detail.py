"""All details of one series, for readers who want to see how good its numbers are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.describe.launches import (
    LEAST_SAMPLES,
    between_launches,
    full_mean,
    quantiles,
    reach,
    trimmed_mean,
    warmup,
    within_launch,
)
from benchgate.describe.series import finite_ratio
from benchgate.model.run import Kind
from benchgate.model.statistics import SeriesDetail
from benchgate.stats.quantiles import nearest_rank

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.model.run import Series
    from benchgate.stats.outliers import OutlierMode


@dataclass(frozen=True, slots=True)
class DetailSettings:
    """How to describe a series.

    Attributes:
        outliers: how to find the outliers that the trimmed figures leave out.
        alpha, power: of the promises about what a comparison would find.
    """

    outliers: OutlierMode = "iqr"
    confidence: float = 0.95
    alpha: float = 0.01
    power: float = 0.8


def describe_series(
    series: Series, settings: DetailSettings, *, seed: int, timer_cost_ns: float | None
) -> SeriesDetail:
    """Describe a series, which has at least one launch.

    Args:
        seed: seed of the resampling.
        timer_cost_ns: cost of reading the clock, in ns; None if unknown.
    """
    launches = [launch.samples for launch in series.launches]
    pooled = np.concatenate(launches)
    sampled = series.metric.kind is Kind.SAMPLED and len(pooled) > 1
    is_time = _is_time(series)
    found, doubts = quantiles(launches, settings.confidence, seed=seed, resampled=sampled)
    trimmed, remarks = trimmed_mean(pooled, settings.outliers, settings.confidence)
    return SeriesDetail(
        samples=len(pooled),
        quantiles=found,
        full=full_mean(pooled, settings.confidence),
        trimmed=trimmed,
        within=within_launch(launches) if sampled else None,
        between=between_launches(launches, settings.confidence, seed=seed) if sampled else None,
        reach=reach(launches, settings.alpha, settings.power) if sampled else None,
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

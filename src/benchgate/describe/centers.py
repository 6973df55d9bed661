"""Quantiles and means of a series, each with its intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.model.statistics import (
    Mean,
    Quantile,
    WithoutOutliers,
)
from benchgate.stats.bootstrap import hierarchical_intervals
from benchgate.stats.intervals import (
    mean_interval,
    quantile_interval,
    trimmed_mean_interval,
)
from benchgate.stats.resampling import affordable_resamples
from benchgate.stats.spread import (
    moments,
    nearest_rank,
    small_sample_note,
    trim,
    winsorized_sem,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.interval import Interval
    from benchgate.stats.spread import OutlierMode


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

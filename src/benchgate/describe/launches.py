"""Describes how the samples of a launch, and the launches of a series, depend on each other."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np

from benchgate.describe.series import finite_ratio, launch_values
from benchgate.model.mean import Mean
from benchgate.model.statistics import (
    BetweenLaunches,
    LaunchesForChange,
    Quantile,
    Reach,
    Warmup,
    WithinLaunch,
    WithoutOutliers,
)
from benchgate.stats.hierarchical import hierarchical_intervals
from benchgate.stats.intervals import location_interval, mean_interval, trimmed_mean_interval
from benchgate.stats.moments import finite_exp, moments
from benchgate.stats.outliers import trim, winsorized_sem
from benchgate.stats.power import (
    MOST_COUNTED,
    detectable_ratio_two_sample,
    launches_to_detect,
    least_launches,
)
from benchgate.stats.quantile_intervals import quantile_interval
from benchgate.stats.quantiles import nearest_rank, small_sample_note
from benchgate.stats.resampling import affordable_resamples
from benchgate.stats.spread import robust_spread, variance_components
from benchgate.stats.timeseries import corrected_sem, settled_index, trend_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.interval import Interval
    from benchgate.model.launches import Launch
    from benchgate.stats.outliers import OutlierMode

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
    """The mean of all values."""
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

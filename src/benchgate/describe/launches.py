"""How the samples of a launch, and the launches of a series, depend on each other."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np

from benchgate.describe.series import finite_ratio, launch_values
from benchgate.model.statistics import BetweenLaunches, Mean, Needed, Reach, WithinLaunch
from benchgate.stats.autocorrelation import corrected_sem
from benchgate.stats.components import variance_components
from benchgate.stats.intervals import mean_interval
from benchgate.stats.location import location_interval
from benchgate.stats.moments import moments
from benchgate.stats.power import (
    MOST_COUNTED,
    detectable_ratio_two_sample,
    launches_to_detect,
    least_launches,
)
from benchgate.stats.scaling import finite_exp
from benchgate.stats.spread import robust_spread
from benchgate.stats.warmup import trend_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray

LEAST_SAMPLES = 10
"""Neighbors of fewer samples are too few to correlate."""

_CHANGES = (0.01, 0.02, 0.05, 0.1)


def within_launch(launches: Sequence[FloatArray]) -> WithinLaunch | None:
    """The dependence of neighboring samples; None if no launch has ten that differ."""
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
        mean=_mean(means, confidence, seed=seed),
        trend_p=trend_p(launch_values(launches, 0.25)),
    )


def reach(launches: Sequence[FloatArray], alpha: float, power: float) -> Reach | None:
    """What two such runs could show; None for one launch, or values that have no logarithm."""
    values = launch_values(launches, 0.25)
    n = len(values)
    if n == 1 or values.min() <= 0:
        return None
    spread = robust_spread(np.log(values)[np.newaxis])
    detectable = None
    if n >= least_launches(alpha, "mann-whitney"):
        detectable = float(detectable_ratio_two_sample(spread, n, n, alpha, power)[0])
        # Of values as far apart as floats can be it is infinite.
        detectable = min(detectable, sys.float_info.max)
    needed = tuple(
        Needed(change, count if count <= MOST_COUNTED else None)
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


def _mean(values: FloatArray, confidence: float, *, seed: int) -> Mean:
    """The geometric mean, if there is one: a launch that took twice as long weighs less."""
    found = moments(values)
    spread = (found.sd, found.cv, found.sem)
    if values.min() <= 0:
        return Mean(found.n, found.mean, *spread, mean_interval(values, confidence))
    center = math.exp(moments(np.log(values)).mean)
    interval = location_interval(values, confidence, seed=seed)
    return Mean(found.n, center, *spread, interval, geometric=True)

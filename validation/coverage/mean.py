"""Intervals of the center of one sample, or of one benchmark's launches."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scipy.special import stdtrit

from benchgate.interval import Interval
from benchgate.stats.autocorrelation import corrected_sem
from benchgate.stats.intervals import log_mean_interval, mean_interval, trimmed_mean_interval
from benchgate.stats.spread import OutlierMode, trim
from validation import data
from validation.coverage.held import CONFIDENCE, coverage, held
from validation.rates import Verdict

if TYPE_CHECKING:
    import numpy as np

    from benchgate.arrays import BoolArray, FloatArray
    from benchgate.stats.autocorrelation import Weights

REPLICATES = 10_000
SKEWED_MEAN = data.LEVEL * math.exp(0.5)
# The mean of a lognormal distribution, of launches as well as of samples.
LAUNCH_MEAN = data.LEVEL * math.exp((data.BETWEEN**2 + data.WITHIN**2) / 2)


def _t(values: FloatArray, truth: float = data.LEVEL) -> BoolArray:
    return held((mean_interval(row, CONFIDENCE) for row in values), truth)


def _t_on_logs(values: FloatArray) -> BoolArray:
    return held((log_mean_interval(row, CONFIDENCE) for row in values), data.LEVEL)


def _winsorized(values: FloatArray, mode: OutlierMode) -> BoolArray:
    return held((trimmed_mean_interval(trim(row, mode), CONFIDENCE) for row in values), data.LEVEL)


def _naively_trimmed(values: FloatArray, mode: OutlierMode) -> BoolArray:
    return held((mean_interval(trim(row, mode).kept, CONFIDENCE) for row in values), data.LEVEL)


def _corrected(values: FloatArray, weights: Weights, truth: float = data.LEVEL) -> BoolArray:
    """Mean +- t(n - 1) corrected standard error."""

    def interval(row: FloatArray) -> Interval:
        reach = float(stdtrit(len(row) - 1, (1 + CONFIDENCE) / 2)) * (
            corrected_sem(row, weights).sem or math.nan
        )
        return Interval(row.mean() - reach, row.mean() + reach, CONFIDENCE, "corrected t")

    return held(map(interval, values), truth)


def _pooled_launches(rng: np.random.Generator) -> BoolArray:
    return _t(data.launches(rng, REPLICATES, 10, 45).reshape(REPLICATES, -1), LAUNCH_MEAN)


def _corrected_launches(rng: np.random.Generator) -> BoolArray:
    pools = data.launches(rng, 4_000, 10, 45).reshape(4_000, -1)
    return _corrected(pools, "plain", LAUNCH_MEAN)


def _launch_means(rng: np.random.Generator) -> BoolArray:
    return _t(data.launches(rng, REPLICATES, 10, 45).mean(axis=2), LAUNCH_MEAN)


ROWS = (
    coverage(
        what="t, mean",
        data="3 values, normal",
        expected=Verdict.HOLDS,
        known=(CONFIDENCE, 0.0),
        run=lambda rng: _t(data.normal(rng, REPLICATES, 3)),
    ),
    coverage(
        what="t, mean",
        data="30 values, normal",
        expected=Verdict.HOLDS,
        known=(CONFIDENCE, 0.0),
        run=lambda rng: _t(data.normal(rng, REPLICATES, 30)),
    ),
    coverage(
        what="t, mean",
        data="30 values, heavy tails",
        expected=Verdict.HOLDS,
        run=lambda rng: _t(data.heavy(rng, REPLICATES, 30)),
    ),
    coverage(
        what="t, mean",
        data="10 values, skewed",
        expected=Verdict.FAILS,
        known=(0.84, 0.005),
        run=lambda rng: _t(data.skewed(rng, REPLICATES, 10), SKEWED_MEAN),
        note="few values rarely show the long tail; use t on logs, or an interval of a quantile",
    ),
    coverage(
        what="t, mean",
        data="50 values, autocorrelated",
        expected=Verdict.FAILS,
        run=lambda rng: _t(data.autocorrelated(rng, REPLICATES, 50)),
        note="50 values that resemble their neighbors are worth fewer; correct for that",
    ),
    coverage(
        what="t, mean of all samples pooled",
        data="10 launches of 45 samples, launch-structured",
        expected=Verdict.FAILS,
        run=_pooled_launches,
        note="450 samples are not 450 repetitions; use the means of launches",
    ),
    coverage(
        what="t, mean of the launches' means",
        data="10 launches of 45 samples, launch-structured",
        expected=Verdict.HOLDS,
        run=_launch_means,
    ),
    coverage(
        what="t corrected for autocorrelation",
        data="50 values, autocorrelated",
        expected=Verdict.FAILS,
        run=lambda rng: _corrected(data.autocorrelated(rng, 5_000, 50), "plain"),
        note="better than uncorrected, but too few values to see how they depend; use launches",
    ),
    coverage(
        what="t corrected for autocorrelation",
        data="500 values, autocorrelated",
        expected=Verdict.FAILS,
        run=lambda rng: _corrected(data.autocorrelated(rng, 2_000, 500), "plain"),
        note="closer, but still short",
    ),
    coverage(
        what="t corrected for autocorrelation, Bartlett",
        data="500 values, autocorrelated",
        expected=Verdict.SHORT,
        run=lambda rng: _corrected(data.autocorrelated(rng, 2_000, 500), "bartlett"),
    ),
    coverage(
        what="t corrected for autocorrelation, mean of all samples pooled",
        data="10 launches of 45 samples, launch-structured",
        expected=Verdict.FAILS,
        run=_corrected_launches,
        note="it sees that neighbors are alike, not how few launches there are; use their means",
    ),
    coverage(
        what="t corrected for autocorrelation",
        data="50 values, normal",
        expected=Verdict.HOLDS,
        run=lambda rng: _corrected(data.normal(rng, REPLICATES, 50), "plain"),
    ),
    coverage(
        what="Winsorized t, 5 % dropped per end",
        data="40 values, heavy tails",
        expected=Verdict.HOLDS,
        run=lambda rng: _winsorized(data.heavy(rng, REPLICATES, 40), "both5"),
    ),
    coverage(
        what="Winsorized t, outliers by iqr dropped",
        data="40 values, heavy tails",
        expected=Verdict.HOLDS,
        run=lambda rng: _winsorized(data.heavy(rng, REPLICATES, 40), "iqr"),
    ),
    coverage(
        what="Winsorized t, outliers by iqr dropped",
        data="40 values, normal",
        expected=Verdict.SHORT,
        run=lambda rng: _winsorized(data.normal(rng, REPLICATES, 40), "iqr"),
        note="the theory assumes that a fixed share is dropped; fences drop whatever lies outside",
    ),
    coverage(
        what="t of what is kept, outliers by iqr dropped",
        data="40 values, heavy tails",
        expected=Verdict.FAILS,
        run=lambda rng: _naively_trimmed(data.heavy(rng, REPLICATES, 40), "iqr"),
        note="the dropped values were measured; use the Winsorized error",
    ),
    coverage(
        what="t on logs, geometric mean",
        data="3 values, skewed",
        expected=Verdict.HOLDS,
        known=(CONFIDENCE, 0.0),
        run=lambda rng: _t_on_logs(data.skewed(rng, REPLICATES, 3)),
    ),
    coverage(
        what="t on logs, geometric mean",
        data="10 values, skewed",
        expected=Verdict.HOLDS,
        known=(CONFIDENCE, 0.0),
        run=lambda rng: _t_on_logs(data.skewed(rng, REPLICATES, 10)),
    ),
)

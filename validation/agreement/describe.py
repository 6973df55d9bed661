"""Statistics that describe one sample, or the launches of one benchmark."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchgate.stats.autocorrelation import autocorrelation, corrected_sem
from benchgate.stats.intervals import log_mean_interval, mean_interval, trimmed_mean_interval
from benchgate.stats.spread import moments, trim, variance_components
from validation.agreement.case import Agreement, Draw, Pair

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.arrays import FloatArray
    from benchgate.interval import Interval

SIZES = (2, 3, 5, 10, 30, 100, 500)
CONFIDENCE = 0.95


def ends(intervals: Iterable[Interval | None]) -> FloatArray:
    """Give the ends of intervals, shape (2, rows); NaN if there is none."""
    pairs = [(i.low, i.high) if i else (math.nan, math.nan) for i in intervals]
    return np.array(pairs).T


def varied(draw: Draw, n: int) -> FloatArray:
    """Draw rows that are not constant; about a constant row, SciPy would only warn."""
    values = draw(n)
    values[:, 0] += np.where(np.ptp(values, axis=1) == 0, 1.0, 0.0)
    return values


def _moments(draw: Draw, n: int) -> Pair:
    values = varied(draw, n)
    ours = [(m.mean, m.sd, m.sem, m.cv) for m in map(moments, values)]
    theirs = [
        stats.tmean(values, axis=1),
        stats.tstd(values, axis=1),
        stats.sem(values, axis=1),
        stats.variation(values, axis=1, ddof=1),
    ]
    return np.array(ours, dtype=np.float64).T, np.array(theirs)


def _mean_interval(draw: Draw, n: int) -> Pair:
    values = varied(draw, n)
    theirs = stats.ttest_1samp(values, 0, axis=1).confidence_interval(CONFIDENCE)
    return ends(mean_interval(row, CONFIDENCE) for row in values), np.array(theirs)


def _log_mean_interval(draw: Draw, n: int) -> Pair:
    values = varied(draw, n)
    theirs = stats.ttest_1samp(np.log(values), 0, axis=1).confidence_interval(CONFIDENCE)
    return ends(log_mean_interval(row, CONFIDENCE) for row in values), np.exp(np.array(theirs))


def _trimmed_interval(draw: Draw, n: int) -> Pair:
    values = varied(draw, n)
    ours = ends(trimmed_mean_interval(trim(row, "both5"), CONFIDENCE) for row in values)
    theirs = [stats.mstats.trimmed_mean_ci(row, limits=(0.05, 0.05)) for row in values]
    return ours, np.array(theirs).T


def _kept(draw: Draw, n: int) -> Pair:
    """How many each rule keeps, and their sum."""
    values = draw(n)
    ours, theirs = [], []
    for row in values:
        ours += [trim(row, mode).kept for mode in ("top5", "both5", "iqr", "mad")]
        first, third = stats.quantile(row, np.array([0.25, 0.75]), method="inverted_cdf")
        reach = 1.5 * (third - first)
        spread = 1.4826 * stats.median_abs_deviation(row) or np.std(row, ddof=1)
        theirs += [
            np.sort(row)[: n - math.ceil(n / 20)] if n > 1 else row,
            stats.trimboth(row, 0.05),
            row[(row >= first - reach) & (row <= third + reach)],
            row[np.abs(row - np.median(row)) <= 3 * spread],
        ]
    return [(len(k), math.fsum(k)) for k in ours], [(len(k), math.fsum(k)) for k in theirs]


def _autocovariance(row: FloatArray, lag: int) -> float:
    d = row - row.mean()
    return math.fsum(d[: len(d) - lag] * d[lag:]) / len(d)


def _autocorrelation(draw: Draw, n: int) -> Pair:
    values = varied(draw, n)
    lags = min(n - 1, 25)
    ours = [autocorrelation(row, lags) for row in values]
    theirs = [
        [_autocovariance(row, k) / _autocovariance(row, 0) for k in range(1, lags + 1)]
        for row in values
    ]
    return np.array(ours, dtype=np.float64), np.array(theirs)


def _corrected_sem(draw: Draw, n: int) -> Pair:
    values = np.cumsum(varied(draw, n) - 100, axis=1)  # every value resembles the one before
    ours, theirs = [], []
    for row in values:
        naive = float(stats.sem(row))
        lags = math.isqrt(n)
        sums = [
            sum((1 - k / width) * _autocovariance(row, k) for k in range(1, lags + 1))
            for width in (n, lags + 1)
        ]
        variances = [(_autocovariance(row, 0) + 2 * s) / n for s in sums]
        ours.append([corrected_sem(row).sem, corrected_sem(row, "bartlett").sem])
        theirs.append([max(naive, math.sqrt(max(v, 0.0))) for v in variances])
    return np.array(ours, dtype=np.float64), np.array(theirs)


def _components(draw: Draw, n: int) -> Pair:
    """SciPy's F of a one-way analysis of variance is MSB / MSW."""
    counts = [n, n + 1, max(2, n // 2), n]
    arms = [varied(draw, k) * draw.rng.uniform(0.9, 1.1, size=(draw.rows, 1)) for k in counts]
    f = stats.f_oneway(*arms, axis=1).statistic
    within = sum((k - 1) * arm.var(axis=1, ddof=1) for k, arm in zip(counts, arms, strict=True))
    within /= sum(counts) - len(counts)
    n0 = (sum(counts) - sum(k * k for k in counts) / sum(counts)) / (len(counts) - 1)
    between = np.maximum(0.0, (f - 1) * within / n0)
    means = np.stack([arm.mean(axis=1) for arm in arms])
    found = [variance_components([arm[row] for arm in arms]) for row in range(draw.rows)]
    ours = [
        (c.between_sd, c.within_sd, c.intraclass_correlation, c.pooled_sem, c.launch_sem)
        for c in found
    ]
    theirs = [
        np.sqrt(between),
        np.sqrt(within),
        between / (between + within),
        stats.sem(np.concatenate(arms, axis=1), axis=1),
        stats.sem(means, axis=0),
    ]
    return np.array(ours, dtype=np.float64).T, np.array(theirs)


ROWS = (
    Agreement(
        "mean, s, standard error, coefficient of variation",
        "`scipy.stats.tmean`, `tstd`, `sem`, `variation`",
        SIZES,
        1e-12,
        _moments,
    ),
    Agreement(
        "t interval of the mean",
        "`scipy.stats.ttest_1samp`",
        SIZES,
        1e-12,
        _mean_interval,
        least=1e-3,
    ),
    Agreement(
        "t interval on logs",
        "`scipy.stats.ttest_1samp` of the logs",
        SIZES,
        1e-12,
        _log_mean_interval,
    ),
    Agreement(
        "Winsorized t interval (5 % per end)",
        "`scipy.stats.mstats.trimmed_mean_ci`",
        (20, 40, 100, 500),
        1e-12,
        _trimmed_interval,
    ),
    Agreement(
        "what top5, both5, iqr and mad keep",
        "`scipy.stats.trimboth`, `quantile`, `median_abs_deviation`",
        (2, 5, 19, 20, 21, 100, 500),
        1e-12,
        _kept,
    ),
    Agreement(
        "autocorrelation, lags 1 to 25",
        "sums of products",
        (2, 3, 10, 100, 500),
        1e-12,
        _autocorrelation,
        least=1e-2,
    ),
    Agreement(
        "standard error corrected for autocorrelation",
        "sums of products",
        (2, 3, 10, 100, 500),
        1e-12,
        _corrected_sem,
    ),
    Agreement(
        "variance components, intraclass correlation",
        "`scipy.stats.f_oneway`, `sem`",
        (2, 3, 10, 45, 125),
        1e-11,
        _components,
        least=1e-3,
    ),
)

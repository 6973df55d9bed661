"""Intervals of a quantile between two order statistics."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchgate.stats.intervals import quantile_interval
from validation import data
from validation.coverage.held import CONFIDENCE, coverage, held
from validation.rates import Verdict

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray

REPLICATES = 10_000


def _held(values: FloatArray, p: float, truth: float) -> BoolArray:
    return held((quantile_interval(row, p, CONFIDENCE) for row in values), truth)


def _skewed(n: int, p: float, rng: np.random.Generator) -> BoolArray:
    truth = data.LEVEL * float(np.exp(stats.norm.ppf(p)))
    return _held(data.skewed(rng, REPLICATES, n), p, truth)


def _autocorrelated(rng: np.random.Generator) -> BoolArray:
    return _held(data.autocorrelated(rng, 4_000, 50), 0.5, data.LEVEL)


def _pooled(rng: np.random.Generator) -> BoolArray:
    pools = data.launches(rng, 4_000, 10, 45).reshape(4_000, -1)
    return _held(pools, 0.5, data.LEVEL)


def _of_launches(rng: np.random.Generator) -> BoolArray:
    return _held(np.median(data.launches(rng, 4_000, 10, 45), axis=2), 0.5, data.LEVEL)


def _truth(n: int, p: float) -> tuple[float, float]:
    """Return the binomial probability that the quantile is between the ranks."""
    tail = (1 - CONFIDENCE) / 2
    low, high = stats.binom.ppf(tail, n, p), stats.binom.isf(tail, n, p) + 1
    return float(stats.binom.cdf(high - 1, n, p) - stats.binom.cdf(low - 1, n, p)), 0.0


ROWS = (
    coverage(
        what="order statistics, median",
        data="10 values, skewed",
        expected=Verdict.CAUTIOUS,
        known=_truth(10, 0.5),
        run=partial(_skewed, 10, 0.5),
    ),
    coverage(
        what="order statistics, p95",
        data="100 values, skewed",
        expected=Verdict.CAUTIOUS,
        known=_truth(100, 0.95),
        run=partial(_skewed, 100, 0.95),
    ),
    coverage(
        what="order statistics, median of the launches' medians",
        data="10 launches of 45 samples, launch-structured",
        expected=Verdict.CAUTIOUS,
        known=_truth(10, 0.5),
        run=_of_launches,
    ),
    coverage(
        what="order statistics, median of pooled samples",
        data="10 launches of 45 samples, launch-structured",
        expected=Verdict.FAILS,
        run=_pooled,
        note="450 samples are not 450 repetitions; use one value per launch",
    ),
    coverage(
        what="order statistics, median",
        data="50 values, autocorrelated",
        expected=Verdict.FAILS,
        run=_autocorrelated,
        note="neighbors repeat each other; use launches",
    ),
)

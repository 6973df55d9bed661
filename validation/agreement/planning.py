"""Spread, and the changes that a number of launches can show."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from benchgate.stats.detectable import (
    detectable_ratio,
    detectable_ratio_two_sample,
    launches_needed,
    launches_to_detect,
    least_launches,
)
from benchgate.stats.spread import pooled_robust_spread, robust_spread
from validation.agreement.case import Agreement, Draw, Pair

ALPHA = 0.01
POWER = 0.9
# For 2 to 9 values; for more it is n / (n - 0.8).
CROUX_ROUSSEEUW = (1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107)


def _robust_spread(draw: Draw, n: int) -> Pair:
    d = draw(n)
    mad = stats.median_abs_deviation(d, axis=1)
    factor = CROUX_ROUSSEEUW[n - 2] if n < 10 else n / (n - 0.8)
    return robust_spread(d), np.where(mad > 0, factor * 1.4826 * mad, np.std(d, axis=1, ddof=1))


def _mean_robust_spread(draw: Draw, n: int) -> Pair:
    return robust_spread(draw(n)).mean(), 10.0


def _mean_pooled_spread(draw: Draw, n: int) -> Pair:
    x, y = draw(n), draw(n + n // 4)
    return pooled_robust_spread(x, y).mean(), 10.0


def _detectable(draw: Draw, n: int) -> Pair:
    spread = draw(1)[:, 0] / 10
    t = stats.t.isf(ALPHA, n - 1) + stats.t.isf(1 - POWER, n - 1)
    return detectable_ratio(spread, n, ALPHA, POWER), np.exp(t * spread / math.sqrt(n))


def _detectable_two_sample(draw: Draw, n: int) -> Pair:
    spread = draw(1)[:, 0] / 10
    n2 = n + n // 4
    t = stats.t.isf(ALPHA, n + n2 - 2) + stats.t.isf(1 - POWER, n + n2 - 2)
    error = spread * math.sqrt((n + n2) / (n * n2))
    return detectable_ratio_two_sample(spread, n, n2, ALPHA, POWER), np.exp(t * error)


def _launches_needed(draw: Draw, limit: int) -> Pair:
    spread = draw(1)[:, 0] / 10
    wanted = np.full(draw.rows, limit + 1)
    for row, s in enumerate(spread):
        for n in range(2, limit + 1):
            if stats.t.isf(0.025, n - 1) * s / math.sqrt(n) <= 0.02:
                wanted[row] = n
                break
    found = launches_needed(spread, 0.02, 0.95, limit)
    return found.astype(np.float64), wanted.astype(np.float64)


def _launches_to_detect(draw: Draw, limit: int) -> Pair:
    """The first n that detects a ratio, one by one."""
    spread = 0.001 + draw(1)[:, 0] / 20
    ratio = 1.005 + draw(1)[:, 0] / 10
    found = [
        launches_to_detect(spread, ratio, ALPHA, POWER, limit),
        launches_to_detect(spread, ratio, ALPHA, POWER, limit, test="mann-whitney"),
    ]
    wanted = np.full((2, draw.rows), limit + 1)
    for row in range(draw.rows):
        for n in range(limit, 1, -1):
            each = spread[row : row + 1]
            if n >= least_launches(ALPHA, "wilcoxon"):
                reached = detectable_ratio(each, n, ALPHA, POWER)
                wanted[0, row] = n if reached <= ratio[row] else wanted[0, row]
            if n >= least_launches(ALPHA, "mann-whitney"):
                reached = detectable_ratio_two_sample(each, n, n, ALPHA, POWER)
                wanted[1, row] = n if reached <= ratio[row] else wanted[1, row]
    return found, wanted


ROWS = (
    Agreement(
        "robust spread",
        "`scipy.stats.median_abs_deviation`, factors by Croux and Rousseeuw, 1992",
        (2, 3, 5, 9, 10, 12, 100, 500),
        1e-12,
        _robust_spread,
    ),
    Agreement(
        "robust spread, on average",
        "the standard deviation drawn from, by 100,000 samples",
        (*range(2, 13), 15, 20, 30),
        1e-2,
        _mean_robust_spread,
        ("normal",),
        rows=100_000,
    ),
    Agreement(
        "robust spread within two arms, on average",
        "the standard deviation drawn from, by 100,000 samples",
        (2, 3, 5, 8, 12, 20, 30),
        1e-2,
        _mean_pooled_spread,
        ("normal",),
        rows=100_000,
    ),
    Agreement(
        "smallest detectable ratio, pairs",
        "the same from `scipy.stats.t`",
        (2, 5, 12, 100, 500),
        1e-12,
        _detectable,
        ("uniform",),
    ),
    Agreement(
        "smallest detectable ratio, two samples",
        "the same from `scipy.stats.t`",
        (2, 5, 12, 100, 500),
        1e-12,
        _detectable_two_sample,
        ("uniform",),
    ),
    Agreement(
        "rounds for an interval that narrow",
        "tried one by one with `scipy.stats.t`",
        (2, 10, 50),
        0.0,
        _launches_needed,
        ("uniform",),
    ),
    Agreement(
        "launches that detect a change",
        "smallest detectable ratios, one by one",
        (10, 50, 200),
        0.0,
        _launches_to_detect,
        ("uniform",),
    ),
)

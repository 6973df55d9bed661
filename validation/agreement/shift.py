"""Hodges-Lehmann estimates and intervals, and quantiles."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchgate.stats.intervals import quantile_interval
from benchgate.stats.mann_whitney import two_sample_shift
from benchgate.stats.signed_rank import paired_shift
from benchgate.stats.spread import nearest_rank
from validation.agreement.case import Agreement, Draw, Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.arrays import FloatArray

CONFIDENCE = 0.95
_BISECTIONS = 60
UNTIED = ("normal", "skewed")


def _quantiles(draw: Draw, n: int) -> Pair:
    values = draw(n)
    shares = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
    ours = np.stack([nearest_rank(values, p) for p in shares])
    theirs = stats.quantile(values, np.array(shares), method="inverted_cdf", axis=1)
    return ours, theirs.T


def _quantile_interval(draw: Draw, n: int) -> Pair:
    values = draw(n)
    ours, theirs = [], []
    for row, p in itertools.product(values, (0.25, 0.5, 0.75, 0.95)):
        interval = quantile_interval(row, p, CONFIDENCE)
        ours.append([interval.low, interval.high] if interval else [math.nan] * 2)
        ends = np.asarray(stats.quantile_test(row, p=p).confidence_interval(CONFIDENCE))
        # Where one end does not exist, the package gives none.
        theirs.append(ends + 0 * ends.sum())
    return ours, theirs


def _paired_estimate(draw: Draw, n: int) -> Pair:
    d = draw(n) - draw(n)
    averages = [(a + b) / 2 for k, a in enumerate(d.T) for b in d.T[k:]]
    return paired_shift(d, CONFIDENCE).estimate, np.median(averages, axis=0)


def _two_sample_estimate(draw: Draw, n: int) -> Pair:
    x, y = draw(n), draw(n + n // 4)
    differences = [b - a for a in x.T for b in y.T]
    return two_sample_shift(x, y, CONFIDENCE).estimate, np.median(differences, axis=0)


def _paired_interval(draw: Draw, n: int) -> Pair:
    d = draw(n) - draw(n)

    def p_of(shift: FloatArray) -> FloatArray:
        tested = stats.wilcoxon(d - shift[:, np.newaxis], method="exact", axis=1)
        return np.asarray(tested.pvalue)

    ours = paired_shift(d, CONFIDENCE)
    ends = [_where_rejected(p_of, ours.estimate, end) for end in (d.min(axis=1), d.max(axis=1))]
    return np.stack([ours.low, ours.high]), np.stack(ends)


def _two_sample_interval(draw: Draw, n: int) -> Pair:
    x, y = draw(n), draw(n + n // 4)

    def p_of(shift: FloatArray) -> FloatArray:
        tested = stats.mannwhitneyu(x, y - shift[:, np.newaxis], method="exact", axis=1)
        return np.asarray(tested.pvalue)

    ours = two_sample_shift(x, y, CONFIDENCE)
    reach = y.min(axis=1) - x.max(axis=1), y.max(axis=1) - x.min(axis=1)
    ends = [_where_rejected(p_of, ours.estimate, end) for end in reach]
    return np.stack([ours.low, ours.high]), np.stack(ends)


def _where_rejected(
    p_of: Callable[[FloatArray], FloatArray], inside: FloatArray, outside: FloatArray
) -> FloatArray:
    """Find the shift at which SciPy's two-sided test begins to reject, by bisection."""
    outside = outside + 1e-6 * (outside - inside)
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        kept = p_of(middle) > (1 - CONFIDENCE) * (1 + 1e-12)
        inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
    return outside


ROWS = (
    Agreement(
        "quantiles, nearest rank",
        '`scipy.stats.quantile`, "inverted_cdf"',
        (2, 3, 10, 19, 20, 21, 100, 500),
        0.0,
        _quantiles,
    ),
    Agreement(
        "interval of a quantile, order statistics",
        "`scipy.stats.quantile_test`",
        (2, 6, 10, 72, 100, 500),
        0.0,
        _quantile_interval,
    ),
    Agreement(
        "Hodges-Lehmann, pairs",
        "median of all Walsh averages",
        (2, 3, 5, 12, 60, 200),
        1e-12,
        _paired_estimate,
        least=1e-3,
    ),
    Agreement(
        "Hodges-Lehmann, two samples",
        "median of all differences",
        (2, 3, 5, 12, 60, 200),
        1e-12,
        _two_sample_estimate,
        least=1e-3,
    ),
    Agreement(
        "Hodges-Lehmann interval, pairs",
        "where `scipy.stats.wilcoxon` begins to reject",
        (6, 8, 12, 30, 100),
        1e-9,
        _paired_interval,
        UNTIED,
        least=1e-3,
    ),
    Agreement(
        "Hodges-Lehmann interval, two samples",
        "where `scipy.stats.mannwhitneyu` begins to reject",
        (4, 5, 8, 12, 26),
        1e-9,
        _two_sample_interval,
        UNTIED,
        least=1e-3,
    ),
)

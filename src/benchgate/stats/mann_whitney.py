"""The rank-sum test of two samples (Mann and Whitney, 1947), its estimate and its interval.

Under the null hypothesis, every way to assign the pooled values to the arms is equally likely. The
exact p comes from the sum of y's mid-ranks over all these ways: the permutation distribution given
the ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats import special
from benchgate.stats.checks import require_two_arms
from benchgate.stats.midranks import (
    Method,
    Shifts,
    doubled_midranks,
    rank_sum_ways,
    rank_sum_ways_of_each,
    rows_by_pattern,
    shift_from_pairs,
)

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray, IntArray


# "auto" is exact up to this many values in both arms together.
EXACT_UNTIED = 60
EXACT_TIED = 40
# With more values, the exact distribution takes seconds per row.
EXACT_LIMIT = 200


@dataclass(frozen=True, slots=True, eq=False)
class MannWhitney:
    """The test of m rows; every array has shape (m,).

    Attributes:
        u: pairs in which x is above y, ties counted half; n1 * n2 / 2 if nothing differs.
        p_greater: one-sided, against a y that tends to be greater than x.
        p_less: one-sided, against a y that tends to be less than x.
        p_two_sided: twice the smaller one, at most 1.
        exact: whether the row's p is exact; otherwise it is the normal approximation.
    """

    u: FloatArray
    p_greater: FloatArray
    p_less: FloatArray
    p_two_sided: FloatArray
    exact: BoolArray


def mann_whitney(x: FloatArray, y: FloatArray, method: Method = "auto") -> MannWhitney:
    """Test whether y (the head) tends to be greater or less than x (the base).

    Args:
        x: shape (m, n1), finite.
        y: shape (m, n2), finite.
        method: "auto" is exact in rows with n1 + n2 <= 60 without ties and <= 40 with ties,
            otherwise asymptotic, corrected for ties and for continuity (Mann and Whitney, 1947).
    """
    require_two_arms(x, y)
    n1, n2 = x.shape[1], y.shape[1]
    ranks = doubled_midranks(np.concatenate([x, y], axis=1))
    exact = _exact_rows(ranks, method)
    p_greater = np.empty(len(x))
    p_less = np.empty(len(x))
    p_greater[exact], p_less[exact] = _exact_p(ranks[exact], n2)
    p_greater[~exact], p_less[~exact] = _asymptotic_p(ranks[~exact], n1)
    p_two_sided = np.minimum(1.0, 2 * np.minimum(p_greater, p_less))
    return MannWhitney(_u(ranks, n1), p_greater, p_less, p_two_sided, exact)


def mann_whitney_classical(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the two-sided p of the textbook form: asymptotic, without continuity correction.

    It is corrected for ties.

    Args:
        x: shape (m, n1), finite.
        y: shape (m, n2), finite.

    Returns:
        Shape (m,); 1 in rows whose values are all equal.
    """
    require_two_arms(x, y)
    n1 = x.shape[1]
    ranks = doubled_midranks(np.concatenate([x, y], axis=1))
    z = _over_sd(np.abs(_u(ranks, n1) - n1 * y.shape[1] / 2), ranks, n1)
    p: FloatArray = np.minimum(1.0, 2 * special.ndtr(-z))
    return p


def two_sample_shift(x: FloatArray, y: FloatArray, confidence: float) -> Shifts:
    """Estimate how far y is above x: the median of all differences y - x.

    Args:
        x: shape (m, n1), finite.
        y: shape (m, n2), finite.
        confidence: of the two-sided interval, e.g. 0.95.
    """
    require_two_arms(x, y)
    lower = mann_whitney_lower(x.shape[1], y.shape[1])

    def differences(rows: slice) -> FloatArray:
        pairs: FloatArray = y[rows, :, np.newaxis] - x[rows, np.newaxis, :]
        return pairs.reshape(len(pairs), -1)

    return shift_from_pairs(differences, len(x), lower, confidence)


def mann_whitney_lower(n1: int, n2: int) -> FloatArray:
    """Return P(U <= u) for u = 0 .. n1 * n2 without ties, by the distribution of "auto"."""
    if n1 + n2 <= EXACT_UNTIED:
        return _untied_lower(n1, n2)
    u = np.arange(n1 * n2 + 1)
    sd = math.sqrt(n1 * n2 * (n1 + n2 + 1) / 12)
    lower: FloatArray = special.ndtr((u - n1 * n2 / 2 + 0.5) / sd)
    return lower


def least_p_mann_whitney(n1: int, n2: int) -> float:
    """Return the least one-sided p of n1 v n2 launches: the arms do not overlap."""
    return 1 / math.comb(n1 + n2, n1)


def _u(ranks: IntArray, n1: int) -> FloatArray:
    u: FloatArray = ranks[:, :n1].sum(axis=1) / 2 - n1 * (n1 + 1) / 2
    return u


def _exact_rows(ranks: IntArray, method: Method) -> BoolArray:
    m, n = ranks.shape
    if method == "asymptotic":
        return np.zeros(m, dtype=np.bool_)
    if method == "exact":
        if n > EXACT_LIMIT:
            raise ValueError(f"the exact test takes up to {EXACT_LIMIT} values, not {n}")
        return np.ones(m, dtype=np.bool_)
    if method != "auto":
        raise ValueError(f"method must be auto, exact or asymptotic, and is {method!r}")
    tied = (np.diff(np.sort(ranks, axis=1), axis=1) == 0).any(axis=1)
    exact: BoolArray = n <= np.where(tied, EXACT_TIED, EXACT_UNTIED)
    return exact


def _exact_p(ranks: IntArray, n2: int) -> tuple[FloatArray, FloatArray]:
    # Ranks counted from 0 in units of their largest common step keep the tables small.
    above = ranks - ranks.min(axis=1, keepdims=True)
    reduced = above // np.maximum(1, np.gcd.reduce(above, axis=1, keepdims=True))
    rank_sum = reduced[:, -n2:].sum(axis=1)
    p_greater = np.empty(len(ranks))
    p_less = np.empty(len(ranks))
    groups = list(rows_by_pattern(reduced))
    ways_of_each = rank_sum_ways_of_each([pattern for pattern, _ in groups], n2)
    for (pattern, rows), ways in zip(groups, ways_of_each, strict=True):
        s = rank_sum[rows] - sum(pattern[:n2])
        p_greater[rows] = _cumulated(ways[::-1], ranks.shape[1], n2)[::-1][s]
        p_less[rows] = _cumulated(ways, ranks.shape[1], n2)[s]
    return p_greater, p_less


@lru_cache(maxsize=16)
def _untied_lower(n1: int, n2: int) -> FloatArray:
    lower = _cumulated(rank_sum_ways(tuple(range(n1 + n2)), n2), n1 + n2, n2)
    lower.flags.writeable = False
    return lower


def _cumulated(ways: FloatArray, n: int, k: int) -> FloatArray:
    probability: FloatArray = np.minimum(1.0, np.cumsum(ways) / math.comb(n, k))
    return probability


def _asymptotic_p(ranks: IntArray, n1: int) -> tuple[FloatArray, FloatArray]:
    n2 = ranks.shape[1] - n1
    excess = n1 * n2 / 2 - _u(ranks, n1)
    p_greater = special.ndtr(-_over_sd(excess - 0.5, ranks, n1))
    p_less = special.ndtr(_over_sd(excess + 0.5, ranks, n1))
    return p_greater, p_less


def _over_sd(excess: FloatArray, ranks: IntArray, n1: int) -> FloatArray:
    """Divide the excess of U by its standard deviation without a change, given the ties."""
    n = ranks.shape[1]
    n2 = n - n1
    squares = np.square(ranks - (n + 1.0)).sum(axis=1) / 4  # whole numbers would overflow
    sd = np.sqrt(n1 * n2 / (n * (n - 1)) * squares)
    # If all values are equal sd is 0: the floor turns 0 / 0 into 0, so that p is 1.
    standardized: FloatArray = excess / np.maximum(sd, np.finfo(np.float64).tiny)
    return standardized

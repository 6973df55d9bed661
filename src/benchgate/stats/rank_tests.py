"""Rank tests of launches, paired or not, their estimates, and p-values adjusted for many tests.

Under the null hypothesis, every way to assign the pooled values to the arms is equally likely. The
exact p comes from the sum of y's mid-ranks over all these ways: the permutation distribution given
the ties.

Under the null hypothesis, each difference is as likely to be positive as negative, regardless of
its size. Given the sizes, W+ (the sum of the ranks of the positive differences) counts each rank
with probability 1/2. A convolution gives its distribution, for mid-ranks as well as for plain ones,
so p is exact even if sizes are tied.

Zeros keep their place in the ranking but count for neither side (Pratt, 1959). Given which
differences are zero, the test is exact. It would also be exact if zeros were dropped before
ranking. But then a difference that moves from zero to slightly above it could weaken the evidence
for "greater". Identical arms give p = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from benchgate.stats import special
from benchgate.stats.checks import require_fraction, require_rows, require_two_arms, require_vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchgate.arrays import BoolArray, FloatArray, IntArray


# With more ranks, the tables are too large to keep one for each length.
_SHARED_UP_TO = 60
# How many pairwise values are in memory at once: 16 MB.
_BLOCK = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Shifts:
    """The shift of m rows, in the unit of the data; every array has shape (m,).

    Attributes:
        estimate: the Hodges-Lehmann estimate, finite.
        low: lower end of the interval, -inf if the confidence cannot be reached.
        high: upper end of the interval, inf if the confidence cannot be reached.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray


def doubled_midranks(values: FloatArray) -> IntArray:
    """Return twice the mid-rank of each value within its row: (3, 5, 5) gives (2, 5, 5).

    Args:
        values: shape (m, n), finite.

    Returns:
        Shape (m, n); without ties a permutation of 2, 4, ..., 2n.
    """
    m, n = values.shape
    order = np.argsort(values, axis=1)
    ascending = np.take_along_axis(values, order, axis=1)
    place = np.arange(n)
    edge = ascending[:, 1:] != ascending[:, :-1]
    always = np.ones((m, 1), dtype=np.bool_)
    is_first = np.concatenate([always, edge], axis=1)
    is_last = np.concatenate([edge, always], axis=1)
    first = np.maximum.accumulate(np.where(is_first, place, 0), axis=1)
    last = np.minimum.accumulate(np.where(is_last, place, n - 1)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty((m, n), dtype=np.int64)
    np.put_along_axis(ranks, order, first + last + 2, axis=1)
    return ranks


def rows_by_pattern(ranks: IntArray) -> Iterator[tuple[tuple[int, ...], IntArray]]:
    """Group the rows that hold the same ranks in any order: they share one null distribution.

    Args:
        ranks: shape (m, n), whole numbers >= 0.

    Yields:
        The ranks of a group in ascending order, and the indices of its rows.
    """
    ascending = np.sort(ranks, axis=1)
    patterns, group, sizes = np.unique(ascending, axis=0, return_inverse=True, return_counts=True)
    by_group = np.argsort(group.reshape(-1), kind="stable")
    for pattern, rows in zip(patterns, np.split(by_group, np.cumsum(sizes))[:-1], strict=True):
        yield tuple(pattern.tolist()), rows


def rank_sum_ways(ranks: tuple[int, ...], k: int) -> FloatArray:
    """Count in how many ways k of `ranks`, whole numbers in ascending order, have each sum.

    The first element is for the least possible sum, the last for the greatest. The ranks
    0, 1, ..., n - 1 give the distribution of U in k v n - k values without ties. Counts up to
    2**53 are exact.
    """
    return next(rank_sum_ways_of_each([ranks], k))


def rank_sum_ways_of_each(patterns: Sequence[tuple[int, ...]], k: int) -> Iterator[FloatArray]:
    """Yield `rank_sum_ways` of many patterns of equal length.

    A table holds at j * width + s in how many ways j of the ranks seen so far have the sum s.
    Taking one more rank moves by width + rank. Patterns that begin with the same ranks share the
    tables of these ranks, so the function is faster if neighbors are alike.

    Args:
        patterns: each whole numbers >= 0 in ascending order; sorted patterns share most.
        k: how many ranks are taken, from 1 to the length of a pattern.
    """
    if not patterns:
        return
    n = len(patterns[0])
    width = 1 + max(sum(ranks[n - k :]) for ranks in patterns)
    # Sums of more than k ranks are not needed, nor sums of so few that the rest cannot make k.
    fewest = [max(0, k - n + seen) for seen in range(n + 1)]
    cuts = [
        slice((fewest[seen + 1] - fewest[seen]) * width, (k + 1 - fewest[seen]) * width)
        for seen in range(n)
    ]
    tables = [np.ones(1)]
    for ranks, shared in zip(patterns, _shared_with_next(patterns), strict=True):
        ways = tables[-1]
        for seen in range(len(tables) - 1, n):
            ways = _with_one_more(ways, width + ranks[seen])[cuts[seen]]
            if seen < shared:
                tables.append(ways)
        del tables[shared + 1 :]
        yield ways[sum(ranks[:k]) : sum(ranks[n - k :]) + 1]


def shift_from_pairs(
    pairs_of: Callable[[slice], FloatArray], m: int, lower: FloatArray, confidence: float
) -> Shifts:
    """Estimate a shift from pairwise values, by inverting a rank test (Hodges and Lehmann, 1963).

    The interval consists of the shifts that the two-sided test at 1 - confidence would not reject.
    Its ends are order statistics of the pairwise values, and the estimate is their median. Without
    ties, the interval excludes 0 exactly if the p of that test is at most 1 - confidence. With
    ties, the closed interval covers at least as often as it says (Lehmann, 1975). If there are too
    few pairs for the confidence, it is (-inf, inf).

    Args:
        pairs_of: gives the pairwise values of some rows, shape (rows, pairs), finite.
        m: rows.
        lower: shape (pairs + 1,), P(statistic of the test <= k) for k = 0 .. pairs.
        confidence: of the two-sided interval, e.g. 0.95.
    """
    require_fraction("confidence", confidence)
    count = len(lower) - 1
    # A rounding error (1 - 0.9 < 0.1) must not decide whether a level is met.
    cut = int(np.count_nonzero(lower <= (1 - confidence) / 2 * (1 + 1e-12)))
    estimate = np.empty(m)
    low = np.full(m, -np.inf)
    high = np.full(m, np.inf)
    for rows in _blocks(m, count):
        ascending = np.sort(pairs_of(rows), axis=1)
        estimate[rows] = (ascending[:, (count - 1) // 2] + ascending[:, count // 2]) / 2
        if cut:
            low[rows] = ascending[:, cut - 1]
            high[rows] = ascending[:, count - cut]
    return Shifts(estimate, low, high)


def _with_one_more(ways: FloatArray, step: int) -> FloatArray:
    more = np.zeros(len(ways) + step)
    more[: len(ways)] = ways
    more[step:] += ways
    return more


def _shared_with_next(patterns: Sequence[tuple[int, ...]]) -> list[int]:
    """Return how many ranks each pattern and the next one have in common at their beginning."""
    if len(patterns[0]) > _SHARED_UP_TO:
        return [0] * len(patterns)
    table = np.array(patterns)
    return [*(table[1:] != table[:-1]).argmax(axis=1).tolist(), 0]


def _blocks(m: int, per_row: int) -> Iterator[slice]:
    step = max(1, _BLOCK // per_row)
    return (slice(start, start + step) for start in range(0, m, step))


Method: TypeAlias = Literal["auto", "exact", "asymptotic"]

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


# With more pairs, 2**-n leaves the range of a float.
MAX_PAIRS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class SignedRank:
    """The test of m rows; every array has shape (m,).

    Attributes:
        w_plus: sum of the mid-ranks of the positive differences.
        p_greater: one-sided, against differences that tend to be above 0.
        p_less: one-sided, against differences that tend to be below 0.
        p_two_sided: twice the smaller one, at most 1.
    """

    w_plus: FloatArray
    p_greater: FloatArray
    p_less: FloatArray
    p_two_sided: FloatArray


# With more pairs that are tied, the exact distribution takes a tenth of a second per row.
_EXACT_TIED_PAIRS = 400
# With fewer different ranks, W+ moves in steps that no smooth curve follows.
_LEAST_DISTINCT = 10


def signed_rank(d: FloatArray) -> SignedRank:
    """Test whether paired differences are symmetric about 0 (Wilcoxon, 1945).

    It is exact without ties, and with ties up to 400 pairs, or if there are fewer than 10 different
    sizes. Otherwise it is the normal approximation, corrected for ties, zeros, continuity and
    kurtosis (Edgeworth, 1905). Its p is within 0.1 % of the exact one down to 0.001, within 0.5 %
    down to 0.00001, and below that it is never more than 3 % too small down to 0.0000001
    (at 401 pairs; with more, it is nearer).

    Args:
        d: shape (m, n), head minus base, finite, 1 <= n <= 1000.
    """
    require_rows("d", d)
    _require_exact(d.shape[1])
    ranks = np.where(d == 0, 0, doubled_midranks(np.abs(d)))
    doubled_w = np.where(d > 0, ranks, 0).sum(axis=1)
    p_greater = np.empty(len(d))
    p_less = np.empty(len(d))
    for pattern, rows in rows_by_pattern(ranks):
        step = math.gcd(*pattern) or 1
        w = doubled_w[rows] // step
        reduced = tuple(rank // step for rank in pattern)
        distinct = len(set(reduced) - {0})
        if len(pattern) > _EXACT_TIED_PAIRS and _LEAST_DISTINCT <= distinct < len(pattern):
            p_greater[rows] = _rank_sum_tail(reduced, w)
            p_less[rows] = _rank_sum_tail(reduced, sum(reduced) - w)
            continue
        upper = _rank_sum_upper(reduced)
        p_greater[rows] = upper[w]
        p_less[rows] = upper[len(upper) - 1 - w]
    p_two_sided = np.minimum(1.0, 2 * np.minimum(p_greater, p_less))
    return SignedRank(doubled_w / 2, p_greater, p_less, p_two_sided)


def paired_shift(d: FloatArray, confidence: float) -> Shifts:
    """Estimate the center of paired differences: the median of their Walsh averages.

    Args:
        d: shape (m, n), head minus base, finite, 1 <= n <= 1000.
        confidence: of the two-sided interval, e.g. 0.95.
    """
    require_rows("d", d)
    lower = signed_rank_lower(d.shape[1])
    i, j = np.triu_indices(d.shape[1])

    def walsh_averages(rows: slice) -> FloatArray:
        block = d[rows]
        return (block[:, i] + block[:, j]) / 2

    return shift_from_pairs(walsh_averages, len(d), lower, confidence)


def signed_rank_lower(n: int) -> FloatArray:
    """Return P(W+ <= w) for w = 0 .. n (n + 1) / 2, without ties and zeros."""
    _require_exact(n)
    return _rank_sum_upper(tuple(range(1, n + 1)))[::-1]


def least_p_signed_rank(n: int) -> float:
    """Return the least one-sided p of n pairs: all differences are on one side."""
    return 2.0**-n


@lru_cache(maxsize=16)
def _rank_sum_upper(ranks: tuple[int, ...]) -> FloatArray:
    """Return P(S >= s) for s = 0 .. sum(ranks), with each rank in S with probability 1/2.

    The distribution is symmetric: P(S <= s) is the value at sum(ranks) - s.
    """
    mass = np.zeros(sum(ranks) + 1)
    mass[0] = 1.0
    reach = 0
    for rank in ranks:
        reach += rank
        mass[rank : reach + 1] += mass[: reach + 1 - rank]
        mass[: reach + 1] /= 2
    # The sum starts at the far end, so that small tails keep all their digits.
    upper = np.minimum(1.0, np.cumsum(mass[::-1])[::-1])
    upper.flags.writeable = False
    return upper


def _rank_sum_tail(ranks: tuple[int, ...], s: IntArray) -> FloatArray:
    """Approximate P(S >= s), with each rank in S with probability 1/2."""
    r = np.array(ranks, dtype=np.float64)
    variance = (r**2).sum() / 4
    kurtosis = -(r**4).sum() / 8 / variance**2
    z = (s - 0.5 - r.sum() / 2) / math.sqrt(variance)
    density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    tail = special.ndtr(-z) + density * kurtosis / 24 * (z**3 - 3 * z)
    p: FloatArray = np.clip(tail, 2.0 ** -len(ranks), 1.0)
    return p


def _require_exact(n: int) -> None:
    if n > MAX_PAIRS:
        raise ValueError(f"the exact test takes up to {MAX_PAIRS} pairs, not {n}")


# From this many values per group on, the chi-squared approximation is customary.
_CUSTOMARY = 5


@dataclass(frozen=True, slots=True)
class KruskalWallis:
    """The test that all groups come from one distribution.

    Attributes:
        h: the statistic, corrected for ties; 0 if all values are equal.
        df: groups - 1.
        p: from the chi-squared distribution with df degrees of freedom.
        notes: whether p is only approximate.
    """

    h: float
    df: int
    p: float
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PairTest:
    """The Mann-Whitney test of one pair of groups.

    Attributes:
        first, second: indices of the groups; first < second.
        u: pairs of values in which the first group's is above the second's, ties counted half.
        p: two-sided, exact if `mann_whitney` is.
        p_adjusted: by Holm, over all pairs.
    """

    first: int
    second: int
    u: float
    p: float
    p_adjusted: float


def holm(p: FloatArray) -> FloatArray:
    """Adjust p-values by Holm's step-down procedure (1979), valid under any dependence.

    Args:
        p: shape (k,), k >= 1, each from 0 to 1.

    Returns:
        Shape (k,), in the order of `p`. If every test with an adjusted p <= alpha is rejected,
        the chance of any false rejection among the k tests is at most alpha.
    """
    _require_p(p)
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    """Adjust p-values by Benjamini and Hochberg's step-up procedure (1995).

    It is valid for independent tests, and for tests that depend on each other positively
    (Benjamini and Yekutieli, 2001).

    Args:
        p: shape (k,), k >= 1, each from 0 to 1.

    Returns:
        Shape (k,), in the order of `p`, never above `holm`. If every test with an adjusted p <= q
        is rejected, on average at most a share q of the rejections is false.
    """
    _require_p(p)
    order = np.argsort(p)[::-1]
    # Dividing first leaves the greatest p unchanged, to the last digit.
    stepped = np.minimum.accumulate(p[order] * (len(p) / np.arange(len(p), 0, -1)))
    adjusted = np.empty(len(p))
    adjusted[order] = stepped
    return adjusted


def kruskal_wallis(groups: Sequence[FloatArray]) -> KruskalWallis:
    """Test whether the mean ranks of the groups differ (Kruskal and Wallis, 1952).

    H = (N - 1) sum n_i (R_i - R)^2 / sum (r - R)^2, over the mid-ranks r of all N values, with R_i
    the mean rank of group i and R the mean of all ranks. This form is corrected for ties.

    Args:
        groups: two or more, each of shape (n,), finite; their lengths may differ.
    """
    _require_groups(groups)
    sizes = np.array([len(values) for values in groups])
    ranks = np.split(doubled_midranks(np.concatenate(groups)[np.newaxis])[0], sizes.cumsum()[:-1])
    n, df = int(sizes.sum()), len(groups) - 1
    # For doubled ranks, R is N + 1, and both sums are four times as large.
    between = sum(float(group.sum() - len(group) * (n + 1)) ** 2 / len(group) for group in ranks)
    within = sum(float(np.square(group - (n + 1.0)).sum()) for group in ranks)
    h = (n - 1) * between / within if within else 0.0
    few = int(sizes.min()) < _CUSTOMARY
    note = f"p is approximate: take at least {_CUSTOMARY} launches of each group"
    return KruskalWallis(h, df, float(special.chdtrc(df, h)), (note,) if few else ())


def pairwise(groups: Sequence[FloatArray]) -> tuple[PairTest, ...]:
    """Test each pair of groups by two-sided Mann-Whitney, adjusted by Holm over the pairs.

    Args:
        groups: two or more, each of shape (n,), finite; their lengths may differ.
    """
    _require_groups(groups)
    pairs = list(combinations(range(len(groups)), 2))
    tests = [mann_whitney(groups[i][np.newaxis], groups[j][np.newaxis]) for i, j in pairs]
    u = [float(test.u[0]) for test in tests]
    p = np.array([test.p_two_sided[0] for test in tests])
    columns = zip(pairs, u, p.tolist(), holm(p).tolist(), strict=True)
    return tuple(PairTest(i, j, *rest) for (i, j), *rest in columns)


def _require_p(p: FloatArray) -> None:
    require_vector("p", p)
    if p.min() < 0 or p.max() > 1:
        raise ValueError("p must lie between 0 and 1")


def _require_groups(groups: Sequence[FloatArray]) -> None:
    if len(groups) < 2:
        raise ValueError(f"at least 2 groups are needed to compare them, not {len(groups)}")
    for index, values in enumerate(groups):
        require_vector(f"group {index}", values)

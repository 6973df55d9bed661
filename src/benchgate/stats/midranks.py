"""Ranks with ties, and the ways in which they add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from benchgate.stats.checks import require_fraction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchgate.arrays import FloatArray, IntArray


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

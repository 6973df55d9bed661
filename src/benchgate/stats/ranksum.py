"""In how many ways a sum of ranks comes about: the null distribution of the rank sum tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.arrays import FloatArray

# The tables of more ranks are too large to keep one for every length.
_SHARED_UP_TO = 60


def rank_sum_ways(ranks: tuple[int, ...], k: int) -> FloatArray:
    """In how many ways k of `ranks`, whole numbers in ascending order, have each sum.

    The first element belongs to the least possible sum, the last to the greatest. The ranks
    0, 1, ..., n - 1 give the distribution of U in k v n - k values without ties. Counts up to
    2**53 are exact.
    """
    return next(rank_sum_ways_of_each([ranks], k))


def rank_sum_ways_of_each(patterns: Sequence[tuple[int, ...]], k: int) -> Iterator[FloatArray]:
    """`rank_sum_ways` of many patterns of equal length, the faster the more alike neighbors are.

    A table holds in how many ways j of the ranks seen so far have the sum s, at j * width + s:
    to take one more rank is to move by width + rank. What a pattern begins with, as the next one
    does, is counted once for both.

    Args:
        patterns: each whole numbers >= 0 in ascending order; sorted, to share most.
        k: how many ranks are taken, from 1 to the length of a pattern.
    """
    if not patterns:
        return
    n = len(patterns[0])
    width = 1 + max(sum(ranks[n - k :]) for ranks in patterns)
    # Of more than k ranks no table is needed, nor of too few for the rest to make up for.
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


def _with_one_more(ways: FloatArray, step: int) -> FloatArray:
    more = np.zeros(len(ways) + step)
    more[: len(ways)] = ways
    more[step:] += ways
    return more


def _shared_with_next(patterns: Sequence[tuple[int, ...]]) -> list[int]:
    """With how many equal ranks each pattern and the next one begin."""
    if len(patterns[0]) > _SHARED_UP_TO:
        return [0] * len(patterns)
    table = np.array(patterns)
    return [*(table[1:] != table[:-1]).argmax(axis=1).tolist(), 0]

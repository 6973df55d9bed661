"""Ranks of many rows at once, and the rows that share a pattern of ties.

Ranks are doubled, so that mid-ranks are whole numbers and the exact tests can count with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.arrays import FloatArray, IntArray


def doubled_midranks(values: FloatArray) -> IntArray:
    """Twice the mid-rank of each value within its row: (3, 5, 5) gives (2, 5, 5).

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

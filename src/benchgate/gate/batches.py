"""Groups rows of equal length, so that vectorized statistics can take each group at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.arrays import FloatArray


def by_length(rows: Sequence[FloatArray]) -> Iterator[tuple[list[int], FloatArray]]:
    """Group rows by length: the indices of a group, and its rows stacked to (m, n).

    Rows without values belong to no group.
    """
    groups: dict[int, list[int]] = {}
    for index, row in enumerate(rows):
        if len(row):
            groups.setdefault(len(row), []).append(index)
    for indices in groups.values():
        yield indices, np.stack([rows[index] for index in indices])


def by_lengths(
    left: Sequence[FloatArray], right: Sequence[FloatArray]
) -> Iterator[tuple[list[int], FloatArray, FloatArray]]:
    """Group pairs of rows by both lengths: indices, (m, n1) and (m, n2)."""
    groups: dict[tuple[int, int], list[int]] = {}
    for index, (a, b) in enumerate(zip(left, right, strict=True)):
        if len(a) and len(b):
            groups.setdefault((len(a), len(b)), []).append(index)
    for indices in groups.values():
        yield (
            indices,
            np.stack([left[index] for index in indices]),
            np.stack([right[index] for index in indices]),
        )

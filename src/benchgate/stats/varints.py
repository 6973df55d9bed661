"""Whole numbers in as few bytes as each needs (LEB128), and data that zlib has compressed."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from benchgate.arrays import IntArray

MOST_BYTES = 8
"""Bytes of one number, at most: it is below 2**56."""

_LIMIT = 1 << (7 * MOST_BYTES)


def to_varints(values: IntArray) -> bytes:
    """Write whole numbers, the low 7 bits first; the top bit of a byte says that more follow.

    Args:
        values: shape (n,), from 0 to 2**56 - 1.

    Raises:
        ValueError: one is out of range.
    """
    if values.size and not 0 <= int(values.min()) <= int(values.max()) < _LIMIT:
        raise ValueError("a number is negative, or 2**56 or more")
    sizes = np.ones(len(values), dtype=np.int64)
    for size in range(1, MOST_BYTES):
        sizes += values >= 1 << (7 * size)
    ends = np.cumsum(sizes)
    within = np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes)
    written = (np.repeat(values, sizes) >> (7 * within)) & 0x7F
    written |= 0x80
    written[ends - 1] &= 0x7F
    return written.astype(np.uint8).tobytes()


def from_varints(data: bytes) -> IntArray:
    """Read what `to_varints` wrote, into shape (n,).

    Raises:
        ValueError: the last number is cut off, or one has more than 8 bytes.
    """
    octets = np.frombuffer(data, dtype=np.uint8).astype(np.int64)
    ends = np.flatnonzero(octets < 0x80)
    if len(ends) == 0 or ends[-1] != len(octets) - 1:
        if len(octets) == 0:
            return octets
        raise ValueError("the last number is cut off")
    starts = np.concatenate(([0], ends[:-1] + 1))
    sizes = ends - starts + 1
    if sizes.max() > MOST_BYTES:
        raise ValueError(f"a number has more than {MOST_BYTES} bytes")
    within = np.arange(len(octets)) - np.repeat(starts, sizes)
    values: IntArray = np.add.reduceat((octets & 0x7F) << (7 * within), starts)
    return values


def expanded(data: bytes, most_bytes: int) -> bytes:
    """Expand data that zlib has compressed, and that may come from anybody.

    Raises:
        ValueError: they are damaged, cut off, followed by others, or expand to more than that.
    """
    reader = zlib.decompressobj()
    try:
        found = reader.decompress(data, most_bytes + 1)
    except zlib.error as error:
        raise ValueError(f"not valid zlib data: {error}") from None
    if len(found) > most_bytes:
        raise ValueError(f"expands to more than {most_bytes} bytes")
    if not reader.eof or reader.unused_data:
        raise ValueError("the zlib data are cut off, or others follow")
    return found

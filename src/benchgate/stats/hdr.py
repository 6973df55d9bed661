"""Histograms as HdrHistogram writes them: its compressed form V2, which its tools read."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.histogram import BUCKETS, HIGHEST_NS, Histogram
from benchgate.stats.varints import MOST_BYTES, expanded, from_varints, to_varints

if TYPE_CHECKING:
    from benchgate.arrays import IntArray

# https://github.com/HdrHistogram/HdrHistogram: V2EncodingCookieBase, and the same when compressed;
# 0x10 says that the words have any number of bytes.
_COOKIE = 0x1C849303 | 0x10
_COMPRESSED_COOKIE = 0x1C849304 | 0x10
# cookie, bytes of counts, normalizing offset, significant digits, lowest and highest value, and
# what a count is worth
_HEADER = struct.Struct(">iiiiqqd")
_COMPRESSED_HEADER = struct.Struct(">ii")
_LAYOUT = (0, 3, 1, HIGHEST_NS, 1.0)

_MOST_BYTES = _HEADER.size + BUCKETS * MOST_BYTES
_MOST_COUNTED = 2.0**53


def encode(histogram: Histogram) -> str:
    """Write the counts of a histogram as base64.

    The exact extremes are not part of the form. Neither is what was clamped: it counts as one hour.
    """
    return base64.b64encode(to_bytes(histogram)).decode("ascii")


def decode(text: str) -> Histogram:
    """Read a histogram, which may come from anybody.

    Its counts are those that were written. Its minimum and maximum are the ends of the buckets
    that hold them, so `encode` writes the same text again.

    Raises:
        ValueError: it is damaged, or its layout is not that of `Histogram`.
    """
    return from_bytes(base64.b64decode(text, validate=True))


def to_bytes(histogram: Histogram) -> bytes:
    """Write the counts of a histogram without base64."""
    counts = to_varints(_zigzag(_with_runs(histogram.counts())))
    data = zlib.compress(_HEADER.pack(_COOKIE, len(counts), *_LAYOUT) + counts, 6)
    return _COMPRESSED_HEADER.pack(_COMPRESSED_COOKIE, len(data)) + data


def from_bytes(data: bytes) -> Histogram:
    """Read what `to_bytes` wrote; see `decode`."""
    if len(data) < _COMPRESSED_HEADER.size:
        raise ValueError("is too short for a histogram")
    cookie, size = _COMPRESSED_HEADER.unpack_from(data)
    body = data[_COMPRESSED_HEADER.size :]
    if cookie != _COMPRESSED_COOKIE:
        raise ValueError("is not a histogram in HdrHistogram's compressed form V2")
    if size != len(body):
        raise ValueError(f"should have {size} bytes, and has {len(body)}")
    inner = expanded(body, _MOST_BYTES)
    if len(inner) < _HEADER.size:
        raise ValueError("is too short for a histogram")
    cookie, size, *layout = _HEADER.unpack_from(inner)
    if cookie != _COOKIE or tuple(layout) != _LAYOUT:
        raise ValueError(
            "is a histogram of another layout: 3 digits from 1 ns to one hour are read"
        )
    if size != len(inner) - _HEADER.size:
        raise ValueError(f"should have {size} bytes of counts, and has {len(inner)}")
    return Histogram.of_counts(_without_runs(_unzigzag(from_varints(inner[_HEADER.size :]))))


def _with_runs(counts: IntArray) -> IntArray:
    """Write each run of n zeros before a count as -n, but a single one as it is."""
    held = np.flatnonzero(counts)
    if len(held) == 0:
        return np.zeros(1, dtype=np.int64)
    zeros = np.diff(held, prepend=-1) - 1
    words = np.column_stack((np.where(zeros == 1, 0, -zeros), counts[held]))
    is_needed = np.column_stack((zeros > 0, np.ones(len(held), dtype=bool)))
    found: IntArray = words[is_needed]
    return found


def _without_runs(words: IntArray) -> IntArray:
    steps = np.where(words < 0, -words, 1)
    if (len(words) and int(steps.max()) > BUCKETS) or int(steps.sum()) > BUCKETS:
        raise ValueError("has more counts than the layout has")
    if words[words > 0].astype(np.float64).sum() >= _MOST_COUNTED:
        raise ValueError("counts 2**53 values or more")
    counts = np.zeros(BUCKETS, dtype=np.int64)
    is_count = words >= 0
    counts[(np.cumsum(steps) - steps)[is_count]] = words[is_count]
    return counts


def _zigzag(words: IntArray) -> IntArray:
    """Map 0, -1, 1, -2, ... to 0, 1, 2, 3, ..."""
    found: IntArray = (words << 1) ^ (words >> 63)
    return found


def _unzigzag(words: IntArray) -> IntArray:
    found: IntArray = (words >> 1) ^ -(words & 1)
    return found

"""Durations in fixed memory: histograms, random samples of a stream, and their compressed forms."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from array import array
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_whole_numbers
from benchgate.stats.spread import quantile_rank

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray, IntArray


HIGHEST_NS = 3_600_000_000_000
"""One hour. A longer duration counts as one hour, and `Histogram.clamped` counts it."""

# First 2,048 buckets of width 1, the least power of two that distinguishes 3 digits. Then 1,024 for
# each power of two, each twice as wide as those before.
_EXACT_BITS = 11
_HALF_BITS = _EXACT_BITS - 1
_TOP_SHIFT = HIGHEST_NS.bit_length() - _EXACT_BITS
BUCKETS = (_TOP_SHIFT << _HALF_BITS) + (HIGHEST_NS >> _TOP_SHIFT) + 1
"""How many counters a histogram has."""

# How many values `record_many` takes at once: few enough that its arrays fit into a cache.
_BLOCK = 2**14


class Histogram:
    """Counts whole numbers of ns, from 0 to one hour, to 3 significant digits.

    The layout is that of HdrHistogram (Tene, 2012): one bucket for each value below 2,048, then
    1,024 buckets of equal width for each power of two. So two values in a bucket differ by less
    than 1/1,024 of either.

    It takes 33,421 counters of 8 bytes, 267,368 bytes, and less than 300 bytes more. It is for one
    thread; merge the histograms of several.
    """

    __slots__ = ("_clamped", "_counts", "_max", "_min")

    def __init__(self) -> None:
        # An item of an array is faster to increment than an item of a NumPy array.
        self._counts = array("q", [0]) * BUCKETS
        self._min = HIGHEST_NS
        self._max = 0
        self._clamped = 0

    @classmethod
    def of_counts(cls, counts: IntArray) -> Histogram:
        """Make a histogram whose extremes are the ends of the buckets that hold something.

        Args:
            counts: shape (BUCKETS,), of each bucket by ascending value; none is negative.
        """
        require_whole_numbers("counts", counts)
        if len(counts) != BUCKETS:
            raise ValueError(f"a histogram has {BUCKETS} counts, and not {len(counts)}")
        found = cls()
        found._view()[:] = counts
        held = np.flatnonzero(counts)
        if len(held):
            found._min = int(_lowest(held[:1])[0])
            found._max = min(int(_lowest(held[-1:] + 1)[0]) - 1, HIGHEST_NS)
        return found

    def counts(self) -> IntArray:
        """Copy the counts of all buckets, by ascending value, into shape (BUCKETS,)."""
        return self._view().copy()

    @property
    def count(self) -> int:
        """How many values were recorded, including the clamped ones."""
        return int(self._view().sum())

    @property
    def clamped(self) -> int:
        """How many values were longer than one hour, and count as one hour."""
        return self._clamped

    @property
    def min(self) -> int | None:
        """The least value in ns, exactly; None if nothing is recorded."""
        return None if self._is_empty() else self._min

    @property
    def max(self) -> int | None:
        """The greatest value in ns, exactly, up to one hour; None if nothing is recorded."""
        return None if self._is_empty() else self._max

    @property
    def mean(self) -> float | None:
        """The mean in ns of the mid-points of the values' buckets, within [min, max].

        None if nothing is recorded.
        """
        if self._is_empty():
            return None
        middles, counts = self.middles()
        return float(min(max(_weighted_mean(middles, counts), self._min), self._max))

    @property
    def stdev(self) -> float | None:
        """The standard deviation in ns of the mid-points of the values' buckets.

        It describes the recorded values, so the divisor is their count (ddof = 0), and a single
        value has 0. None if nothing is recorded.
        """
        if self._is_empty():
            return None
        middles, counts = self.middles()
        deviations = middles - _weighted_mean(middles, counts)
        return math.sqrt(_weighted_mean(deviations**2, counts))

    def record(self, value: int) -> None:
        """Count one value, in ns."""
        shift = value.bit_length() - _EXACT_BITS
        # Values out of range are also beyond the extremes, so other values need no extra check.
        if value < self._min:
            _require_not_negative(value)
            self._min = value
        if value > self._max:
            if value > HIGHEST_NS:
                self._clamped += 1
                value, shift = HIGHEST_NS, _TOP_SHIFT
            self._max = value
        if shift > 0:
            self._counts[(shift << _HALF_BITS) + (value >> shift)] += 1
        else:
            self._counts[value] += 1

    def record_many(self, values: IntArray) -> None:
        """Count many values, as `record` does with each, but faster.

        Args:
            values: shape (n,), in ns; n may be 0. For any n, this takes less than 1 MB more.
        """
        require_whole_numbers("values", values)
        if values.size == 0:
            return
        least, greatest = int(values.min()), int(values.max())
        _require_not_negative(least)
        counts = self._view()
        for start in range(0, len(values), _BLOCK):
            block = values[start : start + _BLOCK]
            self._clamped += int(np.count_nonzero(block > HIGHEST_NS))
            found = np.bincount(_buckets(np.minimum(block, HIGHEST_NS)))
            counts[: len(found)] += found
        self._min = min(self._min, least)
        self._max = max(self._max, min(greatest, HIGHEST_NS))

    def merge(self, other: Histogram) -> None:
        """Count all values that `other` has counted, as if they had been recorded here."""
        counts = self._view()
        counts += other._view()
        self._min = min(self._min, other._min)
        self._max = max(self._max, other._max)
        self._clamped += other._clamped

    def percentile(self, p: float) -> int | None:
        """Return the nearest-rank quantile: the highest value of its bucket, within [min, max].

        Args:
            p: a fraction from 0 (the minimum) to 1 (the maximum).

        Returns:
            In ns; never below the exact quantile, and less than 1/1,024 above it. None if nothing
            is recorded.
        """
        cumulated = np.cumsum(self._view())
        rank = quantile_rank(int(cumulated[-1]), p)
        if self._is_empty():
            return None
        if p == 0:
            return self._min
        bucket = np.searchsorted(cumulated, [rank])
        return min(int(_lowest(bucket + 1)[0]) - 1, self._max)

    def middles(self) -> tuple[FloatArray, IntArray]:
        """Return the mid-points in ns of the buckets that hold something, and their counts.

        The buckets are in ascending order.
        """
        counts = self._view()
        held = np.flatnonzero(counts)
        return (_lowest(held) + _lowest(held + 1) - 1) / 2, counts[held]

    def _is_empty(self) -> bool:
        return self._min > self._max

    def _view(self) -> IntArray:
        """Return the counters as an array that shares their memory."""
        return np.frombuffer(self._counts, dtype=np.int64)


def _require_not_negative(value: int) -> None:
    if value < 0:
        raise ValueError(f"a duration must be 0 ns or more, and is {value}")


def _buckets(values: IntArray) -> IntArray:
    """Return the indices of the buckets of values in [0, HIGHEST_NS]."""
    # A float64 holds these values exactly, and its exponent is their length in bits.
    shift = np.maximum(np.frexp(values)[1] - _EXACT_BITS, 0)
    buckets: IntArray = (shift << _HALF_BITS) + (values >> shift)
    return buckets


def _lowest(buckets: IntArray) -> IntArray:
    """Return the lowest values of buckets: the inverse of `_buckets`."""
    shift = np.maximum((buckets >> _HALF_BITS) - 1, 0)
    lowest: IntArray = (buckets - (shift << _HALF_BITS)) << shift
    return lowest


def _weighted_mean(values: FloatArray, weights: IntArray) -> float:
    """Return the weighted mean, without a rounding error if all values are equal."""
    return float(values[0] + np.average(values - values[0], weights=weights))


MOST_BYTES = 8
"""Bytes of one number, at most: it is below 2**56."""

_LIMIT = 1 << (7 * MOST_BYTES)


def to_varints(values: IntArray) -> bytes:
    """Write whole numbers, the low 7 bits first; the top bit of a byte says that more follow.

    Args:
        values: shape (n,), from 0 to 2**56 - 1.
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
    """Read what `to_varints` wrote, into shape (n,)."""
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
    """Expand data that zlib has compressed, and that may come from anybody."""
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
    found: IntArray = (words << 1) ^ (words >> 63)
    return found


def _unzigzag(words: IntArray) -> IntArray:
    found: IntArray = (words >> 1) ^ -(words & 1)
    return found


MOST_VALUES = 10_000
"""Numbers in one text, at most."""

_TOO_LARGE = "a number is 2**56 or more"


def pack(values: IntArray) -> str:
    """Write a sample: its ascending numbers as differences, LEB128, zlib, base64.

    Args:
        values: shape (n,), in any order, from 0 to 2**56 - 1; n may be 0, and is at most 10,000.
    """
    require_whole_numbers("values", values)
    if len(values) > MOST_VALUES:
        raise ValueError(f"a sample has at most {MOST_VALUES} numbers, and this one {len(values)}")
    if values.size and int(values.max()) >= _LIMIT:
        raise ValueError(_TOO_LARGE)
    ascending = np.concatenate(([0], np.sort(values)))
    differences = ascending[1:] - ascending[:-1]
    return base64.b64encode(zlib.compress(to_varints(differences), 9)).decode("ascii")


def unpack(text: str) -> IntArray:
    """Read what `pack` wrote, which may come from anybody: ascending, shape (n,)."""
    data = expanded(base64.b64decode(text, validate=True), MOST_VALUES * MOST_BYTES)
    differences = from_varints(data)
    if len(differences) > MOST_VALUES:
        raise ValueError(f"has {len(differences)} numbers, which is more than {MOST_VALUES}")
    # A float does not overflow; the sum of integers is exact if it is far below 2**63.
    if differences.astype(np.float64).sum() >= 2 * _LIMIT:
        raise ValueError(_TOO_LARGE)
    values: IntArray = np.cumsum(differences)
    if len(values) and int(values[-1]) >= _LIMIT:
        raise ValueError(_TOO_LARGE)
    return values

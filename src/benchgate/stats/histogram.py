"""A histogram of durations in fixed memory, with percentiles within 1/1,024 of the exact ones."""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_whole_numbers
from benchgate.stats.quantiles import quantile_rank

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

        Raises:
            ValueError: the array is not int64 of that shape.
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
        """Count one value, in ns.

        Raises:
            ValueError: if it is negative; nothing is recorded then.
        """
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

        Raises:
            ValueError: if one is negative, or the array is not int64 of shape (n,); nothing is
                recorded then.
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

        Raises:
            ValueError: if p is outside [0, 1].
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

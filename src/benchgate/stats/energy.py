"""Finds the place at which a series is best cut in two, by the energy statistic.

The energy statistic (Szekely and Rizzo, 2005) compares the distances between two samples with the
distances within them. It squares nothing, and it takes means over pairs of different values, so a
single outlier cancels out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Cut:
    """A place, and the windows before and after it that differ most.

    Attributes:
        statistic: of the two windows, in mean distances of the series; 0 if nothing differs.
        index: of the first value after the cut.
        low: index at which the window before the cut begins.
        high: index after the last value of the window that follows the cut.
    """

    statistic: float
    index: int
    low: int
    high: int


class EnergyScan:
    """Examines every place in a series of n values.

    Args:
        n: length of the series, >= 2 `least`.
        least: fewest values on each side of a place, >= 2. The smallest windows have this many
            values. Each size is twice the one before, up to the whole series.

    Attributes:
        looks: how many pairs of windows are examined.
    """

    def __init__(self, n: int, least: int) -> None:
        self._n = n
        self._place = np.arange(least, n - least + 1)
        self._reaches = [least]
        while self._reaches[-1] < n - least:
            self._reaches.append(2 * self._reaches[-1])
        self.looks = len(self._reaches) * len(self._place)
        # Allocating this memory again for each of many series takes longer than filling it.
        self._sums = np.zeros((n + 1, n))

    def windows(self, place: int) -> list[tuple[int, int]]:
        """Return where each pair of windows around a place begins and ends."""
        return [(max(place - reach, 0), min(place + reach, self._n)) for reach in self._reaches]

    def best(self, values: FloatArray) -> Cut:
        """Find the place at which the two windows differ most, in O(n**2).

        Q = mn / (m + n) (2 mean|x - y| - mean|x - x'| - mean|y - y'|), with m and n the lengths of
        the windows, and each mean over distinct pairs (Matteson and James, 2014).

        Args:
            values: shape (n,), within (-1, 1).
        """
        self._fill(values)
        square = self._corners(0)
        mean_distance = square[-1] / (self._n * (self._n - 1))
        best = Cut(0.0, 0, 0, 0)
        if mean_distance == 0:
            return best
        for reach in self._reaches:
            low = np.maximum(self._place - reach, 0)
            high = np.minimum(self._place + reach, self._n)
            q = self._statistics(square, reach, low, high) / mean_distance
            k = int(q.argmax())
            if q[k] > best.statistic:
                best = Cut(float(q[k]), int(self._place[k]), int(low[k]), int(high[k]))
        return best

    def _statistics(
        self, square: FloatArray, reach: int, low: IntArray, high: IntArray
    ) -> FloatArray:
        """Return Q of each place, for windows of `reach` values or up to the end of the series."""
        to_place, to_high = self._corners(reach), self._corners(2 * reach)
        m, n = self._place - low, high - self._place
        before = square[self._place] - 2 * to_place[low] + square[low]
        after = square[high] - 2 * to_place[self._place] + square[self._place]
        across = to_place[self._place] - to_high[low] - square[self._place] + to_place[low]
        energy = 2 * across / (m * n) - before / (m * (m - 1)) - after / (n * (n - 1))
        q: FloatArray = m * n / (m + n) * energy
        return q

    def _fill(self, values: FloatArray) -> None:
        """Set the sums: [i, j] is the sum of the distances of value j from the first i values."""
        rows = self._sums[1:]
        np.subtract.outer(values, values, out=rows)
        np.abs(rows, out=rows)
        # This is three times as fast as numpy.cumsum along the columns.
        for i in range(1, self._n):
            rows[i] += rows[i - 1]

    def _corners(self, lag: int) -> FloatArray:
        """Sum the distances of the first i values to the first min(i + lag, n), i = 0 .. n."""
        n = self._n
        corners = np.concatenate([[0.0], np.cumsum(self._sums[n])])
        if lag < n:
            # Each step along the diagonal adds a row and a column.
            steps = self._sums.diagonal(-lag)[: n - lag] + self._sums[1:].diagonal(lag)
            corners[1 : n - lag + 1] = np.cumsum(steps)
        return corners

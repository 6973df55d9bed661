"""Finds change points in a history: where a series moved to another level and stayed there.

The method is E-divisive (Matteson and James, 2014; for benchmarks Daly et al., 2020), on ranks. The
energy statistic says where to cut a stretch of the history in two, and a test says whether to cut.
Then both parts are examined in turn.

Each stretch is replaced by the ranks of its values. However far off an outlier is, it is then only
one rank further than its neighbor, and how well an unchanged stretch can be cut by chance depends
on its length alone. So the critical values are simulated once, and no stretch has to be permuted.

If a place is judged only by everything before and after it, a regression that was soon fixed stays
hidden, because most values after it are like those before. So a place is also judged by the values
near it, as Fleming et al. (2023) do for the same reason: by windows from `LEAST_RUNS` values on
each side up to all values.

The energy statistic (Szekely and Rizzo, 2005) compares the distances between two samples with the
distances within them. It squares nothing, and it takes means over pairs of different values, so a
single outlier cancels out.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.stats.checks import require_vector
from benchgate.stats.critical_values import CRITICAL, TAILS
from benchgate.stats.spread import binary_scaled

if TYPE_CHECKING:
    from collections.abc import Callable

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


DEFAULT_ALPHA: Final = 0.005
"""The chance to cut a stretch in which nothing changed."""

LEAST_RUNS: Final = 5
"""The fewest values between two changes, before the first and after the last."""

LONGEST_HISTORY: Final = 2000
"""All distances are in memory at once: 32 MB for this many values."""

# What is farther from most values than this many times their range is pulled nearer.
_NEAR: Final = 0.1
_REACH: Final = 3.0
# The statistic is in mean distances; the order of additions changes it by less than this.
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A place at which a history moved.

    Attributes:
        index: of the first value after the change.
        p: of the cut; no less than the smallest in `TAILS`.
        before: median of the values since the previous change, or since the beginning.
        after: median of the values up to the next change, or up to the end.
    """

    index: int
    p: float
    before: float
    after: float


def change_points(values: FloatArray, *, alpha: float = DEFAULT_ALPHA) -> tuple[ChangePoint, ...]:
    """Find the places at which a history moved, if its values are independent of each other.

    A single outlier is not a change, wherever it is and however far off. Two values that are equal
    count as mixed evenly, so that a metric with few different values gives no more false alarms.

    Args:
        values: shape (n,), in the order of the history, finite, n <= 2000.
        alpha: the chance to cut a stretch in which nothing changed; between the smallest and the
            largest of `TAILS`.

    Returns:
        The changes in order; none if n < 10, or if all values are equal.
    """
    require_vector("values", values)
    if len(values) > LONGEST_HISTORY:
        raise ValueError(f"at most {LONGEST_HISTORY} values are taken, not {len(values)}")
    if not TAILS[-1] <= alpha <= TAILS[0]:
        raise ValueError(f"alpha must be from {TAILS[-1]} to {TAILS[0]}, and is {alpha}")
    found = _changes(values, alpha)
    edges = [0, *(index for index, _ in found), len(values)]
    levels = [float(np.median(values[low:high])) for low, high in pairwise(edges)]
    return tuple(
        ChangePoint(index, p, before, after)
        for (index, p), (before, after) in zip(found, pairwise(levels), strict=True)
    )


def _changes(values: FloatArray, alpha: float) -> list[tuple[int, float]]:
    """Return the changes in order, each as its index and p."""
    found = []
    stretches = [(0, len(values))]
    while stretches:
        low, high = stretches.pop()
        if change := _change(values[low:high], alpha):
            index, p = low + change[0], change[1]
            found.append((index, p))
            stretches += [(low, index), (index, high)]
    return sorted(found)


def _change(stretch: FloatArray, alpha: float) -> tuple[int, float] | None:
    """Return where to cut a stretch, and the p of the cut; None if it is not to be cut."""
    n = len(stretch)
    if n < 2 * LEAST_RUNS or stretch.min() == stretch.max():
        return None
    ranks = even_ranks(stretch)
    cut = EnergyScan(n, LEAST_RUNS).best(ranks)
    p = p_of_cut(cut.statistic, n)
    if p > alpha:
        return None
    # Windows of equal length find a change, but it need not be in their middle. Distances between
    # the values place it better than those between the ranks, which forget how far a change went.
    window = _without_extremes(stretch[cut.low : cut.high])
    return _to_a_move(stretch, cut.low + EnergyScan(len(window), LEAST_RUNS).best(window).index), p


def _to_a_move(stretch: FloatArray, index: int) -> int:
    """Move a place among equal values to the nearest at which the value moves.

    A window may begin or end so near to the change that no place in it fits better.
    """
    if np.ptp(stretch[max(0, index - LEAST_RUNS) : index + LEAST_RUNS]) > 0:
        return index
    moves = np.flatnonzero(np.diff(stretch)) + 1
    moves = moves[(moves >= LEAST_RUNS) & (moves <= len(stretch) - LEAST_RUNS)]
    return int(moves[np.abs(moves - index).argmin()]) if len(moves) else index


def _without_extremes(values: FloatArray) -> FloatArray:
    """Scale values, and pull those that are far off nearer; ranks if most values are equal."""
    low, high = np.quantile(values, [_NEAR, 1 - _NEAR])
    if low == high:
        return even_ranks(values)
    reach = _REACH * (high - low)
    scaled, _ = binary_scaled(np.clip(values, low - reach, high + reach))
    return scaled


def even_ranks(values: FloatArray) -> FloatArray:
    """Replace values by their ranks, evenly from -0.5 to 0.5, and equal ones in a mixed order.

    The order of equal values is that of the van der Corput sequence, in which no part differs much
    from any other.

    Args:
        values: shape (n,).
    """
    n = len(values)
    ranks = np.empty(n)
    ranks[np.lexsort((_mixed(n), values))] = (np.arange(n) + 0.5) / n - 0.5
    return ranks


def _mixed(n: int) -> IntArray:
    """The bits of 0 .. n - 1 in reverse order."""
    bits = max(1, (n - 1).bit_length())
    numbers = np.arange(n)
    return sum((numbers >> bit & 1) << (bits - 1 - bit) for bit in range(bits)) + 0 * numbers


def p_of_cut(statistic: float, n: int) -> float:
    """How often a series of n ranks in random order can be cut as well.

    Returns:
        1 above the largest of `TAILS`, and no less than the smallest.
    """
    critical = _critical(n)
    if statistic < critical[0] - _ROUNDING:
        return 1.0
    place = bisect_right(critical, statistic + _ROUNDING) - 1
    if place + 1 == len(TAILS) or math.isinf(critical[place + 1]):
        return TAILS[place]
    low, high = critical[place], critical[place + 1]
    share = min(1.0, max(0.0, (statistic - low) / (high - low))) if high > low else 0.0
    return float(TAILS[place] * (TAILS[place + 1] / TAILS[place]) ** share)


@cache
def _critical(n: int) -> tuple[float, ...]:
    """The critical values of a length, ascending; between two lengths linear in the logarithm."""
    if n in CRITICAL:
        return CRITICAL[n]
    lengths = list(CRITICAL)
    place = bisect_right(lengths, n)
    shorter, longer = lengths[place - 1], lengths[place]
    share = math.log(n / shorter) / math.log(longer / shorter)
    return tuple(
        low if low == high else low + (high - low) * share
        for low, high in zip(CRITICAL[shorter], CRITICAL[longer], strict=True)
    )


LEAST_EQUAL: Final = 3
"""The fewest equal values in a row that make a level of a count."""


def count_changes(
    values: FloatArray,
    *,
    otherwise: Callable[[FloatArray], tuple[ChangePoint, ...]] = change_points,
) -> tuple[ChangePoint, ...]:
    """Find the places at which a count moved that hardly ever varies, such as allocations.

    If such a count is the same `LEAST_EQUAL` times in a row, and then differs from what it was, it
    moved: there is no noise, so a few runs are enough.

    Args:
        values: as of `change_points`, but of any length.
        otherwise: finds the changes of a count that varies.
    """
    require_vector("values", values)
    edges = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    stretches = list(pairwise(edges))
    if len(stretches) > 3 + len(values) / 10:
        return otherwise(values)
    levels = [(low, float(values[low])) for low, high in stretches if high - low >= LEAST_EQUAL]
    return tuple(
        ChangePoint(index, 0.0, before, after)
        for (_, before), (index, after) in pairwise(levels)
        if before != after
    )

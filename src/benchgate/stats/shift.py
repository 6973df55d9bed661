"""Hodges-Lehmann estimates of a shift, with intervals by inverting the exact rank tests.

The interval consists of the shifts that the two-sided test at 1 - confidence would not reject. Its
ends are order statistics of the pairwise averages (or differences), and the estimate is their
median. Without ties, the interval excludes 0 exactly if the p of that test is at most
1 - confidence. With ties, the closed interval covers at least as often as it says (Lehmann, 1975).
If n is too small for the confidence, the interval is (-inf, inf).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_fraction, require_rows, require_two_arms
from benchgate.stats.mannwhitney import mann_whitney_lower
from benchgate.stats.signedrank import signed_rank_lower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchgate.arrays import FloatArray

# How many pairwise values are in memory at once: 16 MB.
_BLOCK = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Shift:
    """The shift of m rows, in the unit of the data; every array has shape (m,).

    Attributes:
        estimate: the Hodges-Lehmann estimate, finite.
        low: lower end of the interval, -inf if the confidence cannot be reached.
        high: upper end of the interval, inf if the confidence cannot be reached.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray


def paired_shift(d: FloatArray, confidence: float) -> Shift:
    """Estimate the center of paired differences: the median of their Walsh averages.

    Args:
        d: shape (m, n), head minus base, finite, 1 <= n <= 1000.
        confidence: of the two-sided interval, e.g. 0.95.

    Raises:
        ValueError: on NaN, infinity, no value, another shape, or n or confidence out of range.
    """
    require_rows("d", d)
    lower = signed_rank_lower(d.shape[1])
    i, j = np.triu_indices(d.shape[1])

    def walsh_averages(rows: slice) -> FloatArray:
        block = d[rows]
        return (block[:, i] + block[:, j]) / 2

    return _from_pairs(walsh_averages, len(d), lower, confidence)


def two_sample_shift(x: FloatArray, y: FloatArray, confidence: float) -> Shift:
    """Estimate how far y is above x: the median of all differences y - x.

    Args:
        x: shape (m, n1), finite.
        y: shape (m, n2), finite.
        confidence: of the two-sided interval, e.g. 0.95.

    Raises:
        ValueError: on NaN, infinity, empty arrays, other shapes, or a confidence outside (0, 1).
    """
    require_two_arms(x, y)
    lower = mann_whitney_lower(x.shape[1], y.shape[1])

    def differences(rows: slice) -> FloatArray:
        pairs: FloatArray = y[rows, :, np.newaxis] - x[rows, np.newaxis, :]
        return pairs.reshape(len(pairs), -1)

    return _from_pairs(differences, len(x), lower, confidence)


def _from_pairs(
    pairs_of: Callable[[slice], FloatArray], m: int, lower: FloatArray, confidence: float
) -> Shift:
    """Return median and outer order statistics of the pairs; lower[k] is P(statistic <= k)."""
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
    return Shift(estimate, low, high)


def _blocks(m: int, per_row: int) -> Iterator[slice]:
    step = max(1, _BLOCK // per_row)
    return (slice(start, start + step) for start in range(0, m, step))

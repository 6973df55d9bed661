"""Finds change points in a history: where a series moved to another level and stayed there.

The method is E-divisive means (Matteson and James, 2014; for benchmarks Daly et al., 2020). The
energy statistic says where to cut a stretch of the history in two, and a test says whether to cut.
Then both parts are examined in turn.

If a place is judged only by everything before and after it, a regression that was soon fixed stays
hidden, because most values after it are like those before. So a place is also judged by the values
near it, as Fleming et al. (2023) do for the same reason: by windows from `min_segment` values on
each side up to all values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from benchgate.stats.checks import require_fraction, require_vector
from benchgate.stats.differences import two_sample_t
from benchgate.stats.energy import EnergyScan
from benchgate.stats.moments import binary_scaled

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.stats.energy import Cut

ChangeTest: TypeAlias = Literal["permutation", "t"]

LONGEST_HISTORY = 2000
"""All distances are in memory at once: 32 MB for this many values."""

# The order of additions changes the statistic, which is in mean distances, by less than this.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A place at which a history moved.

    Attributes:
        index: of the first value after the change.
        p: of the test that found it; with "permutation" at least 1 / (permutations + 1).
        before: median of the values since the previous change, or since the beginning.
        after: median of the values up to the next change, or up to the end.
    """

    index: int
    p: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class _Rule:
    """When a stretch is cut; see `change_points`."""

    alpha: float
    min_segment: int
    test: ChangeTest
    seed: int
    permutations: int

    def __post_init__(self) -> None:
        require_fraction("alpha", self.alpha)
        if self.min_segment < 2:
            raise ValueError(f"min_segment must be at least 2, and is {self.min_segment}")
        if self.test not in {"permutation", "t"}:
            raise ValueError(f"test must be permutation or t, and is {self.test!r}")
        needed = math.ceil(1 / self.alpha) - 1
        if self.test == "permutation" and self.permutations < needed:
            raise ValueError(
                f"{self.permutations} permutations cannot give a p of {self.alpha}: "
                f"at least {needed} are needed"
            )


def change_points(
    values: FloatArray,
    *,
    alpha: float = 0.01,
    min_segment: int = 5,
    test: ChangeTest = "permutation",
    seed: int = 0,
    permutations: int = 199,
) -> tuple[ChangePoint, ...]:
    """Find the places at which a history moved, if its values are independent of each other.

    A single outlier is not a change, wherever it is: it cancels out of the energy statistic, and
    its Welch's t is about 1. But one outlier can hide a change from the t test, and several can
    hide one from both tests.

    Args:
        values: shape (n,), in the order of the history, finite, n <= 2000.
        alpha: the chance to cut a stretch in which nothing changed.
        min_segment: the fewest values between two changes, >= 2.
        test: "permutation" compares the statistic of the stretch with that of its values in
            random orders. It assumes no distribution, and also finds a change of the spread.
            "t" is Welch's test in the window around the place that gives the smallest p,
            multiplied by the number of all windows examined (Bonferroni). It is quicker and
            strict, and assumes normal values.
        seed: of the random orders; the same seed gives the same result.
        permutations: random orders, >= 1 / alpha - 1. Fewer are drawn if p > alpha is certain.

    Returns:
        The changes in order; none if n < 2 min_segment or all values are equal.

    Raises:
        ValueError: on NaN, infinity, an empty array, another shape, n > 2000, an unknown test,
            or another argument out of its range.
    """
    require_vector("values", values)
    if len(values) > LONGEST_HISTORY:
        raise ValueError(f"at most {LONGEST_HISTORY} values are taken, not {len(values)}")
    found = _changes(values, _Rule(alpha, min_segment, test, seed, permutations))
    edges = [0, *(index for index, _ in found), len(values)]
    levels = [float(np.median(values[low:high])) for low, high in pairwise(edges)]
    return tuple(
        ChangePoint(index, p, before, after)
        for (index, p), (before, after) in zip(found, pairwise(levels), strict=True)
    )


def _changes(values: FloatArray, rule: _Rule) -> list[tuple[int, float]]:
    """Return the changes in order, each as its index and p."""
    found = []
    stretches = [(0, len(values))]
    while stretches:
        low, high = stretches.pop()
        if change := _change(values[low:high], rule):
            index, p = low + change[0], change[1]
            found.append((index, p))
            stretches += [(low, index), (index, high)]
    return sorted(found)


def _change(stretch: FloatArray, rule: _Rule) -> tuple[int, float] | None:
    """Return where to cut a stretch, and the p of the cut; None if the rule does not cut."""
    if len(stretch) < 2 * rule.min_segment:
        return None
    scan = EnergyScan(len(stretch), rule.min_segment)
    scaled, _ = binary_scaled(stretch)
    cut = scan.best(scaled)
    if cut.statistic < _ROUNDING:
        return None
    window = scaled[cut.low : cut.high]
    # Windows of equal length find a change, but it need not be in their middle.
    index = cut.low + EnergyScan(len(window), rule.min_segment).best(window).index
    if rule.test == "t":
        p = min(_welch_p(scaled[low:high], index - low) for low, high in scan.windows(index))
        p = min(1.0, p * scan.looks)
    else:
        p = _permutation_p(scaled, cut, scan, rule)
    return (index, p) if p <= rule.alpha else None


def _permutation_p(stretch: FloatArray, cut: Cut, scan: EnergyScan, rule: _Rule) -> float:
    """Return the share of orders, including the observed one, that can be cut as well.

    A history gives the same p forwards and backwards, because both start from the same order.

    Returns:
        p, or the least that p can still be if it is certain to exceed alpha.
    """
    rng = np.random.default_rng(rule.seed)
    start = np.array(min(stretch.tolist(), stretch[::-1].tolist()))
    as_good = 1
    for _ in range(rule.permutations):
        permuted = scan.best(rng.permutation(start))
        as_good += permuted.statistic >= cut.statistic - _ROUNDING
        if as_good / (rule.permutations + 1) > rule.alpha:
            break
    return as_good / (rule.permutations + 1)


def _welch_p(values: FloatArray, at: int) -> float:
    """Return the two-sided p of Welch's t at a place; 0 if neither side varies."""
    found = two_sample_t(values[:at], values[at:], 0.95, equal_variance=False)
    return 0.0 if found.p_two_sided is None else found.p_two_sided

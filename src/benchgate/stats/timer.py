"""What reading a clock costs, which intervals are long enough for it, and how coarse it is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray, IntArray

LEAST_PAIRS = 1000

TIMER_FACTOR = 100
"""An interval that is this many times the cost of reading the clock is known to 1 %."""


@dataclass(frozen=True, slots=True)
class Timer:
    """A clock that was read in back-to-back pairs.

    Attributes:
        cost_ns: median difference of a pair; 0 if the clock seldom steps between two readings.
        resolution_ns: least difference above 0, so at most the cost of the quickest pair; None
            if no pair saw the clock step.
        pairs: how many pairs were read.
    """

    cost_ns: float
    resolution_ns: float | None
    pairs: int

    @property
    def error_ns(self) -> float:
        """How wrong an interval may be: the cost, or the resolution if that is coarser."""
        return max(self.cost_ns, self.resolution_ns or 0.0)


def timer(differences_ns: FloatArray) -> Timer:
    """Describe a clock by the differences of back-to-back readings.

    Args:
        differences_ns: shape (pairs,), later reading minus earlier one, >= 0; >= 1000 pairs.

    Raises:
        ValueError: on NaN, infinity, another shape, fewer than 1000 pairs, or a clock that ran
            backwards.
    """
    require_vector("differences_ns", differences_ns)
    pairs = len(differences_ns)
    if pairs < LEAST_PAIRS:
        raise ValueError(f"at least {LEAST_PAIRS} pairs of readings are needed, not {pairs}")
    if differences_ns.min() < 0:
        raise ValueError(f"the clock ran backwards, by {-differences_ns.min():g} ns")
    steps = differences_ns[differences_ns > 0]
    resolution_ns = float(steps.min()) if steps.size else None
    return Timer(float(np.median(differences_ns)), resolution_ns, pairs)


def timer_note(interval_ns: float, cost_ns: float) -> str | None:
    """Return a note if an interval is too short for its clock, else None.

    Args:
        interval_ns: measured, > 0.
        cost_ns: of reading the clock, or its resolution if that is coarser, >= 0.
    """
    if not 0 < interval_ns < np.inf:
        raise ValueError(f"interval_ns must be above 0 and finite, and is {interval_ns}")
    if not 0 <= cost_ns < np.inf:
        raise ValueError(f"cost_ns must be at least 0 and finite, and is {cost_ns}")
    if cost_ns * TIMER_FACTOR <= interval_ns:
        return None
    percent = 100 * cost_ns / interval_ns
    return (
        f"reading the clock costs {cost_ns:.0f} ns, {percent:.1f} % of a sample of "
        f"{interval_ns:.0f} ns"
    )


_LEAST_VALUES = 5
_MOST_VALUES = 10_000
_TIED_SHARE = 0.75
_COMMON_SHARE = 0.02
_FINE = 3
_OFF_GRID = 0.1
_ROUNDING = 1e-6


def clock_step(series: Sequence[FloatArray], value: float, margin: float) -> float:
    """Estimate the step of the clock that measured some series, if it hides a change of the margin.

    The times that a coarse clock shows are multiples of its step. So nearly all of them are tied,
    and between the ties there are gaps. A fine clock shows several values within the margin. Ties
    may be jagged: a clock with steps of 10 ns, whose readings are rounded to 1 ns, shows 70 and
    71 ns.

    Args:
        series: the samples of each side, each of shape (n,), in any order.
        value: where on the scale the step matters, > 0.
        margin: as a fraction of `value`.

    Returns:
        The step, in the unit of the values; 0 if they show no step that is larger than the margin.
    """
    series = [each[:_MOST_VALUES] for each in series]
    pooled = np.sort(np.concatenate(series))
    limit, noise = margin * value, _ROUNDING * value
    if len(pooled) < _LEAST_VALUES:
        return 0.0
    if not _step(pooled, value, limit, noise):
        return 0.0
    # The gap between two sides that do not vary is no step, but a change.
    return max(_step(np.sort(each), value, limit, noise) for each in series)


def _step(x: FloatArray, value: float, limit: float, noise: float) -> float:
    """The smallest gap between the ties of sorted values; 0 if it is no step above the limit."""
    shown, counts = _distinct(x, noise)
    if counts[counts > 1].sum() < _TIED_SHARE * len(x):
        return 0.0
    common = shown[counts >= _COMMON_SHARE * len(x)]
    ticks = np.split(common, np.flatnonzero(np.diff(common) > limit) + 1)
    if len(ticks) == 1:
        return 0.0
    here = min(ticks, key=lambda tick: float(np.abs(tick - value).min()))
    if len(here) >= _FINE:
        return 0.0
    step = float(min(after[0] - before[0] for before, after in pairwise(ticks)))
    starts = np.array([tick[0] for tick in ticks]) / step
    return step if np.abs(starts - np.round(starts)).max() < _OFF_GRID else 0.0


def _distinct(x: FloatArray, noise: float) -> tuple[FloatArray, IntArray]:
    """The distinct values of x, which is sorted, and how often each occurs."""
    starts = np.flatnonzero(np.diff(x, prepend=-np.inf) > noise)
    return x[starts], np.diff(starts, append=len(x))

"""What reading the clock costs, and which intervals are long enough for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_vector

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

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

    Raises:
        ValueError: on an interval or a cost out of range.
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
        f"{interval_ns:.0f} ns: raise `number`"
    )

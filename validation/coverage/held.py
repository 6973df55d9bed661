"""Whether intervals contain the true value."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from validation.rates import Simulation
from validation.section import BrokenError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.arrays import BoolArray
    from benchgate.interval import Interval

CONFIDENCE = 0.95

coverage = partial(Simulation, promised=CONFIDENCE, covers=True)


def held(intervals: Iterable[Interval | None], truth: float) -> BoolArray:
    """Say for each interval whether it contains the truth; raise BrokenError if one is None."""

    def holds(interval: Interval | None) -> bool:
        if interval is None:
            raise BrokenError("no interval where one was expected")
        return interval.low <= truth <= interval.high

    return np.array([holds(interval) for interval in intervals])

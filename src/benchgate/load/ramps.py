"""Ramps: how a rate or a number of workers changes over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.load.scenario import Load


@dataclass(frozen=True, slots=True)
class Ramp:
    """A part of the time in which a value changes evenly.

    Attributes:
        begin_s, end_s: since the measured time began.
        first, last: the values at its ends.
    """

    begin_s: float
    end_s: float
    first: float
    last: float

    @property
    def area(self) -> float:
        """The sum of the value over the time."""
        return (self.end_s - self.begin_s) * (self.first + self.last) / 2

    def time_of_area(self, area: float) -> float:
        """Return when so much of the area lies behind, in s since the measured time began."""
        slope = (self.last - self.first) / (self.end_s - self.begin_s)
        # The solution of a quadratic equation that loses no digits, also where the slope is 0.
        root = math.sqrt(max(self.first**2 + 2 * slope * area, 0.0))
        passed_s = 2 * area / (self.first + root) if area > 0 else 0.0
        return min(self.begin_s + passed_s, self.end_s)


def ramps(
    first: float, stages: Sequence[tuple[float, float | None]], duration_s: float
) -> list[Ramp]:
    """Lay stages end to end: cut off at the end of the time, or hold the last value until then.

    Args:
        first: the value at the begin.
        stages: how long each takes, and the value at its end; None holds the value.
    """
    found: list[Ramp] = []
    now_s, value = 0.0, first
    for length_s, last in (*stages, (math.inf, None)):
        if now_s >= duration_s:
            break
        end_s = min(now_s + length_s, duration_s)
        target = value if last is None else value + (last - value) * (end_s - now_s) / length_s
        found.append(Ramp(now_s, end_s, value, target))
        now_s, value = end_s, target
    return found


def rate_ramps(load: Load, duration_s: float) -> list[Ramp]:
    """The operations per second of all workers together, in an open loop."""
    return ramps(load.rate, [(one.duration_s, one.rate) for one in load.stages], duration_s)


def worker_ramps(load: Load, duration_s: float) -> list[Ramp]:
    """How many workers work, in a closed loop."""
    stages = [(one.duration_s, one.concurrency) for one in load.stages]
    return ramps(load.concurrency, stages, duration_s)


def warm_up_rate(load: Load) -> float:
    """The operations per second before the measured time.

    It is the rate with which the measured time begins; where that is 0, the first one after it.
    """
    return load.rate or next(stage.rate for stage in load.stages if stage.rate)

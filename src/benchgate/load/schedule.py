"""When there is how much load: which operation is due when, which worker works when. Pure."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.load.tables import Load

S_TO_NS = 1_000_000_000


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


def ramps(first: float, stages: Sequence[tuple[float, float]], duration_s: float) -> list[Ramp]:
    """Lay stages end to end: cut off at the end of the time, or hold the last value until then.

    Args:
        first: the value at the begin.
        stages: how long each takes, and the value at its end.
    """
    found: list[Ramp] = []
    now_s, value = 0.0, first
    for length_s, last in (*stages, (math.inf, math.nan)):
        if now_s >= duration_s:
            break
        end_s = min(now_s + length_s, duration_s)
        target = value if math.isnan(last) else value + (last - value) * (end_s - now_s) / length_s
        found.append(Ramp(now_s, end_s, value, target))
        now_s, value = end_s, target
    return found


def rate_ramps(load: Load, duration_s: float) -> list[Ramp]:
    """The operations per second of all workers together, in an open loop."""
    stages, rate = [], load.rate
    for stage in load.stages:
        rate = rate if stage.rate is None else stage.rate
        stages.append((stage.duration_s, rate))
    return ramps(load.rate, stages, duration_s)


def worker_ramps(load: Load, duration_s: float) -> list[Ramp]:
    """How many workers work, in a closed loop."""
    stages, workers = [], load.concurrency
    for stage in load.stages:
        workers = workers if stage.concurrency is None else stage.concurrency
        stages.append((stage.duration_s, float(workers)))
    return ramps(load.concurrency, stages, duration_s)


def warm_up_rate(load: Load) -> float:
    """The operations per second before the measured time.

    It is the rate with which the measured time begins; where that is 0, the first one after it.
    """
    return load.rate or next(stage.rate for stage in load.stages if stage.rate)


class Arrivals:
    """The operations of all workers together, each of which is due at some time."""

    def __init__(self, course: Sequence[Ramp]) -> None:
        self._course = [ramp for ramp in course if ramp.area > 0]
        self._before = list(accumulate((ramp.area for ramp in self._course), initial=0.0))

    def due_ns(self, index: int) -> int | None:
        """Return when an operation is due, in ns since the begin; None if it is after the end.

        Args:
            index: from 0; the operation is due when so many are due before it.
        """
        # A sum of areas that should be a whole number may fall short of it by a rounding error.
        if index >= self._before[-1] * (1 - 1e-12):
            return None
        place = min(bisect_right(self._before, index) - 1, len(self._course) - 1)
        return round(self._course[place].time_of_area(index - self._before[place]) * S_TO_NS)


def share_of(workers: Sequence[int], all_workers: int, index: int) -> int:
    """Return which operation of the launch is that of a group, if each group takes its share.

    Args:
        workers: those of the group, by their indices among all workers.
        index: of the operation among those of the group.
    """
    turn, place = divmod(index, len(workers))
    return turn * all_workers + workers[place]


def working_times(worker: int, course: Sequence[Ramp]) -> list[tuple[float, float]]:
    """Return when a worker works, in s: while there are more workers than its index.

    The first worker always works.
    """
    found: list[tuple[float, float]] = []
    for ramp in course:
        times = _above(ramp, worker + 1) if worker else (ramp.begin_s, ramp.end_s)
        if times is None:
            continue
        if found and found[-1][1] == times[0]:
            times = (found.pop()[0], times[1])
        found.append(times)
    return found


def _above(ramp: Ramp, level: int) -> tuple[float, float] | None:
    """When a value is at that level or above."""
    low, high = sorted((ramp.first, ramp.last))
    if high < level:
        return None
    if low >= level:
        return ramp.begin_s, ramp.end_s
    share = (level - ramp.first) / (ramp.last - ramp.first)
    crossing_s = ramp.begin_s + share * (ramp.end_s - ramp.begin_s)
    times = (crossing_s, ramp.end_s) if ramp.last > ramp.first else (ramp.begin_s, crossing_s)
    return times if times[0] < times[1] else None

"""Which worker does what when: the same in every launch, by its seed.

The speed of a machine changes while it works: by a tenth from one second to the next is common.
Launches that take turns of a few milliseconds have nearly the same share of fast and slow moments,
so their ratio says much more than that of launches one after the other.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from benchgate.json_object import Count, JsonObject, Text
from benchgate.load.ramps import Ramp, rate_ramps, warm_up_rate, worker_ramps
from benchgate.model.load import Loop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.load.scenario import Scenario


S_TO_NS = 1_000_000_000


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


LAUNCHES: Final = 2
"""So many launches take turns."""

SHORTEST_NS: Final = 20_000_000
"""Shorter turns would mostly measure how workers wake up and caches fill."""

# In the break, operations end that began in the turn before.
_BREAK_RATIO = 0.1

STRETCH: Final = LAUNCHES * (1 + _BREAK_RATIO)
"""How much longer a launch takes if it takes turns with another one."""

# So many operations of a worker fit into a turn, at least.
_OPERATIONS = 10
_FEWEST = 4


@dataclass(frozen=True, slots=True)
class TurnOrder(JsonObject):
    """How a launch takes turns with another one.

    Attributes:
        place: 0 if it has the first turn, 1 if the other one has.
        turn_ns: how long a turn takes, about: the time is divided evenly.
        meeting: absolute path of an empty folder, in which both tell each other when they are
            ready.
    """

    place: Count
    turn_ns: Count
    meeting: Text


def turn_ns(latency_s: float, duration_s: float) -> int | None:
    """Choose how long a turn takes.

    Args:
        latency_s: of a slow operation, such as a 95th percentile.
        duration_s: the measured time of each launch.

    Returns:
        None if operations take so long that the launches have to run one after the other.
    """
    chosen_ns = max(SHORTEST_NS, round(latency_s * _OPERATIONS * 1e9))
    return chosen_ns if chosen_ns * _FEWEST <= duration_s * 1e9 else None


@dataclass(frozen=True, slots=True)
class Timetable:
    """When the load of a phase takes place.

    The time of the load passes only in the turns of the launch.

    Attributes:
        begin_ns: when the phase begins, by `time.perf_counter_ns`.
        turn_ns: length of a turn in ns, not rounded; 0.0 if the launch has all the time.
        count: how many turns each launch has.
        place: as in `TurnOrder`.
    """

    begin_ns: int
    turn_ns: float = 0.0
    count: int = 1
    place: int = 0

    @classmethod
    def of(cls, begin_ns: int, length_ns: int, order: TurnOrder | None) -> Timetable:
        """Divide a phase into turns; without an order there is only one, of this launch."""
        if order is None or not length_ns:
            return cls(begin_ns)
        count = max(1, math.ceil(length_ns / order.turn_ns))
        return cls(begin_ns, length_ns / count, count, order.place)

    def over_ns(self, length_ns: int) -> int:
        """Return when the phase is over for both launches, if its load takes so long."""
        return self.begin_ns + (round(length_ns * STRETCH) if self.turn_ns else length_ns)

    def at_ns(self, passed_ns: int) -> int:
        """Return the clock when so much of the load's time has passed."""
        if not self.turn_ns:
            return self.begin_ns + passed_ns
        turn = min(int(passed_ns / self.turn_ns), self.count - 1)
        return self._begin_of(turn) + round(passed_ns - turn * self.turn_ns)

    def passed_ns(self, now_ns: int) -> int:
        """Return how much of the load's time has passed; between two turns it stands still."""
        if not self.turn_ns:
            return now_ns - self.begin_ns
        # Turns of both launches alternate, so turn k is slot 2k or 2k + 1.
        turn = int((now_ns - self.begin_ns) / (LAUNCHES * self._slot_ns))
        turn = min(max(turn, 0), self.count - 1)
        in_turn_ns = min(max(now_ns - self._begin_of(turn), 0), self.turn_ns)
        return round(turn * self.turn_ns + in_turn_ns)

    def parts_ns(self, begin_ns: int, end_ns: int) -> list[tuple[int, int]]:
        """Return from when to when, by the clock, a part of the load's time takes place."""
        if not self.turn_ns:
            return [(self.begin_ns + begin_ns, self.begin_ns + end_ns)]
        parts = []
        for turn in range(self.count):
            first, last = max(begin_ns, turn * self.turn_ns), (turn + 1) * self.turn_ns
            last = min(end_ns, last)
            if first < last:
                begun_ns = self._begin_of(turn) - turn * self.turn_ns
                parts.append((round(begun_ns + first), round(begun_ns + last)))
        return parts

    @property
    def _slot_ns(self) -> float:
        return self.turn_ns * (1 + _BREAK_RATIO)

    def _begin_of(self, turn: int) -> int:
        """The launch that is first in one pair of turns is second in the next one."""
        slot = LAUNCHES * turn + (self.place ^ (turn & 1))
        return self.begin_ns + round(slot * self._slot_ns)


@dataclass(frozen=True, slots=True)
class LoadPhase:
    """The warm-up, or the measured time.

    Attributes:
        times: when the load of the phase takes place.
        end_ns: when the last turn of this launch ends, by `time.perf_counter_ns`.
        workers: how many of them work, for a closed loop.
        arrivals: what is due when, for an open loop; None for a closed one.
    """

    times: Timetable
    end_ns: int
    workers: tuple[Ramp, ...] = ()
    arrivals: Arrivals | None = None

    @property
    def begin_ns(self) -> int:
        """When it begins, by `time.perf_counter_ns`."""
        return self.times.begin_ns

    def working_times_ns(self, worker: int) -> list[tuple[int, int]]:
        """Return when a worker works in a closed loop."""
        return [
            part
            for begin_s, end_s in working_times(worker, self.workers)
            for part in self.times.parts_ns(round(begin_s * S_TO_NS), round(end_s * S_TO_NS))
        ]

    def due_ns(self, index: int) -> int | None:
        """Return when an operation of an open loop is due; None if that is after the end.

        It is a time of the load: see `Timetable.at_ns`.
        """
        return None if self.arrivals is None else self.arrivals.due_ns(index)


@dataclass(frozen=True, slots=True)
class Plan:
    """Both parts of a launch.

    Attributes:
        warm_up: None if there is none.
        over_ns: when the last turn has ended, also that of the other launch.
    """

    warm_up: LoadPhase | None
    measured: LoadPhase
    over_ns: int = 0


def plan_of(scenario: Scenario, epoch_ns: int, turns: TurnOrder | None = None) -> Plan:
    """Lay out a launch whose warm-up begins at that time.

    Args:
        turns: if the launch takes turns with another one: how.
    """
    load, duration_s = scenario.load, scenario.duration_s
    warm_up_ns, measured_ns = round(load.warmup_s * S_TO_NS), round(duration_s * S_TO_NS)
    first = Timetable.of(epoch_ns, warm_up_ns, turns)
    then = Timetable.of(first.over_ns(warm_up_ns), measured_ns, turns)
    ends_ns = first.at_ns(warm_up_ns), then.at_ns(measured_ns)
    if scenario.loop is Loop.OPEN:
        steady = [Ramp(0.0, load.warmup_s, warm_up_rate(load), warm_up_rate(load))]
        warm_up = LoadPhase(first, ends_ns[0], arrivals=Arrivals(steady if load.warmup_s else ()))
        measured = LoadPhase(then, ends_ns[1], arrivals=Arrivals(rate_ramps(load, duration_s)))
    else:
        steady = [Ramp(0.0, load.warmup_s, load.concurrency, load.concurrency)]
        warm_up = LoadPhase(first, ends_ns[0], workers=tuple(steady))
        measured = LoadPhase(then, ends_ns[1], workers=tuple(worker_ramps(load, duration_s)))
    return Plan(warm_up if warm_up_ns else None, measured, then.over_ns(measured_ns))

"""How two launches take turns: which of them loads its target when, by the clock they share. Pure.

The speed of a machine changes while it works: by a tenth from one second to the next is common.
Launches that take turns of a few milliseconds have nearly the same share of fast and slow moments,
so their ratio says much more than that of launches one after the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from benchgate.json_object import Count, JsonObject, Text

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

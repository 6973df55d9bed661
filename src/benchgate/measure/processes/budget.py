"""How long a step may take: its own time limit, and what is left of the budget of the session."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable

GRACE_S: Final = 10.0
_LIKE_THE_LONGEST = 2


class TimeLimit(NamedTuple):
    """The time limit of a step.

    Attributes:
        budget_s: the budget that shortens it; None if it is the step's own.
    """

    seconds: float
    budget_s: float | None = None

    def exceeded(self, tables: str = "[[benchmark]]") -> str:
        """Say that a step was ended by this limit, and what sets it.

        Args:
            tables: those of the configuration that may have its `timeout`.
        """
        if self.budget_s is None:
            took = f"it took longer than {format_duration(self.seconds)}"
            return f"timed out: {took}; `timeout` of {tables} sets the limit"
        return (
            f"timed out: benchgate ended it after {format_duration(self.seconds)}, because the "
            f"budget of {format_duration(self.budget_s)} was used up; --budget, or `budget` of "
            "[measure], sets the limit"
        )


class Budget:
    """Bounds the time limits of all steps: runs of commands, and what workers are asked for.

    A step that has begun may take longer than what is left of the budget: 10 s longer, or twice as
    long as the longest step that ended by itself. So only what hangs is ended.

    Args:
        clock: seconds; never goes backwards.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._longest_s = 0.0
        self.offer(math.inf)

    def offer(self, total_s: float) -> None:
        """From now on let each step have the whole budget, until one has used it up."""
        self._total_s, self._end_s = total_s, math.inf

    def begin(self, total_s: float, spent_s: float = 0.0) -> None:
        """From now on let all steps share the budget."""
        self._total_s, self._end_s = total_s, self._clock() + total_s - spent_s

    def limit(self, own_s: float, planned_s: float = 0.0) -> TimeLimit:
        """Get the time limit of a step that begins now.

        Args:
            own_s: its own limit.
            planned_s: how long it takes by its own plan, which no budget shortens.
        """
        left_s = min(self._total_s, max(0.0, self._end_s - self._clock()))
        most_s = planned_s + left_s + max(GRACE_S, _LIKE_THE_LONGEST * self._longest_s)
        return TimeLimit(own_s) if own_s <= most_s else TimeLimit(most_s, self._total_s)

    def ended(self, took_s: float) -> None:
        """Learn how long a step took that ended by itself, without what it had planned."""
        self._longest_s = max(self._longest_s, took_s)

    def exceeded(self, limit: TimeLimit) -> None:
        """Learn that a step had to be ended: if it used up the budget, no other has time left."""
        if limit.budget_s is not None:
            self._end_s = min(self._end_s, self._clock())

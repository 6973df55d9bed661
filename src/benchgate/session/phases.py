"""How long each phase of a session takes."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from benchgate.model.result import Phase, PhaseTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class Phases:
    """Measures how long each phase of a session takes.

    Phases follow each other without gaps, except for those that `beside` measures.

    Args:
        clock: seconds, never going backwards.
        began_s: when the first phase began, by this clock; None for now.
    """

    def __init__(self, clock: Callable[[], float], began_s: float | None = None) -> None:
        self._clock = clock
        self._phase = Phase.START
        self._since_s = clock() if began_s is None else began_s
        self._times = {Phase.START: 1}
        self._seconds = {Phase.START: 0.0}
        self._adding = Lock()

    def go_on(self, earlier: Iterable[PhaseTime]) -> None:
        """Add what the phases of an earlier session took, which this one continues."""
        with self._adding:
            for one in earlier:
                self._times[one.phase] = self._times.get(one.phase, 0) + one.times
                self._seconds[one.phase] = self._seconds.get(one.phase, 0.0) + one.seconds

    def begin(self, phase: Phase) -> None:
        """End the current phase, and begin another one."""
        self._end()
        self._phase = phase
        self._add(phase, 0.0)

    def assign(self, phase: Phase, seconds: float) -> None:
        """Count a part of the current phase as another one, if it took any time."""
        if seconds > 0:
            self._seconds[self._phase] -= seconds
            self._add(phase, seconds)

    @contextmanager
    def beside(self, phase: Phase) -> Iterator[None]:
        """Measure a part of the current phase, which other threads may do at the same time."""
        began_s = self._clock()
        try:
            yield
        finally:
            self._add(phase, self._clock() - began_s)

    def taken(self) -> tuple[PhaseTime, ...]:
        """What each phase has taken so far, in the order of `Phase`."""
        self._end()
        with self._adding:
            return tuple(
                PhaseTime(phase, self._times[phase], max(0.0, self._seconds[phase]))
                for phase in Phase
                if phase in self._times
            )

    def _end(self) -> None:
        now_s = self._clock()
        self._seconds[self._phase] += now_s - self._since_s
        self._since_s = now_s

    def _add(self, phase: Phase, seconds: float) -> None:
        with self._adding:
            self._times[phase] = self._times.get(phase, 0) + 1
            self._seconds[phase] = self._seconds.get(phase, 0.0) + seconds

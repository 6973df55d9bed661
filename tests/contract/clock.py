"""The time on GitHub's side."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tests.contract.records import START

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """Moves when a test moves it; `advance` fits where a client takes a `sleep`.

    Args:
        source: what it shows without having been moved.
    """

    def __init__(self, source: Callable[[], datetime] = lambda: START) -> None:
        self._source = source
        self._moved = timedelta()

    def now(self) -> datetime:
        return self._source() + self._moved

    def time(self) -> float:
        return self.now().timestamp()

    def advance(self, seconds: float) -> None:
        self._moved += timedelta(seconds=seconds)


def wall_clock() -> Clock:
    """The real time."""
    return Clock(lambda: datetime.now(UTC))

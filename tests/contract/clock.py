"""The time on GitHub's side."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.contract.records import START

if TYPE_CHECKING:
    from datetime import datetime


class Clock:
    """Moves when a test moves it; `advance` fits where a client takes a `sleep`."""

    def __init__(self) -> None:
        self._now = START

    def now(self) -> datetime:
        return self._now

    def time(self) -> float:
        return self.now().timestamp()

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

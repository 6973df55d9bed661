"""The primary rate limit: so many requests an hour, counted on every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.contract.answers import Json
    from tests.contract.clock import Clock

HOUR_S = 3600


class RateLimit:
    """Tests set `remaining`; when the clock reaches `reset`, all is there again."""

    def __init__(self, clock: Clock, limit: int = 1000) -> None:
        self._clock = clock
        self.limit = limit
        self.remaining = limit
        self.reset = int(clock.now().timestamp()) + HOUR_S

    def spend(self) -> bool:
        """Count one request; false where none was left."""
        if self._clock.now().timestamp() >= self.reset:
            self.remaining = self.limit
            self.reset = int(self._clock.now().timestamp()) + HOUR_S
        if self.remaining == 0:
            return False
        self.remaining -= 1
        return True

    def headers(self) -> dict[str, str]:
        return {f"x-ratelimit-{name}": str(value) for name, value in self.json().items()} | {
            "x-ratelimit-resource": "core"
        }

    def json(self) -> Json:
        return {
            "limit": self.limit,
            "used": self.limit - self.remaining,
            "remaining": self.remaining,
            "reset": self.reset,
        }

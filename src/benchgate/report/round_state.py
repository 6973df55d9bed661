"""What a progress display knows about the round that is being measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEAST_SHOWN_S = 0.1


@dataclass(frozen=True, slots=True)
class RoundState:
    """The state of a round; the estimates are those of its start."""

    index: int = 0
    rounds: int | None = None
    phase: str = ""
    benchmarks: int = 0
    done: int = 0
    current: str = ""
    ends_s: float | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    def round(self) -> str:
        """Format as in "round 3 of about 10 (screen)"."""
        of = f" of about {max(self.rounds, self.index + 1)}" if self.rounds else ""
        return f"round {self.index + 1}{of} ({self.phase})"

    def fraction(self) -> float:
        """The share done: of all rounds if their number is known, or else of this round."""
        here = self.done / self.benchmarks if self.benchmarks else 0.0
        if not self.rounds:
            return min(here, 1.0)
        return min((self.index + here) / max(self.rounds, self.index + 1), 1.0)

    def left(self, now_s: float) -> str:
        """Format as in ", about 20 s left"; "" if unknown, or if it takes longer than estimated."""
        left_s = 0.0 if self.ends_s is None else self.ends_s - now_s
        return f", about {format_duration(left_s)} left" if left_s >= _LEAST_SHOWN_S else ""

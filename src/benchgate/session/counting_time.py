"""Keeps counting in launches of its own, which is slow, within its part of the budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from benchgate.model.metrics import LEAST_COUNTED_ROUNDS
from benchgate.units import format_duration

_SHARE = 0.5


@dataclass(slots=True)
class CountingTime:
    """What counting has taken so far, and what is too slow for the budget.

    A benchmark is counted in all of the first rounds or, if half of the budget has no room for
    that, not again after the round that has shown it.

    Attributes:
        budget_s: the whole budget; infinite without one.
        total_s: what counting has taken in all rounds so far.
        last_s: the same in the last round.
        refused: benchmarks that are not counted any more.
    """

    budget_s: float = math.inf
    total_s: float = 0.0
    last_s: float = 0.0
    refused: set[str] = field(default_factory=set)
    _rounds: int = 0
    _kept_s: dict[str, float] = field(default_factory=dict)
    _wasted_s: float = 0.0

    @property
    def is_exhausted(self) -> bool:
        """Whether so much was too slow that nothing more is tried."""
        return self._wasted_s > self._share_s

    def counted(self, id_: str, took_s: float) -> str:
        """Note what counting a benchmark took in a round.

        Returns:
            Why it is not to be counted again; "" if it is.
        """
        if id_ in self._kept_s or sum(self._kept_s.values()) + took_s <= self._share_s:
            self._kept_s[id_] = took_s
            return ""
        self._wasted_s += took_s
        return f"counting it took {format_duration(took_s)} in one round, and {self.refuse(id_)}"

    def refuse(self, id_: str) -> str:
        """Note that a benchmark is not counted any more; return the reason."""
        self.refused.add(id_)
        budget = format_duration(self.budget_s)
        return f"counting everything takes more than half of the budget of {budget}"

    def round_ended(self, took_s: float) -> None:
        """Note what counting took in a round, all together."""
        self.total_s += took_s
        self.last_s = took_s
        self._rounds += 1

    def ahead_s(self, rounds: int) -> float:
        """About how long counting will take in the next rounds."""
        counted = max(0, min(rounds, LEAST_COUNTED_ROUNDS - self._rounds))
        return counted * sum(self._kept_s.values())

    @property
    def _share_s(self) -> float:
        return _SHARE * self.budget_s / LEAST_COUNTED_ROUNDS

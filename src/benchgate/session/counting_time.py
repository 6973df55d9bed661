"""Keeps counting in launches of its own, which is slow, within its part of the budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.measure.valgrind import LEAST_SLOWDOWN, LIMIT_S
from benchgate.model.run import LEAST_COUNTED_ROUNDS
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SHARE = 0.5
# The first round may try so many times as much as later rounds may take.
_TRIALS = 2


@dataclass(slots=True)
class CountingTime:
    """What counting has taken so far, and what is too slow for the budget.

    All rounds that count may together take about half of the budget. If that has no room for
    everything, the first round decides: what was counted fastest is counted again.

    Attributes:
        budget_s: the whole budget; infinite without one.
        total_s: what counting has taken in all rounds so far.
        last_s: the same in the last round that has ended.
        refused: why a benchmark is not counted any more, by its id.
    """

    budget_s: float = math.inf
    total_s: float = 0.0
    last_s: float = 0.0
    refused: dict[str, str] = field(default_factory=dict)
    _rounds: int = 0
    _spent_s: float = 0.0
    _costs_s: dict[str, float] = field(default_factory=dict)

    def refuse_slow(self, samples_s: Mapping[str, float]) -> None:
        """Refuse what would surely reach the time limit.

        Args:
            samples_s: the CPU time of a sample of each benchmark.
        """
        for id_, sample_s in samples_s.items():
            if sample_s * LEAST_SLOWDOWN > LIMIT_S:
                self.refused[id_] = (
                    f"{format_duration(sample_s)} of CPU time would take more than "
                    f"{format_duration(LIMIT_S)} under valgrind"
                )

    def spend(self, id_: str, took_s: float, *, has_count: bool) -> None:
        """Note what counting a benchmark took in this round, even if it gave no count."""
        self._spent_s += took_s
        if has_count:
            self._costs_s[id_] = took_s

    @property
    def is_over(self) -> bool:
        """Whether this round must not count anything more."""
        return self._rounds == 0 and self._spent_s > _TRIALS * self._share_s

    def end_round(self, left: Iterable[str]) -> None:
        """End this round.

        Args:
            left: what it should have counted, and had no time for.
        """
        for id_ in left:
            self.refused[id_] = self._too_much
        if self._rounds == 0:
            room_s = self._share_s
            for id_, took_s in sorted(self._costs_s.items(), key=lambda item: item[1]):
                room_s -= took_s
                if room_s < 0:
                    took = format_duration(self._costs_s.pop(id_))
                    self.refused[id_] = f"counting it takes {took} in a round: {self._too_much}"
        self._rounds += 1
        self.total_s += self._spent_s
        self.last_s, self._spent_s = self._spent_s, 0.0

    def ahead_s(self, rounds: int) -> float:
        """About how long counting will take in the next rounds."""
        counted = max(0, min(rounds, LEAST_COUNTED_ROUNDS - self._rounds))
        return counted * sum(self._costs_s.values())

    @property
    def _share_s(self) -> float:
        return _SHARE * self.budget_s / LEAST_COUNTED_ROUNDS

    @property
    def _too_much(self) -> str:
        budget = format_duration(self.budget_s)
        return f"counting everything would take more than half of the budget of {budget}"

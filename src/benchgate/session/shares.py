"""How much of the machine and of the budget a session may use, as its rounds have shown."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.evidence import log_ratios_by_round
from benchgate.measure.machine import LEAST_SLOWDOWN, LIMIT_S, free_memory_bytes
from benchgate.model.run import LEAST_COUNTED_ROUNDS
from benchgate.stats.spread import robust_spread
from benchgate.units import format_duration, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.model.launch_table import Launch

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


# Rounds in lanes that show how much a benchmark varies there.
LEAST_ROUNDS = 5
# How many times as much as the median of all benchmarks it must vary to be measured alone.
CLEARLY_WORSE_RATIO = 3.0
_FREE_SHARE = 0.5


@dataclass(slots=True)
class Sharing:
    """What is known about measuring side by side, after each round.

    Attributes:
        lanes: how many lanes may be used.
        tell: tells the user why fewer are.
        alone: benchmarks that are measured while nothing else is.
        is_known: whether it is known how many may be used; before, only one is.
    """

    lanes: int
    tell: Callable[[str], None]
    alone: set[str] = field(default_factory=set)
    is_known: bool = False

    @property
    def lanes_now(self) -> int:
        return self.lanes if self.is_known else 1

    def learn(self, written: Sequence[str], pair_bytes: int) -> None:
        """Learn from what ran for the first time; see `trees_were_written`, `memory_was_used`."""
        self.trees_were_written(written)
        self.memory_was_used(pair_bytes, free_memory_bytes())
        self.is_known = True

    def trees_were_written(self, names: Sequence[str]) -> None:
        """Stop sharing: two processes of one side would write the same files at once.

        Args:
            names: what was written in the base's trial, or in the first round.
        """
        if names and self.lanes > 1:
            rest = f" and {len(names) - 1} more" if len(names) > 1 else ""
            self.lanes = 1
            self.tell(
                f"measuring one benchmark at a time: one of them writes into its tree ({names[0]}"
                f"{rest})"
            )

    def memory_was_used(self, peak_bytes: int, free_bytes: int | None) -> None:
        """Use only as many lanes as fit into half of the free memory.

        Args:
            peak_bytes: the most that a pair of processes has used.
            free_bytes: None if unknown.
        """
        if self.lanes < 2 or free_bytes is None or peak_bytes <= 0:
            return
        fitting = max(1, int(_FREE_SHARE * free_bytes / peak_bytes))
        if fitting < self.lanes:
            self.lanes = fitting
            used, free = (format_value(each, "B") for each in (peak_bytes, free_bytes))
            self.tell(
                f"measuring {fitting} at a time: the two sides of a benchmark use up to {used}, "
                f"and {free} of memory is free"
            )

    def look(self, launches: Mapping[str, tuple[Sequence[Launch], Sequence[Launch]]]) -> None:
        """Measure alone from now on what varies much more than the others in lanes.

        This looks only at how far the ratios of rounds are spread, not at what they are, so it
        favors no outcome.

        Args:
            launches: of the time of each benchmark, in the base and in the head.
        """
        ratios = {id_: _log_ratios_in_lanes(*both) for id_, both in launches.items()}
        spreads = {
            id_: float(robust_spread(values[None, :])[0])
            for id_, values in ratios.items()
            if len(values) >= LEAST_ROUNDS
        }
        if spreads:
            limit = CLEARLY_WORSE_RATIO * float(np.median(list(spreads.values())))
            self.alone |= {id_ for id_, spread in spreads.items() if spread > limit}


def _log_ratios_in_lanes(base: Iterable[Launch], head: Iterable[Launch]) -> FloatArray:
    in_lanes = ([one for one in launches if one.lane is not None] for launches in (base, head))
    return np.array([*log_ratios_by_round(*in_lanes).values()])

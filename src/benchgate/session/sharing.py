"""Decides which benchmarks are measured at the same time as others, each in a lane of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.spread import nearest_rank, robust_spread
from benchgate.units import format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.model.run import Launch

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
    """

    lanes: int
    tell: Callable[[str], None]
    alone: set[str] = field(default_factory=set)

    def trees_were_written(self, names: Sequence[str]) -> None:
        """Stop sharing: two processes of one side would write the same files at once.

        Args:
            names: what was written in the first round, in which nothing was shared.
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


def _log_ratios_in_lanes(base: Iterable[Launch], head: Iterable[Launch]) -> np.ndarray:
    before = {launch.round: launch for launch in base if launch.lane is not None}
    return np.array(
        [
            np.log(_typical(launch) / _typical(before[launch.round]))
            for launch in head
            if launch.round in before
            and _typical(before[launch.round]) > 0
            and _typical(launch) > 0
        ]
    )


def _typical(launch: Launch) -> float:
    return float(nearest_rank(launch.samples, 0.25))

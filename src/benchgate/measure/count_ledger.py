"""Which benchmarks valgrind still has to count, and its counts as observations."""

from __future__ import annotations

import signal
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from benchgate.measure.engine import MetricSamples, Observation
from benchgate.measure.session_folder import SessionFolder
from benchgate.model.metrics import INSTRUCTIONS, LEAST_COUNTED_ROUNDS, VALGRIND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.measure.engine import ArmName


_UNKNOWN_INSTRUCTION = (
    ": valgrind does not know all instructions of this processor, such as AVX-512"
)


class CountLedger:
    """Counting is slow, so no benchmark is counted in more rounds than its row needs.

    A benchmark that cannot be counted once is not tried again.

    Args:
        wants: tells whether a benchmark is counted at all, by its id.
    """

    def __init__(self, wants: Callable[[str], bool]) -> None:
        self._wants = wants
        self._rounds: Counter[str] = Counter()
        self._given_up: set[str] = set()

    def due(self, ids: Iterable[str]) -> list[str]:
        """The benchmarks that are still to be counted."""
        return [id_ for id_ in ids if self._is_due(id_)]

    def counted(self, id_: str, counts: Mapping[ArmName, float], loops: int) -> list[Observation]:
        """Note that a round of a benchmark was counted.

        Args:
            counts: instructions of one operation, in the order of counting.
            loops: operations that were counted.
        """
        self._rounds[id_] += 1
        return [
            Observation(arm, id_, order, (_metric(count, loops),))
            for order, (arm, count) in enumerate(counts.items())
        ]

    def given_up(self, id_: str, arms: Iterable[ArmName], why: str) -> list[Observation]:
        """Note that a benchmark cannot be counted: what was timed stays valid."""
        self._given_up.add(id_)
        # What follows would advise to raise the timeout, which is not what ended it.
        reason, _, _ = why.partition("\n")[0].partition(";")
        unknown = _UNKNOWN_INSTRUCTION if signal.SIGILL.name in reason else ""
        notes = (f"{INSTRUCTIONS.name}: {VALGRIND}: {reason}{unknown}",)
        return [Observation(arm, id_, order, notes=notes) for order, arm in enumerate(arms)]

    def _is_due(self, id_: str) -> bool:
        is_open = id_ not in self._given_up and self._rounds[id_] < LEAST_COUNTED_ROUNDS
        return is_open and self._wants(id_)


@contextmanager
def folder_for_counts() -> Iterator[Path]:
    """A folder for what valgrind writes; if benchgate is killed, the next session removes it."""
    folder = SessionFolder.create()
    try:
        counts = folder.path / "counts"
        counts.mkdir()
        yield counts
    finally:
        folder.remove()


def _metric(count: float, loops: int) -> MetricSamples:
    value, nothing = np.array([count], dtype=np.float64), np.empty(0)
    return MetricSamples(INSTRUCTIONS, loops, value, nothing, VALGRIND)

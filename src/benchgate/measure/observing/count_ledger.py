"""Which benchmarks are still to be counted under valgrind, and where it writes."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchgate.measure.contract import Observation
from benchgate.measure.session_folder import SessionFolder
from benchgate.model.metrics import INSTRUCTIONS, VALGRIND
from benchgate.model.run import Series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from benchgate.measure.arm import ArmName


_UNKNOWN_INSTRUCTION = (
    ": valgrind does not know all instructions of this processor, such as AVX-512"
)


class CountLedger:
    """Counting is slow, so a benchmark that cannot be counted once is not tried again.

    Args:
        wants: tells whether a benchmark is counted at all, by its id.
    """

    def __init__(self, wants: Callable[[str], bool]) -> None:
        self._wants = wants
        self._given_up: set[str] = set()

    def due(self, ids: Iterable[str]) -> list[str]:
        """Those of the benchmarks that can be counted, as far as is known."""
        return [id_ for id_ in ids if id_ not in self._given_up and self._wants(id_)]

    @staticmethod
    def counted(id_: str, counts: Mapping[ArmName, float], loops: int) -> list[Observation]:
        """Give the counts of one round of a benchmark.

        Args:
            counts: instructions of one operation, in the order of counting.
            loops: operations that were counted.
        """
        return [
            Observation(
                arm,
                id_,
                order,
                (Series.single(INSTRUCTIONS, count, loops=loops, counter=VALGRIND),),
                uses_files=False,  # of what was timed, it says nothing
            )
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

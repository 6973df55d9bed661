"""Whether both arms may run at the same time on one CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.model.metrics import TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


OF_SEVERAL: Final = (
    f"{TIME.name}: it is the CPU time of all threads and processes; `in_turn = true` measures the "
    "wall time"
)

# The part of its time, waiting for a CPU left out, that work may spend on anything else than
# computing.
_MOST_WAITING = 0.1


def only_computes(waiting_ratios: Iterable[float]) -> bool:
    """Whether work does nothing but compute on each arm; what waits could wait for the other arm.

    Args:
        waiting_ratios: for each arm the part of its time, waiting for a CPU left out, in which it
            did not compute; of the run that waited least, because the first of all has to read
            files from the disk.
    """
    return all(ratio <= _MOST_WAITING for ratio in waiting_ratios)


def mostly_waits(waiting_ratios: Sequence[float]) -> bool:
    """Whether most runs beside the other arm waited for something else than a CPU."""
    return 2 * sum(ratio > _MOST_WAITING for ratio in waiting_ratios) > len(waiting_ratios)


def why_in_turn(failure: str) -> str:
    """The note on work that fails if both sides do it at the same time."""
    reason = failure.partition("\n")[0]
    return (
        "base and head were measured in turn, because one of them failed when both ran at the same"
        f" time: {reason}"
    )

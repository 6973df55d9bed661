"""A group of workers: threads of one process, on a common schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.load.order import LoadOrder
    from benchgate.load.recording import StepRecord
    from benchgate.stats.histogram import Histogram


class Gate(Protocol):
    """Where all groups wait for each other."""

    def arrive(self) -> None:
        """Say that every worker of this group has opened its connection."""
        ...

    def epoch_ns(self) -> int:
        """Wait for all groups; return when the warm-up begins, by this machine's clock.

        The clock is `time.perf_counter_ns`, which all processes of a machine share.

        Raises:
            GivenUpError: the launch was given up.
        """
        ...

    def is_stopped(self) -> bool:
        """Whether the launch was given up; asked a few times a second."""
        ...


class GivenUpError(Exception):
    """The launch was given up while a group waited for the others."""


@dataclass(slots=True)
class GroupRecord:
    """What one group recorded; it can be pickled.

    Attributes:
        steps: by name.
        workers: how many worked.
        cpu_s: CPU time of the group's process in the measured time.
        first_start_ns: when the first worker began its first operation, since the epoch.
        last_start_ns: the same of the last worker; both 0 if no worker began one.
        late: how late free workers began operations that were due, in ns; empty for a closed loop.
        paused_s: how long workers paused after errors that followed each other.
        notes: what a reader of the numbers must know.
    """

    steps: Mapping[str, StepRecord]
    workers: int
    cpu_s: float
    first_start_ns: int
    last_start_ns: int
    late: Histogram
    paused_s: float = 0.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EndedGroup:
    """A group after the launch, as the one who started it sees it.

    Attributes:
        place: "here", or where else it ran.
        workers: how many it should have had.
        record: None if it was lost.
        lost: why there is no record, such as "killed by SIGKILL"; None if there is one.
        clock_offset_s: how far its clock was ahead; 0.0 on one machine.
        clock_error_s: how far that offset may be off, at most.
    """

    place: str
    workers: int
    record: GroupRecord | None
    lost: str | None = None
    clock_offset_s: float = 0.0
    clock_error_s: float = 0.0


def run_group(order: LoadOrder, workers: Sequence[int], gate: Gate) -> GroupRecord:
    """Run these workers of a launch, from opening their connections to closing them.

    Args:
        workers: their indices among all workers of the launch.
        gate: where all groups wait for each other.

    Raises:
        TargetError: a connection cannot be opened.
        GivenUpError: the launch was given up before it was measured.
    """
    raise NotImplementedError

"""A group of workers: threads of one process, on a common schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.load.order import LoadOrder
    from benchgate.model.load import KeptError


class Gate(Protocol):
    """Where all groups wait for each other."""

    def arrive(self) -> None:
        """Say that every worker of this group has opened its connection."""
        ...

    def epoch_ns(self) -> int:
        """Wait for all groups; return when the warm-up begins, by this machine's clock."""
        ...

    def is_stopped(self) -> bool:
        """Whether the launch was given up."""
        ...


@dataclass(slots=True)
class StepRecord:
    """What the workers of a group recorded of one step; it can be pickled and merged."""

    ops: int
    errors: int
    kept_errors: list[KeptError]
    histogram: bytes
    sample: Sequence[int]
    sampled_of: int
    windows: Mapping[int, tuple[int, int, bytes]]


@dataclass(slots=True)
class GroupRecord:
    """What one group recorded: the records of the steps by name, and how the group itself did."""

    steps: Mapping[str, StepRecord]
    workers: int
    cpu_s: float
    first_start_ns: int
    last_start_ns: int
    late: bytes


def run_group(order: LoadOrder, workers: Sequence[int], gate: Gate) -> GroupRecord:
    """Run these workers of a launch, from opening their connections to closing them.

    Args:
        workers: their indices among all workers of the launch.
        gate: where all groups wait for each other.

    Raises:
        TargetError: a connection cannot be opened.
    """
    raise NotImplementedError

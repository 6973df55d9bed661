"""Runs all groups of workers of a launch: here, in several processes, or on a cluster."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchgate.load.group import EndedGroup, run_workers
from benchgate.load.meeting import epoch_ns
from benchgate.load.plan import plan_of

if TYPE_CHECKING:
    import threading

    from benchgate.load.launch import Launch
    from benchgate.load.turns import TurnOrder

HERE = "here"

_TO_WAKE_NS = 10_000_000
_TO_WAKE_EACH_NS = 200_000


def to_wake_ns(workers: int) -> int:
    """How long so many workers of one machine may take to be awake at the epoch."""
    return _TO_WAKE_NS + workers * _TO_WAKE_EACH_NS


def available_cpus() -> int:
    """How many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LocalGate:
    """A gate for the only group of a launch."""

    def __init__(self, stop: threading.Event, workers: int, turns: TurnOrder | None = None) -> None:
        self._stop = stop
        self._workers = workers
        self._turns = turns

    def arrive(self) -> None:
        """There is nobody to tell."""

    def epoch_ns(self) -> int:
        """Begin as soon as all workers can be awake, or together with the other launch."""
        return epoch_ns(self._turns, to_wake_ns(self._workers), self.is_stopped)

    def is_stopped(self) -> bool:
        """Whether a signal has come."""
        return self._stop.is_set()


def run_groups(launch: Launch, stop: threading.Event) -> tuple[EndedGroup, ...]:
    """Load the target with all workers.

    Raises:
        TargetError: a connection cannot be opened.
        GivenUpError: it was stopped.
    """
    load, workers = launch.scenario.load, launch.scenario.most_workers
    # Every launch waits for what this program imports, and few need asyncio or multiprocessing.
    if load.cluster is not None:
        from benchgate.load.cluster import run_on_cluster  # noqa: PLC0415 - see above

        return run_on_cluster(launch, stop.is_set)
    if load.workers == "process":
        from benchgate.load.processes import run_in_processes  # noqa: PLC0415 - see above

        duration_s = plan_of(launch.scenario, 0, launch.order.turns).over_ns / 1e9
        return run_in_processes(launch.order, workers, available_cpus(), duration_s, stop)
    gate = LocalGate(stop, workers, launch.order.turns)
    record = run_workers(launch, range(workers), gate)
    return (EndedGroup(HERE, workers, record),)

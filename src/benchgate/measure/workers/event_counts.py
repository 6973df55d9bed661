"""Counts events per call in a live worker, with the kernel's counters."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.measure.machine import Counter, CounterError, Event

if TYPE_CHECKING:
    from benchgate.measure.workers.worker import Worker


_SAMPLES = 3
_LONG_NS = 2_000_000
_LOOKS = 1000


COUNTS_SETUPS = "what surrounds each call would be counted, too"


def count_per_call(worker: Worker, loops: int, event: Event) -> float:
    """Count the event in separate samples, which are not timed; return the count of one call.

    A sample of zero calls shows the overhead to subtract: requesting and taking a sample. The
    smallest of three samples counts, or the only one if it is long: filling a cache, or growing a
    table, only ever adds to the count.

    Args:
        worker: a worker with the benchmark open and garbage collection off. Changes its loops.
        loops: calls in a sample.

    Raises:
        CounterError: the event cannot be counted.
    """
    with Counter(event, worker.pid) as counter:
        of_none = _least(worker, counter, 0)
        of_all = _least(worker, counter, loops)
    if of_all <= of_none:
        raise CounterError("calls did not add to the count")
    return (of_all - of_none) / loops


def _least(worker: Worker, counter: Counter, loops: int) -> int:
    worker.ask("loops", loops)
    least, wall_ns = _sample(worker, counter)
    if wall_ns <= _LONG_NS:
        least = min(least, *(_sample(worker, counter)[0] for _ in range(_SAMPLES - 1)))
    return least


def _sample(worker: Worker, counter: Counter) -> tuple[int, int]:
    """Take a sample; return its count, and how long its calls took."""
    before = _read_at_rest(worker, counter)
    wall_ns, _ = worker.sample()
    return _read_at_rest(worker, counter) - before, wall_ns


def _read_at_rest(worker: Worker, counter: Counter) -> int:
    """Read when the worker waits again, which is a moment after its reply arrives."""
    for _ in range(_LOOKS):
        if not _is_running(worker.pid):
            break
        os.sched_yield()
    return counter.read()


def _is_running(pid: int) -> bool:
    try:
        about = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:  # the process has ended; the next step reports it
        return False
    return about.rpartition(b")")[2].split()[0] == b"R"

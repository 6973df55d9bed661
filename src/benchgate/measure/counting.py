"""Counts an event in the calls of a benchmark, from outside of its process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.measure.counters import Counter, CounterError

if TYPE_CHECKING:
    from benchgate.measure.counters import Event
    from benchgate.measure.worker import Worker

_SAMPLES = 3
_LONG_NS = 2_000_000
_LOOKS = 1000


def count_per_call(worker: Worker, loops: int, event: Event) -> float:
    """Count the event in samples of their own, which nobody times, and give that of one call.

    A sample of no calls shows what is to be taken off: taking a sample, and asking for it. The
    least of three samples counts, or the only one if it is long: filling a cache, or
    growing a table, only ever adds to it.

    Args:
        worker: with the benchmark open and its garbage collector off. Its loops are changed.
        loops: calls in a sample.

    Raises:
        CounterError: it cannot be counted.
        WorkerFailedError: the benchmark failed.
    """
    with Counter(event, worker.pid) as counter:
        of_none = _least(worker, counter, 0)
        of_all = _least(worker, counter, loops)
    if of_all <= of_none:
        raise CounterError("calls did not add to the count")
    return (of_all - of_none) / loops


def _least(worker: Worker, counter: Counter, loops: int) -> int:
    worker.ask("loops", loops=loops)
    least, wall_ns = _sample(worker, counter)
    if wall_ns <= _LONG_NS:
        least = min(least, *(_sample(worker, counter)[0] for _ in range(_SAMPLES - 1)))
    return least


def _sample(worker: Worker, counter: Counter) -> tuple[int, int]:
    """Take a sample; give its count, and how long its calls took."""
    before = _read_at_rest(worker, counter)
    wall_ns, _ = worker.sample()
    return _read_at_rest(worker, counter) - before, wall_ns


def _read_at_rest(worker: Worker, counter: Counter) -> int:
    """Read when the worker waits for us: its answer comes a moment before it does."""
    for _ in range(_LOOKS):
        if not _is_running(worker.pid):
            break
        os.sched_yield()
    return counter.read()


def _is_running(pid: int) -> bool:
    try:
        about = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:  # it has ended, as the next step will find
        return False
    return about.rpartition(b")")[2].split()[0] == b"R"

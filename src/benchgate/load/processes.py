"""Groups of workers in processes of their own, for more load than one process can make."""

from __future__ import annotations

import math
import multiprocessing
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from benchgate.errors import BenchgateError
from benchgate.load.drivers.driver import TargetError
from benchgate.load.group import (
    GRACE_S,
    EndedGroup,
    GivenUpError,
    GroupRecord,
    epoch_ns,
    run_workers,
)
from benchgate.load.launch import open_launch
from benchgate.load.worker import text_of
from benchgate.process import how_ended

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence
    from multiprocessing.context import SpawnProcess

    from benchgate.load.launch import LoadOrder

_LOOK_S = 0.1
# Processes need longer than threads to be awake at the epoch.
_TO_WAKE_NS = 100_000_000
_TO_WAKE_EACH_NS = 200_000
# After the measured time and the grace: closing, and sending what was recorded.
_TO_SEND_S = 30.0
_TO_STOP_S = 8.0

_ARRIVED = "arrived"
_STOP = "stop"


class PipeGate:
    """The gate of a group in a process of its own; the process that started it is at the pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._is_stopped = False

    def arrive(self) -> None:
        self._pipe.send(_ARRIVED)

    def epoch_ns(self) -> int:
        try:
            answer = self._pipe.recv()
        except EOFError:
            answer = _STOP
        if not isinstance(answer, int):
            raise GivenUpError
        return answer

    def is_stopped(self) -> bool:
        """Whether that process said so, or has ended."""
        try:
            # Nothing else is sent while a group is asked.
            self._is_stopped = self._is_stopped or (
                self._pipe.poll() and self._pipe.recv() == _STOP
            )
        except (EOFError, OSError):
            self._is_stopped = True
        return self._is_stopped


@dataclass(slots=True)
class _Child:
    """A process with a group, as the one that started it sees it."""

    process: SpawnProcess
    pipe: Connection
    workers: tuple[int, ...]
    place: str
    has_arrived: bool = False
    record: GroupRecord | None = None
    lost: str | None = None

    @property
    def has_ended(self) -> bool:
        return self.record is not None or self.lost is not None


def shares(workers: int, processes: int) -> list[tuple[int, ...]]:
    """Deal out workers like cards: every process gets as many as the others, or one more."""
    return [tuple(range(first, workers, processes)) for first in range(min(workers, processes))]


def run_in_processes(
    order: LoadOrder, workers: int, processes: int, duration_s: float, stop: threading.Event
) -> tuple[EndedGroup, ...]:
    """Load the target with workers spread over processes; each runs its share as threads.

    A process that is killed is a lost group. The others go on.

    Args:
        duration_s: of the warm-up and the measured time.
    """
    children = [
        _started(order, share, place) for place, share in enumerate(shares(workers, processes))
    ]
    try:
        _receive(children, stop, lambda child: child.has_arrived or child.has_ended)
        ready = [child for child in children if not child.has_ended]
        to_wake_ns = _TO_WAKE_NS + workers * _TO_WAKE_EACH_NS
        begin_ns = epoch_ns(order.turns, to_wake_ns, stop.is_set)
        for child in ready:
            _send(child, begin_ns)
        deadline_s = time.monotonic() + duration_s + GRACE_S + _TO_SEND_S
        _receive(children, stop, lambda child: child.has_ended, deadline_s)
    finally:
        _end(children)
    return tuple(
        EndedGroup(child.place, len(child.workers), child.record, child.lost) for child in children
    )


def _started(order: LoadOrder, workers: tuple[int, ...], place: int) -> _Child:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=run_child, args=(order, workers, theirs), daemon=True)
    process.start()
    theirs.close()
    return _Child(process, ours, workers, f"process {place + 1}")


def run_child(order: LoadOrder, workers: Sequence[int], pipe: Connection) -> None:
    """Run a group in this process, and send what it recorded."""
    # These signals may reach all processes at once: the one that started this one tells it to
    # stop. A handler is not inherited by the programs that a driver starts; SIG_IGN would be.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    answer: GroupRecord | Exception
    try:
        launch = open_launch(order)
        try:
            answer = run_workers(launch, workers, PipeGate(pipe))
        finally:
            launch.driver.close()
    except (GivenUpError, TargetError) as error:
        answer = error
    except BenchgateError as error:
        answer = TargetError(error.message)
    except Exception as error:  # noqa: BLE001 - the process that started this one tells it
        answer = TargetError(f"a group of workers failed: {text_of(error)}")
    try:
        pipe.send(answer)
    except OSError:  # nobody is there any more
        return


def _receive(
    children: Sequence[_Child],
    stop: threading.Event,
    is_done: Callable[[_Child], bool],
    deadline_s: float = math.inf,
) -> None:
    """Take what the processes send, until each is done."""
    while waited := [child for child in children if not is_done(child)]:
        if stop.is_set():
            raise GivenUpError
        if time.monotonic() >= deadline_s:
            for child in waited:
                child.lost = "it sent nothing when its time was over"
            return
        ready = wait([child.pipe for child in waited], timeout=_LOOK_S)
        for child in waited:
            if child.pipe in ready:
                _take(child)


def _take(child: _Child) -> None:
    try:
        message: GroupRecord | Exception | str = child.pipe.recv()
    except (EOFError, OSError):
        child.process.join(_TO_STOP_S)
        code = child.process.exitcode
        child.lost = "it closed its connection" if code is None else f"it {how_ended(code)}"
        return
    if isinstance(message, Exception):
        raise message
    if isinstance(message, GroupRecord):
        child.record = message
    child.has_arrived = True


def _send(child: _Child, message: object) -> None:
    try:
        child.pipe.send(message)
    except OSError:  # it has ended, which is seen when it is waited for
        return


def _end(children: Sequence[_Child]) -> None:
    """Let no process outlive the launch."""
    for child in children:
        _send(child, _STOP)
    deadline_s = time.monotonic() + _TO_STOP_S
    for child in children:
        child.process.join(max(deadline_s - time.monotonic(), 0.0))
        if child.process.is_alive():
            child.process.kill()
            child.process.join()
        child.pipe.close()

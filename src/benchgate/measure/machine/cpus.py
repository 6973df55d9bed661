"""Which CPUs this process may use, and binding threads and processes to them."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.measure.machine.os_files import read_os_file

if TYPE_CHECKING:
    from collections.abc import Iterator


def why_unpinned() -> str:
    """Try to bind processes to CPUs, which changes nothing; say why it fails, "" if it does not."""
    if sys.platform != "linux":
        return f"not pinned: {sys.platform} does not bind processes to CPUs"
    try:
        os.sched_setaffinity(0, os.sched_getaffinity(0))
    except OSError as error:
        return f"not pinned: the OS refused: {error.strerror}"
    return ""


def supports_pinning() -> bool:
    """Whether this OS binds processes to CPUs."""
    return not why_unpinned()


def available_cpus() -> frozenset[int]:
    """The CPUs that this thread may use now; inside `kept_off` one fewer."""
    if sys.platform != "linux":
        return frozenset(range(os.cpu_count() or 1))
    return frozenset(os.sched_getaffinity(0))


@contextmanager
def kept_off(cpu: int | None) -> Iterator[None]:
    """Keep every thread of this process off a CPU, as long as there is another one.

    Processes that start meanwhile inherit this, so set their CPUs. None changes nothing.
    """
    if cpu is None or not supports_pinning():
        yield
        return
    before = _affinities()
    try:
        for thread, cpus in before.items():
            _bind(thread, cpus - {cpu})
        yield
    finally:
        for thread, cpus in before.items():
            _bind(thread, cpus)


def can_bind_to(cpu: int | None) -> bool:
    """Whether this thread may run on a CPU now: it may have been taken away. None is any CPU."""
    try:
        with moved_to(cpu):
            return True
    except OSError:
        return False


@contextmanager
def moved_to(cpu: int | None) -> Iterator[None]:
    """Move this thread to a CPU; None leaves it where it is.

    If benchgate runs on the CPU of the workers, handing over a turn wakes no process on another
    CPU. That would take longer, and even longer if the other CPU is busy.
    """
    with bound_to(None if cpu is None else frozenset({cpu})):
        yield


@contextmanager
def bound_to(cpus: frozenset[int] | None) -> Iterator[None]:
    """Let this thread, and the processes that it starts, use only these CPUs; None: no change."""
    if cpus is None or sys.platform != "linux":
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        _bind(0, cpus)
        yield
    finally:
        _bind(0, frozenset(before))


def _affinities() -> dict[int, frozenset[int]]:
    """CPUs of each thread of this process."""
    if sys.platform != "linux":
        return {}
    try:
        threads = [int(task.name) for task in Path("/proc/self/task").iterdir()]
    except OSError:
        threads = [0]  # without /proc, only this one is known
    affinities = {}
    for thread in threads:
        with suppress(ProcessLookupError):
            affinities[thread] = frozenset(os.sched_getaffinity(thread))
    return affinities


def _bind(thread: int, cpus: frozenset[int]) -> None:
    if sys.platform == "linux" and cpus:
        with suppress(ProcessLookupError):
            os.sched_setaffinity(thread, cpus)


def run_time_ns(pid: int) -> int | None:
    """How long the main thread of a process has been on a CPU; None if the OS does not tell."""
    text = read_os_file(Path(f"/proc/{pid}/schedstat"))
    return int(text.split()[0]) if text else None

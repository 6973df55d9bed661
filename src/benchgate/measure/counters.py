"""Counts events with the kernel's counters, as `perf stat` does; see perf_event_open(2)."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from benchgate.measure.worker import Worker


# Numbers of the system call on 64-bit Linux. On big-endian machines the flags are turned round.
_SYSCALLS = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319}
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_STRICTEST_FOR_USERS = 2

# struct perf_event_attr in its first form, which every kernel takes: type, size, config, sample
# period, sample type, read format, flags, three for other uses.
_ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")
_DISABLED, _INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 0, 1 << 1, 1 << 5, 1 << 6
_ENABLE_ON_EXEC = 1 << 12
_CLOSE_ON_EXEC = 8
# With these in the read format, the time for which it was to count and that for which it did.
_TIMES = 1 | 2
_READING = struct.Struct("=QQQ")

_WORK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Event:
    """What is counted, in the kernel's numbers."""

    type: int
    config: int


USER_INSTRUCTIONS = Event(type=0, config=1)
"""Instructions, counted by the processor: PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS."""


class CounterError(Exception):
    """Nothing is counted; the message is the reason, with what would help, on one line."""


class Counter:
    """Counts an event in all threads of a process, and in threads and processes that these start.

    Those count from then on whether or not they end before `read`. What was started by a
    process before it was given the counter does not, nor does what outlives the counter.

    Args:
        pid: the process; 0 for the thread that asks.
        from_exec: count in the programs that it starts, each from its first instruction, and not
            in the process itself.

    Raises:
        CounterError: the event cannot be counted here, or not in this process.
    """

    def __init__(self, event: Event, pid: int, *, from_exec: bool = False) -> None:
        flags = _INHERIT | _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR
        if from_exec:
            flags |= _DISABLED | _ENABLE_ON_EXEC
        self._descriptors: list[int] = []
        try:
            for thread in _threads(pid):
                with suppress(ProcessLookupError):  # it has ended meanwhile
                    self._descriptors.append(perf_event_open(event, thread, flags))
        except OSError as error:
            self.close()
            raise CounterError(_reason(error)) from error
        if not self._descriptors:
            raise CounterError("the process has ended, or benchgate cannot see it")

    def read(self) -> int:
        """Say how often it happened so far.

        Raises:
            CounterError: some of the time it was not counted.
        """
        total = 0
        for descriptor in self._descriptors:
            count, enabled_ns, running_ns = _READING.unpack(os.read(descriptor, _READING.size))
            if running_ns < enabled_ns:
                raise CounterError(
                    "the counters were lost at times, because of a program such as perf or a move "
                    "to another core"
                )
            total += count
        return total

    def close(self) -> None:
        """Stop counting."""
        while self._descriptors:
            os.close(self._descriptors.pop())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def find_obstacle(event: Event) -> str | None:
    """Say why an event that all work causes cannot be counted here; None if it can."""
    try:
        with Counter(event, 0) as counter:
            bytearray(_WORK_BYTES).count(b"x")
            moved = counter.read() > 0
    except CounterError as error:
        return str(error)
    return None if moved else "this machine's counters do not count, as on some emulators"


def perf_event_open(event: Event, thread: int, flags: int) -> int:
    """Make the system call; give a descriptor to read.

    Args:
        thread: 0 for the one that asks.

    Raises:
        OSError: as the kernel says; ENOSYS also if there is no such call.
    """
    number = _SYSCALLS.get(platform.machine())
    if sys.platform != "linux" or number is None or sys.maxsize < 2**32:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = (ctypes.c_long, ctypes.c_char_p, *[ctypes.c_long] * 3, ctypes.c_ulong)
    attributes = _ATTRIBUTES.pack(
        event.type, _ATTRIBUTES.size, event.config, 0, 0, _TIMES, flags, 0, 0, 0
    )
    descriptor: int = call(number, attributes, thread, -1, -1, _CLOSE_ON_EXEC)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return descriptor


def _threads(pid: int) -> list[int]:
    if not pid:
        return [0]
    with suppress(FileNotFoundError):
        return [int(thread.name) for thread in Path(f"/proc/{pid}/task").iterdir()]
    return []


def _reason(error: OSError) -> str:
    """Say what a refusal means, and what would help."""
    if sys.platform != "linux":
        return f"{sys.platform} does not let programs count instructions; Linux does"
    if error.errno in {errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP}:
        return "this machine has no counters, like most virtual machines; use a physical one"
    if error.errno in {errno.EACCES, errno.EPERM}:
        if _paranoia() > _STRICTEST_FOR_USERS:
            return "the kernel does not let users count: sudo sysctl kernel.perf_event_paranoid=2"
        return "a sandbox forbids it: allow perf_event_open (docker run --cap-add PERFMON)"
    if error.errno == errno.ENOSYS:
        return f"this kernel, or a sandbox, has no perf_event_open on {platform.machine()}"
    return f"the kernel refused: {error.strerror}"


def _paranoia() -> int:
    try:
        return int(_PARANOID.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


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

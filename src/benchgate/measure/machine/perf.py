"""Counts instructions and other events with the kernel's counters."""

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
from typing import Self

# Numbers of the system call on 64-bit Linux. On big-endian machines the flags are reversed.
_SYSCALLS = {"x86_64": 298, "aarch64": 241, "riscv64": 241, "ppc64le": 319}
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_STRICTEST_FOR_USERS = 2

# struct perf_event_attr in its first form, which every kernel takes: type, size, config, sample
# period, sample type, read format, flags, three for other uses.
_ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")
_DISABLED, _INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR = 1 << 0, 1 << 1, 1 << 5, 1 << 6
_ENABLE_ON_EXEC = 1 << 12
_CLOSE_ON_EXEC = 8
# Adds to each reading the time for which the counter was enabled and the time it really ran.
_TIMES = 1 | 2
_READING = struct.Struct("=QQQ")

_WORK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Event:
    """An event to count, by the kernel's numbers."""

    type: int
    config: int


USER_INSTRUCTIONS = Event(type=0, config=1)
"""Instructions, counted by the processor: PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS."""


class CounterError(Exception):
    """Counting is impossible; the message is one line: the reason, and a remedy."""


class Counter:
    """Counts an event in all threads of a process, and in threads and processes that these start.

    These count even if they end before `read`. Processes that were started before the counter
    was opened do not count, and processes that outlive the counter stop counting.

    Args:
        pid: the process; 0 for the calling thread.
        from_exec: count only in the programs that the process starts, each from its first
            instruction, and not in the process itself.

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
                with suppress(ProcessLookupError):  # the process ended meanwhile
                    self._descriptors.append(perf_event_open(event, thread, flags))
        except OSError as error:
            self.close()
            raise CounterError(_reason(error)) from error
        if not self._descriptors:
            raise CounterError("the process has ended, or benchgate cannot see it")

    def read(self) -> int:
        """Return how often the event has happened so far.

        Raises:
            CounterError: the counter did not run all the time.
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


def why_not_counted(event: Event) -> str | None:
    """Say why an event cannot be counted on this machine; None if it can."""
    try:
        with Counter(event, 0) as counter:
            bytearray(_WORK_BYTES).count(b"x")
            moved = counter.read() > 0
    except CounterError as error:
        return str(error)
    return None if moved else "this machine's counters do not count, as on some emulators"


def perf_event_open(event: Event, thread: int, flags: int) -> int:
    """Make the system call; return a descriptor to read.

    Args:
        thread: thread id; 0 for the calling thread.

    Raises:
        OSError: the kernel's error; ENOSYS also if the system call does not exist.
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
    """Explain the kernel's refusal, with a remedy."""
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

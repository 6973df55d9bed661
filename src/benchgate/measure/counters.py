"""Counts instructions and other events: with the kernel's counters, or under valgrind.

Of a program, cachegrind counts everything, from the first instruction to the end. Of a function,
callgrind counts what lies between two marks in its worker: see `_worker/process_state.py`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import random
import re
import shutil
import struct
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from benchgate.measure.memory_layout import draw_layouts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from benchgate.measure.memory_layout import Layout
    from benchgate.measure.worker import Worker


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


def find_obstacle(event: Event) -> str | None:
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


LEAST_SLOWDOWN: Final = 50
SLOWDOWN: Final = f"{LEAST_SLOWDOWN} to 100 times slower"
LIMIT_S: Final = 30.0
"""Time limit for counting one benchmark on one side, unless its `timeout` is shorter."""
HOW_TO_INSTALL: Final = "apt-get install valgrind, or your system's package of that name"

_COMMON = ("--quiet", "--vgdb=no", "--trace-children=yes", "--child-silent-after-fork=yes")
_MARK = "ctermid"
_TOTAL = re.compile(rb"^(?:totals|summary): (\d+)$", re.MULTILINE)
_END_BYTES = 4096
_TRIAL_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Valgrind:
    """Valgrind as it counts in a session.

    Attributes:
        program: path of valgrind.
        wants: tells whether a benchmark is counted, by its id.
    """

    program: str
    wants: Callable[[str], bool]

    def under_cachegrind(self, folder: Path) -> tuple[str, ...]:
        """The beginning of a command whose processes leave their counts in a folder."""
        out = f"--cachegrind-out-file={_literal(folder)}/%p"
        return (self.program, "--tool=cachegrind", "--cache-sim=no", out, *_COMMON)

    def under_callgrind(self, folder: Path) -> tuple[str, ...]:
        """The same for a worker, which leaves a count in the folder at each mark."""
        out = f"--callgrind-out-file={_literal(folder)}/%p"
        at_marks = f"--dump-before={_MARK}"
        return (self.program, "--tool=callgrind", out, at_marks, "--dump-line=no", *_COMMON)


def find_valgrind(environ: Mapping[str, str]) -> str:
    """Find valgrind in the PATH, and let it count a small program.

    Raises:
        CounterError: it is not installed, or does not work here.
    """
    program = shutil.which("valgrind", path=environ.get("PATH", os.defpath))
    if program is None:
        raise CounterError(f"valgrind is not installed: {HOW_TO_INSTALL}")
    command = [program, "--tool=cachegrind", "--cachegrind-out-file=/dev/null", *_COMMON, "true"]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, env=environ, timeout=_TRIAL_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CounterError(f"valgrind does not work here: {error}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise CounterError(f"valgrind does not work here: {said or f'code {done.returncode}'}")
    return program


def version_of(program: str) -> str:
    """The version of a valgrind that works, such as "3.19.0"."""
    done = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    return done.stdout.strip().removeprefix("valgrind-")


def layout_of_round(round_index: int) -> Layout:
    """The layout in which a round is counted: the same in both arms, and in every session."""
    return draw_layouts(random.Random(round_index), 1)[0]  # noqa: S311 - repeatable on purpose


def count_of_program(folder: Path) -> int:
    """Add up the counts of all processes of a program."""
    files = list(folder.iterdir())
    if not files:
        raise CounterError("valgrind left no count: the program was killed, or has other rights")
    return _sum_of(files)


def count_between_marks(files: Iterable[Path], pid: int) -> int:
    """Add up the counts that were left at two marks, and by processes that ended between them.

    The first mark's own count is of what was before. If others call the marked function, too,
    there are more counts, and together they are of what lies between the marks.

    Args:
        pid: process id of the worker.
    """
    found = set(files)
    own = {int(f.suffix[1:]): f for f in found if f.stem == str(pid) and f.suffix[1:].isdigit()}
    if len(own) < 2:
        raise CounterError(f"valgrind does not see that this Python calls {_MARK}")
    return _sum_of(found - {own[min(own)]})


def _sum_of(files: Iterable[Path]) -> int:
    return sum(map(_read, files))


def _read(file: Path) -> int:
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - _END_BYTES))
        totals = _TOTAL.findall(opened.read())
    if not totals:
        raise CounterError("a count of valgrind was not written to its end")
    return int(totals[-1])


def _literal(folder: Path) -> str:
    return str(folder).replace("%", "%%")

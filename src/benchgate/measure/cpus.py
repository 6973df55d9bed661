"""Finds usable and idle CPUs, how busy other programs keep them, and where benchgate runs."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


# Of a CPU's line in /proc/stat: user nice system idle iowait irq softirq steal, see proc(5).
# Guest time, which follows, is already part of user time.
_BUSY_FIELDS = (0, 1, 2, 5, 6, 7)


@dataclass(frozen=True, slots=True)
class Pinning:
    """Whether processes can be bound to CPUs here; true in a condition if they can.

    Attributes:
        reason: why not, as a text after "not pinned: "; "" if it is supported.
    """

    supported: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.supported


def supports_pinning() -> Pinning:
    """Find out whether this OS binds processes to CPUs, by a trial that changes nothing."""
    if sys.platform != "linux":
        return Pinning(supported=False, reason=f"{sys.platform} does not bind processes to CPUs")
    try:
        os.sched_setaffinity(0, os.sched_getaffinity(0))
    except OSError as error:
        return Pinning(supported=False, reason=f"the OS refused: {error.strerror}")
    return Pinning(supported=True)


def available_cpus() -> frozenset[int]:
    """The CPUs that this thread may use now; inside `kept_off` one fewer."""
    if sys.platform != "linux":
        return frozenset(range(os.cpu_count() or 1))
    return frozenset(os.sched_getaffinity(0))


def read_busy_ticks(path: Path = Path("/proc/stat")) -> dict[int, int]:
    """Clock ticks since boot during which each CPU was not idle; empty if unknown."""
    try:
        return parse_busy_ticks(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        return {}


def parse_busy_ticks(text: str) -> dict[int, int]:
    """Busy ticks by CPU from the text of /proc/stat."""
    ticks = {}
    for line in text.splitlines():
        name, *values = line.split()
        if name.startswith("cpu") and name[3:].isdigit():
            ticks[int(name[3:])] = sum(int(values[field]) for field in _BUSY_FIELDS)
    return ticks


def by_idleness(
    before: Mapping[int, int], after: Mapping[int, int], allowed: frozenset[int]
) -> list[int]:
    """Sort CPUs by how idle they were between two readings of `read_busy_ticks`, idlest first.

    Of equal ones the highest number comes first, because interrupts use low ones. CPUs without a
    reading come last.

    Args:
        before: busy ticks by CPU.
        after: the same, later.
        allowed: not empty.
    """
    known = allowed & before.keys() & after.keys()
    return sorted(
        allowed, key=lambda cpu: (cpu not in known, after.get(cpu, 0) - before.get(cpu, 0), -cpu)
    )


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


# Of /proc/PID/stat, after the name: utime stime cutime cstime, see proc(5).
_CPU_TIMES = slice(11, 15)


@dataclass(frozen=True, slots=True)
class CpuUse:
    """The CPU time that was used up to a moment.

    Attributes:
        at_s: the moment, by a clock that never goes backwards.
        all_s: of all programs, on the CPUs that benchmarks may use.
        own_s: of this process and those that it started.
    """

    at_s: float
    all_s: float
    own_s: float

    @classmethod
    def read(cls, cpus: frozenset[int]) -> Self | None:
        """Read the CPU time up to now; None if the OS does not tell."""
        ticks = read_busy_ticks()
        if not cpus or not cpus & ticks.keys():
            return None
        tick_s = 1 / os.sysconf("SC_CLK_TCK")
        all_s = sum(count for cpu, count in ticks.items() if cpu in cpus) * tick_s
        alive_s = sum(_ticks_of(pid) for pid in _children(os.getpid())) * tick_s
        return cls(time.monotonic(), all_s, sum(os.times()[:4]) + alive_s)

    def elsewhere_since(self, before: CpuUse) -> float | None:
        """How many CPUs other programs kept busy on average; None if no time has passed."""
        passed_s = self.at_s - before.at_s
        others_s = (self.all_s - before.all_s) - (self.own_s - before.own_s)
        return max(0.0, others_s / passed_s) if passed_s > 0 else None


def _children(pid: int) -> Iterator[int]:
    """All living descendants of a process; none where the kernel does not list them."""
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text(encoding="ascii").split()):
                yield child
                yield from _children(child)


def _ticks_of(pid: int) -> int:
    """Clock ticks of a process and of its children that have ended."""
    with suppress(OSError):
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return sum(map(int, text.rpartition(")")[2].split()[_CPU_TIMES]))
    return 0

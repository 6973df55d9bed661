"""Measures parts of a round at the same time, each in a lane: on a CPU of its own, if there is one.

A lane is a thread of benchgate and the workers that it gives turns to, all bound to one CPU. So
handing over a turn wakes no other CPU, and what one lane measures competes with another lane only
for what CPUs share: memory and its caches.
"""

from __future__ import annotations

import math
import resource
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Self, TypeAlias

from benchgate.errors import UsageError
from benchgate.measure.machine import can_bind_to, moved_to
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from benchgate.measure.engine import Observation, Task


if TYPE_CHECKING:
    Timed: TypeAlias = tuple[Observation, float]
    # A benchmark that begins; what was measured; the end of a lane, and what ended it too early.
    _Report: TypeAlias = str | Timed | BaseException | None


class Lanes:
    """Runs tasks in as many lanes as there are.

    Args:
        cpus: one for each lane; tasks that run alone use the first. None: any CPU.
        clock: seconds, never going backwards; is read by several threads.
    """

    def __init__(self, cpus: Sequence[int | None], clock: Callable[[], float]) -> None:
        self._cpus = cpus
        self._clock = clock

    def measure(
        self, tasks: Sequence[Task], starting: Callable[[str], None], lanes: int
    ) -> Generator[Timed]:
        """Run tasks; close the iterator if it is not used up, which ends them.

        Args:
            starting: called with the id of each benchmark before it is measured.
            lanes: how many tasks may run at the same time. Those that must run alone run last.

        Yields:
            What a task has yielded, and the part of the round's time in seconds that it cost: of
            lanes that ran at the same time, each counts its share.
        """
        shared = [task for task in tasks if task.halt]
        alone = [task for task in tasks if not task.halt]
        lanes = min(lanes, len(self._cpus), len(shared))
        if lanes > 1:
            with _Crew(shared, self._cpus[:lanes], self._clock) as crew:
                for report in crew.reports():
                    if isinstance(report, str):
                        starting(report)
                    else:
                        yield report
            shared = crew.left()
        for task in (*shared, *alone):
            yield from _timed(task, self._cpus[0], starting, self._clock)


class _Crew:
    """The threads of some lanes, in a `with` block, at whose end all of them have ended."""

    def __init__(
        self, tasks: Sequence[Task], cpus: Sequence[int | None], clock: Callable[[], float]
    ) -> None:
        self._tasks = tasks
        self._clock = clock
        self._waiting: SimpleQueue[Task] = SimpleQueue()
        self._reports: SimpleQueue[_Report] = SimpleQueue()
        self._is_over = False
        self._working = 0
        self._threads = [
            Thread(target=self._work, args=(number, cpu), name=f"lane {number}", daemon=True)
            for number, cpu in enumerate(cpus)
        ]
        for task in tasks:
            self._waiting.put(task)

    def __enter__(self) -> Self:
        for number, thread in enumerate(self._threads):
            try:
                thread.start()
            except RuntimeError:  # the system allows no more of them; those that run do the work
                del self._threads[number:]
                break
        self._working = len(self._threads)
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        # A thread that has reported its end may live a moment longer; to halt then would end the
        # workers of later rounds.
        for task in self._tasks:
            if task.halt and self._working:
                task.halt()
        for thread in self._threads:
            if thread.ident:  # it was started
                thread.join()

    def reports(self) -> Iterator[str | Timed]:
        """Wait for what the lanes report, until all of them have ended."""
        while self._working:
            report = self._next()
            if isinstance(report, str | tuple):
                yield report
                continue
            self._working -= 1
            if report:
                raise report

    def _next(self) -> _Report:
        """Wait for a report.

        Raises:
            MemoryError: all lanes have ended, and the last one could not even say why.
        """
        while True:
            is_living = any(thread.is_alive() for thread in self._threads)
            with suppress(Empty):
                return self._reports.get(timeout=_LOOK_S if is_living else 0)
            if not is_living:
                raise MemoryError

    def left(self) -> list[Task]:
        """The tasks that no lane has begun, because it lost its CPU or could not start."""
        found = []
        with suppress(Empty):
            while True:
                found.append(self._waiting.get_nowait())
        return found

    def _work(self, number: int, cpu: int | None) -> None:
        """Run what is waiting, in a thread of its own."""
        error: BaseException | None = None
        try:
            with suppress(Empty):
                while not self._is_over and can_bind_to(cpu):
                    self._run(self._waiting.get_nowait(), number, cpu)
        except BaseException as caught:  # noqa: BLE001 - raised again in the main thread
            error = caught
        self._reports.put(error)

    def _run(self, task: Task, number: int, cpu: int | None) -> None:
        with moved_to(cpu):
            for observation, took_s in _timed(task, cpu, self._reports.put, self._clock):
                if self._is_over:
                    return
                placed = replace(observation, lane=number)
                self._reports.put((placed, took_s / len(self._threads)))


def _timed(
    task: Task, cpu: int | None, starting: Callable[[str], None], clock: Callable[[], float]
) -> Iterator[Timed]:
    """Run a task; add to each observation how long it took, in seconds."""
    started_s = clock()
    for observation in task.run(cpu, starting):
        now_s = clock()
        yield observation, max(0.0, now_s - started_s - observation.once_s)
        started_s = now_s


_LOOK_S = 1.0
_LEAST_ADDRESS_BYTES = 384 << 20


def require_address_space() -> None:
    """Refuse a limit on address space within which libraries wait forever for their threads."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < _LEAST_ADDRESS_BYTES:
        raise UsageError(
            f"this process may use {limit >> 20} MiB of address space, and benchgate needs at "
            f"least {_LEAST_ADDRESS_BYTES >> 20} MiB",
            hint="Raise the limit (`ulimit -v`), and try again.",
        )


_ROOT = Path("/")
# A file of cgroup v1 reports "no limit" as a number of bytes close to 2**63.
_NO_LIMIT_BYTES = 2**60


@dataclass(frozen=True, slots=True)
class Room:
    """What this process may use, read below a folder that stands for `/`.

    Attributes:
        cores: the CPUs of each physical core, of those that the process may use.
        quota_cpus: CPU time per time that its control groups grant it; infinite without a quota.
    """

    cores: tuple[frozenset[int], ...]
    quota_cpus: float = math.inf

    @classmethod
    def read(cls, cpus: Iterable[int], root: Path = _ROOT) -> Self:
        """Read the topology and the quota; if the OS does not tell, each CPU is a core."""
        allowed = frozenset(cpus)
        cores = {_siblings(cpu, root) & allowed or frozenset({cpu}) for cpu in allowed}
        return cls(tuple(sorted(cores, key=sorted)), _quota_cpus(root))

    @property
    def lanes(self) -> int:
        """How many lanes have a core of their own; at least one."""
        return max(1, min(len(self.cores), math.floor(min(self.quota_cpus, len(self.cores)))))

    @property
    def limit(self) -> str:
        """What limits the lanes, for a reader."""
        if self.quota_cpus < len(self.cores):
            return f"the quota of this process is {self.quota_cpus:.3g} CPUs"
        return f"this process may use {counted(len(self.cores), 'physical core')}"

    def lane_cpus(self, idlest: Sequence[int], lanes: int) -> tuple[int, ...]:
        """Choose a CPU for each lane, of different cores as long as there are any.

        Args:
            idlest: all CPUs that may be used, the best first.
            lanes: how many to choose, if there are as many CPUs.
        """
        firsts: list[int] = []
        taken: set[int] = set()
        for cpu in idlest:
            if cpu not in taken:
                firsts.append(cpu)
                taken.update(*(core for core in self.cores if cpu in core))
        seconds = [cpu for cpu in idlest if cpu not in firsts]
        return (*firsts, *seconds)[:lanes]


def free_memory_bytes(root: Path = _ROOT) -> int | None:
    """How much memory this process can still use; None if the OS does not tell."""
    found = [_kibibytes(root / "proc/meminfo", "MemAvailable")]
    for folder in _control_groups("memory", root):
        limit = _number(folder / "memory.max") or _number(folder / "memory.limit_in_bytes")
        used = _number(folder / "memory.current") or _number(folder / "memory.usage_in_bytes")
        if limit is not None and used is not None and limit < _NO_LIMIT_BYTES:
            found.append(max(0, limit - used))
    return min((each for each in found if each is not None), default=None)


def peak_memory_bytes(pid: int, root: Path = _ROOT) -> int:
    """The most memory that a living process has used; 0 if the OS does not tell."""
    return _kibibytes(root / f"proc/{pid}/status", "VmHWM") or 0


def _siblings(cpu: int, root: Path) -> frozenset[int]:
    """The CPUs of the same physical core; empty if unknown."""
    path = root / f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
    try:
        return parse_cpu_list(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return frozenset()


def parse_cpu_list(text: str) -> frozenset[int]:
    """CPUs in the kernel's notation: "0-3,8".

    Raises:
        ValueError: it is in another notation.
    """
    cpus: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


def _quota_cpus(root: Path) -> float:
    found = [math.inf]
    for folder in _control_groups("cpu", root):
        quota, _, period = _text(folder / "cpu.max").partition(" ")
        if not quota:
            quota = _text(folder / "cpu.cfs_quota_us")
            period = _text(folder / "cpu.cfs_period_us")
        if quota.isdigit() and period.isdigit() and int(period):
            found.append(int(quota) / int(period))
    return min(found)


def _control_groups(controller: str, root: Path) -> Iterator[Path]:
    """The folders of the control groups of this process, of version 2 or 1, from inner to outer."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        top = root / "sys/fs/cgroup" / (controller if controllers else "")
        # Inside of a container, the path may be that of the machine, which is not visible here.
        inner = top / path.strip("/")
        for folder in (inner, *inner.parents):
            yield folder
            if folder == top:
                break


def _kibibytes(path: Path, key: str) -> int | None:
    """A value in bytes from a file such as /proc/meminfo."""
    for line in _text(path).splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return int(value.split()[0]) * 1024
    return None


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""

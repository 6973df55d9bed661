"""What this process may use of the machine: cores, the quota of its control groups, and memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from benchgate.measure.machine.os_files import read_os_file
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


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
        quota, _, period = read_os_file(folder / "cpu.max").partition(" ")
        if not quota:
            quota = read_os_file(folder / "cpu.cfs_quota_us")
            period = read_os_file(folder / "cpu.cfs_period_us")
        if quota.isdigit() and period.isdigit() and int(period):
            found.append(int(quota) / int(period))
    return min(found)


def _control_groups(controller: str, root: Path) -> Iterator[Path]:
    """The folders of the control groups of this process, of version 2 or 1, from inner to outer."""
    for line in read_os_file(root / "proc/self/cgroup").splitlines():
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
    for line in read_os_file(path).splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return int(value.split()[0]) * 1024
    return None


def _number(path: Path) -> int | None:
    text = read_os_file(path)
    return int(text) if text.isdigit() else None

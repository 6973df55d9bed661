"""Finds out how busy other programs keep the CPUs while benchgate measures."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from benchgate.measure.affinity import read_busy_ticks

if TYPE_CHECKING:
    from collections.abc import Iterator

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

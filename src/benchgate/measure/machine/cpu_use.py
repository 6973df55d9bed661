"""How busy the CPUs are, and how much of them other virtual machines take."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import psutil

if TYPE_CHECKING:
    from collections.abc import Mapping


# Of a CPU's line in /proc/stat: user nice system idle iowait irq softirq steal, see proc(5).
# Guest time, which follows, is already part of user time.
_BUSY_FIELDS = (0, 1, 2, 5, 6, 7)


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
        own_s = sum(os.times()[:4])
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):  # it has ended
                used = process.cpu_times()
                own_s += used.user + used.system + used.children_user + used.children_system
        return cls(time.monotonic(), all_s, own_s)

    def elsewhere_since(self, before: CpuUse) -> float | None:
        """How many CPUs other programs kept busy on average; None if no time has passed."""
        passed_s = self.at_s - before.at_s
        others_s = (self.all_s - before.all_s) - (self.own_s - before.own_s)
        return max(0.0, others_s / passed_s) if passed_s > 0 else None


# The first line of /proc/stat: user nice system idle iowait irq softirq steal, see proc(5).
_FIELDS = 8
_STEAL = 7


@dataclass(frozen=True, slots=True)
class CpuTicks:
    """Clock ticks of all CPUs since the start of the machine."""

    stolen: int
    total: int

    @classmethod
    def read(cls, path: Path = Path("/proc/stat")) -> Self | None:
        """Read the ticks; None if the OS does not report them."""
        try:
            text = path.read_text(encoding="ascii")
        except OSError:
            return None
        words = text.partition("\n")[0].split()
        if words[:1] != ["cpu"] or len(words) <= _FIELDS:
            return None
        ticks = [int(word) for word in words[1 : _FIELDS + 1]]
        return cls(ticks[_STEAL], sum(ticks))

    def share_since(self, before: CpuTicks) -> float | None:
        """Return the share of stolen time since an earlier reading; None if no time passed."""
        total = self.total - before.total
        return (self.stolen - before.stolen) / total if total > 0 else None

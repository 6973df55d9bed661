"""CPU time that the hypervisor gave to other guests while this machine wanted it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

# Of the first line of /proc/stat: user nice system idle iowait irq softirq steal, see proc(5).
_FIELDS = 8
_STEAL = 7


@dataclass(frozen=True, slots=True)
class CpuTicks:
    """Clock ticks of all CPUs since the start of the machine."""

    stolen: int
    total: int

    @classmethod
    def read(cls, path: Path = Path("/proc/stat")) -> Self | None:
        """Read them; None if the OS does not tell."""
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
        """Give the share that was stolen since an earlier reading; None if no time passed."""
        total = self.total - before.total
        return (self.stolen - before.stolen) / total if total > 0 else None

"""Where benchmarks run: which CPUs, and in how many lanes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from benchgate.measure.machine.cpu_use import by_idleness, read_busy_ticks
from benchgate.measure.machine.cpus import available_cpus, why_unpinned
from benchgate.measure.machine.limits import Room
from benchgate.units import counted

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.config import Config


_LOOK_AT_CPUS_S = 0.1


@dataclass(frozen=True, slots=True)
class Place:
    """Where benchmarks run: the checkout to keep out of imports, and the CPUs.

    Attributes:
        checkout: the user's tree, which no arm may import from; None if it is itself measured.
        cpus: all that this process may use, if none of them is reserved.
        cpu: the CPU that lockstep pairs share; None if pinning is unsupported or turned off.
        unpinned: why there is no pinning, for a note.
        lane_cpus: the CPUs of the lanes, `cpu` first.
        limit: what limits the number of lanes, for a reader.
        suite_cpu: the CPU of suites that say `pin = true`; None if pinning is unsupported.
    """

    checkout: Path | None
    cpus: frozenset[int]
    cpu: int | None
    unpinned: str
    lane_cpus: tuple[int | None, ...] = (None,)
    limit: str = ""
    suite_cpu: int | None = None

    def why_fewer_lanes(self, wanted: int | Literal["auto"]) -> str:
        """Say why there are fewer lanes than the user wants; "" if there are as many."""
        lanes = len(self.lane_cpus)
        if wanted == "auto" or wanted <= lanes:
            return ""
        may = f"this process may use {counted(len(self.cpus), 'CPU')}"
        return f"measuring {lanes} at a time instead of {wanted}: {self.unpinned or may}"


def choose_place(config: Config, checkout: Path | None) -> Place:
    """Pick the idlest CPU; without `pin` in [measure] only for suites that say `pin = true`."""
    cpus = available_cpus()
    if impossible := why_unpinned():
        return Place(checkout, cpus, None, impossible)
    before = read_busy_ticks()
    time.sleep(_LOOK_AT_CPUS_S)
    idlest = by_idleness(before, read_busy_ticks(), cpus)
    if not config.measure.pin:
        off = "not pinned: pin = false in [measure]"
        return Place(checkout, cpus, None, off, suite_cpu=idlest[0])
    room = Room.read(cpus)
    wanted = config.measure.lanes
    lane_cpus = room.lane_cpus(idlest, room.lanes if wanted == "auto" else wanted)
    limit = room.limit if wanted == "auto" else f"lanes = {wanted} in [measure]"
    return Place(checkout, cpus, idlest[0], "", lane_cpus, limit, suite_cpu=idlest[0])

"""A benchmark function of one or both arms, and how it runs there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.measure.benchfiles import BenchFile
    from benchgate.measure.engine import ArmName


@dataclass(frozen=True, slots=True)
class ArmEntry:
    """A benchmark in one arm: its file, its name in the file, and the settings there.

    Attributes:
        timeout_s: limit for one launch.
    """

    file: BenchFile
    name: str
    parallel: bool
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Entry:
    """A benchmark in each arm that has it.

    Attributes:
        lead: the arm that decides how it runs, if both have it.
    """

    sides: Mapping[ArmName, ArmEntry]
    lead: ArmName

    @property
    def parallel(self) -> bool:
        """Whether it is never pinned."""
        return self._leading.parallel

    @property
    def isolate(self) -> bool:
        """Whether it gets its own processes."""
        return self._leading.file.benchmark.isolate

    @property
    def allow_foreign(self) -> bool:
        """Whether it may measure installed code that is the same in both arms."""
        return self._leading.file.benchmark.allow_foreign

    @property
    def timeout_s(self) -> float:
        """The longer timeout, so that neither arm can make the other fail."""
        return max(side.timeout_s for side in self.sides.values())

    @property
    def _leading(self) -> ArmEntry:
        return self.sides.get(self.lead) or next(iter(self.sides.values()))

    def place_in(self, arms: Iterable[ArmName]) -> tuple[tuple[str, str], ...]:
        """Return its file in each arm; if one arm lacks it, use the same file as the other."""
        own = {arm: (side.file.path, side.file.group) for arm, side in self.sides.items()}
        known = next(iter(own.values()))
        return tuple(own.get(arm, known) for arm in arms)

    def joined(self, other: Entry) -> Entry:
        """Join the entries of two arms into one."""
        return replace(self, sides={**self.sides, **other.sides})

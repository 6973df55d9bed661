"""A printed table or example, and what the package finds for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.section import BrokenError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COLUMNS = ("statistic", "printed in", "printed", "found")

_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Published:
    """Numbers as they were printed, and how the package finds them.

    Attributes:
        printed: each with its printed decimals, which say how close the package must come.
    """

    statistic: str
    source: str
    printed: tuple[str, ...]
    find: Callable[[], Sequence[float | None]]

    def cells(self) -> tuple[str, ...]:
        """Compare each number; raise BrokenError if one differs in its last digit."""
        found = self.find()
        if len(found) != len(self.printed):
            raise BrokenError(f"{self.statistic}: {len(found)} numbers, not {len(self.printed)}")
        for text, value in zip(self.printed, found, strict=True):
            decimals = len(text.partition(".")[2])
            if value is None or not abs(value - float(text)) <= 0.5001 * 10.0**-decimals:
                raise BrokenError(f"{self.statistic}: {value!r}; {self.source} prints {text}")
        count = len(self.printed)
        shown = ", ".join(self.printed[:_SHOWN])
        printed = shown if count <= _SHOWN else f"{shown}, ... ({count} numbers)"
        return self.statistic, self.source, printed, "the same"

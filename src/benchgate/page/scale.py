"""Numbers of an axis: in a unit that suits them, with five digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.report.escape import plain_line
from benchgate.units import TIME_UNITS, axis_scale

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Scale:
    """The unit of an axis.

    Attributes:
        size: of one step, in base units.
        name: "ms"; "" for plain counts.
    """

    size: float
    name: str

    def values(self, numbers: Iterable[float]) -> tuple[float, ...]:
        """Numbers in base units as numbers of the axis."""
        return tuple(map(self.value, numbers))

    def value(self, number: float) -> float:
        """One of them."""
        return float(f"{number / self.size:.5g}")


def scale_of(largest: float, unit: str, display_unit: str | None = None) -> Scale:
    """The unit for values of about this size; percentages for an error rate, which has "%"."""
    if unit == "%":
        return Scale(0.01, "%")
    known = display_unit if display_unit in TIME_UNITS else None
    return Scale(*axis_scale(largest, plain_line(unit), known))

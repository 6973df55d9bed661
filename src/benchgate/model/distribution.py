"""How the values of a series are distributed, ready to be drawn: plain numbers for each column."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Shape(StrEnum):
    """What is drawn: the share of values up to a value, or the share in each bin."""

    ECDF = "ecdf"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Axis:
    """The range of values from left to right.

    Attributes:
        low, high: in the metric's unit; low < high.
        log: equal distances are equal ratios; low is then positive.
    """

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True, slots=True)
class Curve:
    """The values of one arm.

    Attributes:
        arm: "base" or "head".
        values: how many there are, in all launches together.
        shares: one fraction of the values for each column of the drawing, from left to right: those
            up to the column's right end, or those in the bin that the column belongs to.
    """

    arm: str
    launches: int
    values: int
    shares: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """One metric of one benchmark, on one axis for all arms.

    Attributes:
        what: the values, in the plural: "samples", "operations".
        curves: one for each arm that has values, the base first.
        below, above: how many values of all arms lie outside of the axis.
        display_unit: the unit in which its author wants times shown.
    """

    benchmark: str
    metric: str
    unit: str
    what: str
    shape: Shape
    axis: Axis
    curves: tuple[Curve, ...]
    below: int = 0
    above: int = 0
    display_unit: str | None = None

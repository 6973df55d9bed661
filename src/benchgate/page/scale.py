"""The scale of the overview, on which changes are drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.model.row import Row


@dataclass(frozen=True, slots=True)
class ChangeScale:
    """The scale of the drawings of all rows: changes in percent, from left to right.

    Attributes:
        low, high: its ends, which are ticks.
        step: from one tick to the next.
    """

    WIDTH: ClassVar[int] = 220
    HEIGHT: ClassVar[int] = 20
    EDGE: ClassVar[int] = 18
    low: float
    high: float
    step: float

    def x(self, percent: float) -> float:
        """Where a change is, in pixels; at an end if it is beyond."""
        share = (percent - self.low) / (self.high - self.low)
        return round(self.EDGE + min(max(share, 0), 1) * (self.WIDTH - 2 * self.EDGE), 1)

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Where the round numbers are, and how they are written."""
        every = range(round(self.low / self.step), round(self.high / self.step) + 1)
        return tuple((self.x(k * self.step), f"{k * self.step:+g}" if k else "0 %") for k in every)

    def margin(self, row: Row) -> str:
        """The `d` of an SVG path: the margin on both sides of no change."""
        left, right = (self.x(sign * 100 * (row.margin or 0)) for sign in (-1, 1))
        return f"M{left:g} 0H{right:g}V{self.HEIGHT}H{left:g}z"

    def draw(self, row: Row) -> str:
        """The `d` of an SVG path: the interval, its ends or arrows, and the change as a dot."""
        found = _percents(row)
        if found is None:
            return ""
        low, estimate, high = found
        left, right, middle = self.x(low), self.x(high), self.HEIGHT // 2
        if left == right:  # at an end: an arrow needs a line
            left, right = max(left - 8, self.EDGE), min(right + 8, self.WIDTH - self.EDGE)
        parts = [f"M{left:g} {middle}H{right:g}"]
        parts += (f"M{self.x(end):g} 6v8" for end in (low, high) if self.low <= end <= self.high)
        if low < self.low:
            parts.append(f"M{left + 5:g} 6l-5 4l5 4")
        if high > self.high:
            parts.append(f"M{right - 5:g} 6l5 4l-5 4")
        if self.low <= estimate <= self.high:
            parts.append(f"M{self.x(estimate) - 4:g} {middle}a4 4 0 0 1 8 0a4 4 0 0 1 -8 0")
        return "".join(parts)


_MOST_TICKS: Final = 5
# With a longer scale the margin could not be seen.
_MOST_MARGINS: Final = 60
_MOST_ROWS: Final = 0.85
_USUAL_MARGIN: Final = 0.02


def _percents(row: Row) -> tuple[float, float, float] | None:
    """The change between the ends of its interval, in percent; None if it is not known."""
    if row.ratio is None:
        return None
    low, high = row.interval or (row.ratio, row.ratio)
    low, middle, high = (100 * (one - 1) for one in (low, row.ratio, high))
    if math.isnan(low + high) or not math.isfinite(middle):
        return None
    return low, middle, high


def overview_scale(rows: Iterable[Row]) -> ChangeScale:
    """A scale that shows all changes, or if some are far away, those of most rows."""
    known = [(row, found) for row in rows if (found := _percents(row))]
    margins = sorted(100 * row.margin for row, _ in known if row.margin)
    margin = margins[len(margins) // 2] if margins else 100 * _USUAL_MARGIN

    def reach(ends: Iterable[float]) -> float:
        ordered = sorted((0.0, *filter(math.isfinite, ends)))
        most = max(ordered[int(_MOST_ROWS * (len(ordered) - 1))], _MOST_MARGINS * margin)
        return max(min(ordered[-1], most), 2 * margin)

    low, high = reach(-one[0] for _, one in known), reach(one[2] for _, one in known)
    least = (low + high) / _MOST_TICKS
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= least)
    return ChangeScale(-math.ceil(low / step) * step, math.ceil(high / step) * step, step)

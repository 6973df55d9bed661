"""Draws the interval of a change against the margin, in characters that are equally wide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from benchgate.model.verdict import Row

_HALF: Final = 7
# The margin is this many characters from the middle; each doubling beyond it takes this many more.
_MARGIN: Final = 2
_DOUBLING: Final = 1.25
_BEYOND: Final = 1.1

LEGEND: Final = (
    "In the drawing, : is no change, | is the margin on either side, O is the change, and = is its "
    "interval. Right is more, left is less. < and > stand for what is beyond the scale: "
    "outside of the margin it is logarithmic, and its ends are 16 margins from the middle."
)


def draw_interval(row: Row) -> str:
    """The change and its interval against the margin: ".....|.:.|.=O=."; "" if one is missing."""
    ratio, interval, margin = row.ratio, row.interval, row.margin
    if ratio is None or interval is None or not margin:
        return ""
    places = [_place(each, margin) for each in (interval[0], ratio, interval[1])]
    if None in places:
        return ""
    low, estimate, high = (place for place in places if place is not None)
    cells = dict.fromkeys(range(max(low, -_HALF), min(high, _HALF) + 1), "=")
    if abs(estimate) <= _HALF:
        cells[estimate] = "O"
    marks = {0: ":", -_MARGIN: "|", _MARGIN: "|"}
    # The margin must stay visible, unless the change itself is there.
    shown = cells | {place: mark for place, mark in marks.items() if cells.get(place) != "O"}
    if low < -_HALF:
        shown[-_HALF] = "<"
    if high > _HALF:
        shown[_HALF] = ">"
    return "".join(shown.get(place, ".") for place in range(-_HALF, _HALF + 1))


def _place(ratio: float, margin: float) -> int | None:
    """Characters from the middle, at most one beyond the end; None if that is unknown."""
    if math.isnan(ratio) or ratio < 0:
        return None
    place = round(min(_distance(ratio, margin), _HALF + 1))
    return place if ratio > 1 else -place


def _distance(ratio: float, margin: float) -> float:
    """Characters from the middle, whatever the direction."""
    margins = abs(ratio - 1) / margin
    outside = _DOUBLING * math.log2(margins) if margins > 1 else 0.0
    return _MARGIN * min(margins, 1.0) + outside


MARGIN_PLACE: Final = _MARGIN / _HALF
"""Where the margin is, as in `Span`."""


@dataclass(frozen=True, slots=True)
class Span:
    """The same drawing for those who can draw lines: -1 and 1 are its ends, and 0 is no change."""

    low: float
    estimate: float
    high: float


def span(row: Row) -> Span | None:
    """Where the change and its interval are; places beyond the ends stay beyond. None as above."""
    ratio, interval, margin = row.ratio, row.interval, row.margin
    if not draw_interval(row) or ratio is None or interval is None or not margin:
        return None
    low, estimate, high = (
        math.copysign(min(_distance(each, margin) / _HALF, _BEYOND), each - 1)
        for each in (interval[0], ratio, interval[1])
    )
    return Span(low, estimate, high)

"""Draws intervals against the margin, and the course of values, in lines of characters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final, TypeGuard

from benchgate.escape import BLOCKS
from benchgate.model.run import Tier
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.model.verdict import Row


_HALF: Final = 7
# The margin is this many characters from the middle; each doubling beyond it takes this many more.
_MARGIN: Final = 2
_DOUBLING: Final = 1.25
_BEYOND: Final = 1.1

INTERVAL_LEGEND: Final = (
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


_MISSING: Final = " "
# Values that vary by less than this share of the largest one do not use the whole height: a change
# of the usual margin is then about two levels high, and noise hardly one.
_LEAST_RANGE_RATIO: Final = 0.08
# With a single earlier run, base and head say it all.
_LEAST_RUNS: Final = 2

COURSE_LEGEND: Final = (
    "The bars are the earlier runs on this machine, the oldest first. After the gap, they are the "
    "base and the head of this run, or only the head if the base is one of the earlier runs."
)


def draw_course(row: Row) -> str:
    """The earlier runs of a row, a gap, and this run: "▃▃▂▃▃ ▃█"; "" if too few are known."""
    here = tuple(_here(row).values())
    if len(row.recent) < _LEAST_RUNS or not all(map(_is_known, here)):
        return ""
    return sparkline((*row.recent, None, *here))


def course_title(row: Row) -> str:
    """What the drawing shows, from left to right: "9 earlier runs, base, head"."""
    return ", ".join((counted(len(row.recent), "earlier run"), *_here(row)))


def _here(row: Row) -> Mapping[str, float | None]:
    """The values of this run; a base that was stored is an earlier run already."""
    return {"head": row.head} if row.tier is Tier.STORED else {"base": row.base, "head": row.head}


def heights(values: Sequence[float | None], most: int | None = None) -> list[float | None]:
    """How high each value is drawn: from 0 for the smallest one to 1 for the largest one.

    Values that hardly vary stay in the middle, so that noise does not look like a change.

    Args:
        values: in order; None or a value that is not finite leaves a gap.
        most: how many are drawn; if there are more, medians of equal parts stand for them.
    """
    largest = max((abs(value) for value in values if _is_known(value)), default=0.0) or 1.0
    # Fractions of the largest value, whose differences cannot overflow.
    shown = [value / largest if _is_known(value) else None for value in values]
    if most is not None and len(shown) > most:
        edges = [round(index * len(shown) / most) for index in range(most + 1)]
        parts = ([one for one in shown[a:b] if one is not None] for a, b in pairwise(edges))
        shown = [median(part) if part else None for part in parts]
    known = [value for value in shown if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    spare = max(0.0, _LEAST_RANGE_RATIO - (high - low))
    span = high - low + spare
    return [None if value is None else (value - low + spare / 2) / span for value in shown]


def sparkline(
    values: Sequence[float | None], levels: str = BLOCKS, *, most: int | None = None
) -> str:
    """One character per value, or per part of them; see `heights`.

    Args:
        levels: characters from low to high; `ASCII` is for output that has no other characters.
    """
    return "".join(
        _MISSING if height is None else levels[round(height * (len(levels) - 1))]
        for height in heights(values, most)
    )


def _is_known(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)

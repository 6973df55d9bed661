"""Draws the intervals of all rows against the margin, on one scale, as parts of an SVG image.

The margin and the line of no change are the background of the image, in report.css.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from benchgate.report.drawing import Span

_HALF = 80
_EDGE = 8
_STUB = 8
_MIDDLE = 10
_DOT = 4


@dataclass(frozen=True, slots=True)
class Drawing:
    """The image of a row, in pixels.

    Attributes:
        path: the `d` of an SVG path: the interval, its ends or arrows, and the change as a dot.
    """

    WIDTH: ClassVar[int] = 2 * (_HALF + _EDGE)
    HEIGHT: ClassVar[int] = 2 * _MIDDLE
    path: str


def draw(span: Span | None) -> Drawing | None:
    """The drawing of a row."""
    if span is None:
        return None
    left, right = _x(span.low), _x(span.high)
    if left == right:  # at an edge: an arrow needs a line
        left, right = max(left - _STUB, _EDGE), min(right + _STUB, _EDGE + 2 * _HALF)
    parts = [f"M{left:g} {_MIDDLE}H{right:g}"]
    parts += (f"M{_x(end):g} 6v8" for end in (span.low, span.high) if abs(end) <= 1)
    if span.low < -1:
        parts.append(f"M{left + 5:g} 6l-5 4l5 4")
    if span.high > 1:
        parts.append(f"M{right - 5:g} 6l5 4l-5 4")
    if abs(span.estimate) <= 1:
        parts.append(f"M{_x(span.estimate) - _DOT:g} {_MIDDLE}{_half_turn(1)}{_half_turn(-1)}")
    return Drawing("".join(parts))


def _half_turn(direction: int) -> str:
    return f"a{_DOT} {_DOT} 0 0 1 {direction * 2 * _DOT} 0"


def _x(place: float) -> float:
    return round(_EDGE + _HALF * (1 + min(max(place, -1.0), 1.0)), 1)

"""Draws the intervals of all rows against the margin, on one scale, as parts of an SVG image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from benchgate.report.drawing import MARGIN_PLACE

if TYPE_CHECKING:
    from benchgate.report.drawing import Span

_HALF = 80
_EDGE = 8
_STUB = 8


@dataclass(frozen=True, slots=True)
class Drawing:
    """Places in an image that is `WIDTH` wide.

    Attributes:
        line: from where to where the interval is drawn.
        ends: where it ends within the image.
        arrows: whether it goes beyond the image on the left, and on the right.
        at: the change; None if it is beyond.
    """

    WIDTH: ClassVar[int] = 2 * (_HALF + _EDGE)
    MIDDLE: ClassVar[int] = _HALF + _EDGE
    MARGINS: ClassVar[tuple[float, float]] = (
        _HALF + _EDGE - MARGIN_PLACE * _HALF,
        _HALF + _EDGE + MARGIN_PLACE * _HALF,
    )
    line: tuple[float, float]
    ends: tuple[float, ...]
    arrows: tuple[bool, bool]
    at: float | None


def draw(span: Span | None) -> Drawing | None:
    """The drawing of a row."""
    if span is None:
        return None
    left, right = _x(span.low), _x(span.high)
    if left == right:  # at an edge: an arrow needs a line
        left, right = max(left - _STUB, _EDGE), min(right + _STUB, _EDGE + 2 * _HALF)
    return Drawing(
        (left, right),
        tuple(_x(end) for end in (span.low, span.high) if abs(end) <= 1),
        (span.low < -1, span.high > 1),
        _x(span.estimate) if abs(span.estimate) <= 1 else None,
    )


def _x(place: float) -> float:
    return round(_EDGE + _HALF * (1 + min(max(place, -1.0), 1.0)), 1)

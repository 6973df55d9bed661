"""Draws the course of values as a line of the height of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.report.history_view import course

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH: Final = 120
HEIGHT: Final = 24
_MOST_POINTS: Final = 60
_ROOM: Final = 3
# A course that varies by less than this share of its values is drawn as a flat line.
_LEAST_RANGE_RATIO: Final = 0.05


def spark(values: Sequence[float]) -> tuple[str, float, float]:
    """The `d` of an SVG path, and where its last point is.

    Args:
        values: finite, at least one.
    """
    largest = max(map(abs, values)) or 1.0
    # Fractions of the largest value, whose differences cannot overflow.
    shown = course([value / largest for value in values], _MOST_POINTS)
    low, high = min(shown), max(shown)
    spare = max(0.0, _LEAST_RANGE_RATIO - (high - low))
    low, span = low - spare / 2, high - low + spare
    step = (WIDTH - 2 * _ROOM) / max(1, len(shown) - 1)
    points = [
        (_ROOM + index * step, HEIGHT - _ROOM - (value - low) / span * (HEIGHT - 2 * _ROOM))
        for index, value in enumerate(shown)
    ]
    x, y = points[-1]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points), round(x, 1), round(y, 1)

"""The figure of the page, false alarms against power, as an SVG that needs no other files."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH, _HEIGHT = 940, 600
_LINE = 20
_LEFT, _TOP, _RIGHT, _BOTTOM = 70, 30, 400, 60
# Room between the end of the axes and the names, for marks at the end.
_GAP = 50
# Options are long, and the table has them.
_SHORT = {
    "--benchmark-timer=time.process_time ": "CPU time, ",
    "--benchmark-compare-fail=": "",
    "Mann-Whitney over all samples, and p95 ratio": "Mann-Whitney over samples, p95",
}
# Okabe and Ito's colors, which color-blind people can distinguish.
_OURS, _OTHERS = "#0072B2", "#D55E00"


@dataclass(frozen=True, slots=True)
class Point:
    """A rule: the share of clean builds that it fails, and of slower builds that it finds."""

    name: str
    false_alarms: float
    found: float
    is_ours: bool = False


def draw(points: Sequence[Point], title: str) -> str:
    """Draw the points, numbered, with a list of their names beside them."""
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
            f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">'
        ),
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        *_axes(),
        *(_mark(place, numbers) for place, numbers in _places(points).items()),
        *(_entry(number, point) for number, point in enumerate(points, start=1)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def _axes() -> list[str]:
    lines = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y, text = _x(tick), _y(tick), f"{tick:.0%}"
        lines += [
            (
                f'<path d="M{x:.1f} {_y(0):.1f}V{_y(1):.1f}M{_x(0):.1f} {y:.1f}H{_x(1):.1f}" '
                'stroke="#ddd" fill="none"/>'
            ),
            f'<text x="{x:.1f}" y="{_y(0) + 18:.1f}" text-anchor="middle">{text}</text>',
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>',
        ]
    middle = (_x(0) + _x(1)) / 2
    lines.append(
        f'<text x="{middle:.1f}" y="{_HEIGHT - 14}" text-anchor="middle">'
        "builds that fail although nothing changed</text>"
    )
    turned = f"translate(18 {(_y(0) + _y(1)) / 2:.1f}) rotate(-90)"
    lines.append(
        f'<text transform="{turned}" text-anchor="middle">'
        "changes of 3 % more work that are found</text>"
    )
    return lines


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in the figure, in whole pixels."""

    x: int
    y: int
    is_ours: bool


def _places(points: Sequence[Point]) -> dict[_Place, list[int]]:
    """The numbers of the points at each place: points that coincide share a mark."""
    places: dict[_Place, list[int]] = {}
    for number, point in enumerate(points, start=1):
        place = _Place(round(_x(point.false_alarms)), round(_y(point.found)), point.is_ours)
        places.setdefault(place, []).append(number)
    return places


def _mark(place: _Place, numbers: Sequence[int]) -> str:
    color = _OURS if place.is_ours else _OTHERS
    text = ", ".join(map(str, numbers))
    width = max(18, 7 * len(text) + 8)
    # A wide mark begins at its place, or ends there if it would run into the names.
    left = place.x - 9 if place.x < _x(0.9) else place.x + 9 - width
    return (
        f'<rect x="{left}" y="{place.y - 9}" width="{width}" height="18" rx="9" '
        f'fill="{color}" fill-opacity="0.85"/>'
        f'<text x="{left + width / 2}" y="{place.y + 4}" text-anchor="middle" '
        f'fill="white">{text}</text>'
    )


def _entry(number: int, point: Point) -> str:
    y = _TOP + _LINE * number - 8
    name = point.name
    for long, short in _SHORT.items():
        name = name.replace(long, short)
    color = _OURS if point.is_ours else _OTHERS
    weight = ' font-weight="bold"' if point.is_ours else ""
    return (
        f'<text x="{_WIDTH - _RIGHT + _GAP}" y="{y}" fill="{color}"{weight}>'
        f"{number} {escape(name)}</text>"
    )

"""Draws the changes as bars, in Mermaid, which GitHub shows as a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.report import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.model.verdict import Row

MOST_BARS: Final = 20
# One bar says no more than its number.
_LEAST_BARS: Final = 2
# A longer bar would leave nothing to see of the others.
_MOST_PERCENT: Final = 400.0
_ROOM: Final = 1.1
# Both colors are readable on white and on black. An old Mermaid ignores what it does not know.
_INIT: Final = (
    '%%{init: {"xyChart": {"width": 480, "height": 300}, '
    '"themeVariables": {"xyChart": {"plotColorPalette": "#4f8fd0, #d0782a"}}}}%%'
)

LEGEND: Final = (
    "Each bar is the head in percent of the base. The line is the base: what ends above it got "
    f"larger. No bar is longer than {_MOST_PERCENT:.0f} %."
)


@dataclass(frozen=True, slots=True)
class Chart:
    """The changes as bars.

    Attributes:
        source: in the language of Mermaid. It has only numbers, because no name can break those.
        key: the benchmark and the change of each bar, from the first one.
    """

    source: str
    key: tuple[tuple[str, str], ...]


def view_chart(rows: Iterable[Row]) -> Chart | None:
    """Draw the first rows that have a change; None if there are too few.

    Args:
        rows: each stands for a benchmark; in the order of the report.
    """
    known = [(row, row.ratio) for row in rows if _is_drawable(row.ratio)]
    bars = [(row, ratio) for row, ratio in known[:MOST_BARS] if ratio is not None]
    if len(bars) < _LEAST_BARS:
        return None
    percents = [min(100 * ratio, _MOST_PERCENT) for _, ratio in bars]
    top = _ROOM * max(100.0, *percents)
    numbers = (f'"{number}"' for number in range(1, len(bars) + 1))
    lines = (
        _INIT,
        "xychart-beta",
        f"    x-axis [{', '.join(numbers)}]",
        f"    y-axis 0 --> {top:.1f}",
        f"    bar [{', '.join(f'{percent:.1f}' for percent in percents)}]",
        f"    line [{', '.join(['100'] * len(bars))}]",
    )
    return Chart("\n".join(lines), tuple((words.name(row), words.change(row)) for row, _ in bars))


def _is_drawable(ratio: float | None) -> bool:
    return ratio is not None and math.isfinite(ratio) and ratio >= 0

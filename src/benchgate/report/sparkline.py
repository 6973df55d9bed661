"""Draws the course of a few values in one line of characters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeGuard

from benchgate.model.run import Tier
from benchgate.report.levels import BLOCKS
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.model.verdict import Row

_MISSING: Final = " "
# A course that varies by less than this share of its values is drawn as a flat line.
_LEAST_RANGE_RATIO: Final = 0.01
# A change of the margin is then about two levels high, and noise hardly one.
_LEAST_MARGINS: Final = 4
# With a single earlier run, base and head say it all.
_LEAST_RUNS: Final = 2

LEGEND: Final = (
    "The bars are the earlier runs on this machine, the oldest first. After the gap, they are the "
    "base and the head of this run, or only the head if the base is one of the earlier runs."
)


def draw_course(row: Row) -> str:
    """The earlier runs of a row, a gap, and this run: "▃▃▂▃▃ ▃█"; "" if too few are known."""
    here = tuple(_here(row).values())
    if len(row.recent) < _LEAST_RUNS or not all(map(_is_known, here)):
        return ""
    least = max(_LEAST_RANGE_RATIO, _LEAST_MARGINS * (row.margin or 0.0))
    return sparkline((*row.recent, None, *here), least_range_ratio=least)


def course_title(row: Row) -> str:
    """What the drawing shows, from left to right: "9 earlier runs, base, head"."""
    return ", ".join((counted(len(row.recent), "earlier run"), *_here(row)))


def _here(row: Row) -> Mapping[str, float | None]:
    """The values of this run; a base that was stored is an earlier run already."""
    return {"head": row.head} if row.tier is Tier.STORED else {"base": row.base, "head": row.head}


def sparkline(
    values: Sequence[float | None],
    levels: str = BLOCKS,
    *,
    least_range_ratio: float = _LEAST_RANGE_RATIO,
) -> str:
    """One character per value, the smallest value as the lowest level; "" without values.

    Values that hardly vary stay in the middle, so that noise does not look like a change.

    Args:
        values: in order; None or a value that is not finite leaves a gap.
        levels: characters from low to high; `ASCII` is for output that has no other characters.
        least_range_ratio: the share of the largest value that all levels stand for at least.
    """
    largest = max((abs(value) for value in values if _is_known(value)), default=0.0) or 1.0
    # Fractions of the largest value, whose differences cannot overflow.
    scaled = [value / largest if _is_known(value) else None for value in values]
    known = [value for value in scaled if value is not None]
    if not known:
        return _MISSING * len(values)
    low = min(known)
    spare = max(0.0, least_range_ratio - (max(known) - low))
    step = (max(known) - low + spare) / (len(levels) - 1)
    return "".join(
        _MISSING if value is None else levels[round((value - low + spare / 2) / step)]
        for value in scaled
    )


def _is_known(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)

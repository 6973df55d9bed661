"""Draws earlier values as bars of characters."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final, TypeGuard

from benchgate.escape import BLOCKS
from benchgate.model.run import Tier
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.model.row import Row


_MISSING: Final = " "
# Values that vary by less than this share of the largest one do not use the whole height: a change
# of the usual margin is then about two levels high, and noise hardly one.
_LEAST_RANGE_RATIO: Final = 0.08
# With a single earlier run, base and head say it all.
_LEAST_RUNS: Final = 2


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

"""The values that a row shows of its two sides: head / base is the ratio of the row.

The ratio is estimated from rounds or launches. The medians over the launches of each side are
two estimates more: next to it they can differ, and even point the other way. So one side is
shown as measured, the other follows from the ratio, and both medians are kept beside them.
"""

from __future__ import annotations

import math
from typing import TypedDict

# A quotient that was multiplied again differs from what it was made of in its last digits.
_ROUNDING = 1e-12


class Sides(TypedDict):
    """Of a row, in the metric's unit."""

    base: float | None
    head: float | None
    base_median: float | None
    head_median: float | None


def sides(
    base_median: float | None,
    head_median: float | None,
    ratio: float | None,
    *,
    from_head: bool = False,
) -> Sides:
    """Give the values that agree with a ratio, and the medians as they are.

    Without a finite ratio above 0 there is no change to agree with: the medians are shown.

    Args:
        ratio: head / base.
        from_head: the head is shown as measured, and the base follows from it.
    """
    base, head = base_median, head_median
    if base is not None and head is not None and ratio and 0 < ratio < math.inf:
        if from_head:
            base = _unless_equal(head / ratio, base)
        else:
            head = _unless_equal(base * ratio, head)
    return {"base": base, "head": head, "base_median": base_median, "head_median": head_median}


def _unless_equal(value: float, median: float) -> float:
    """Give the median itself if it is the same number: counts stay whole."""
    same = math.isclose(value, median, rel_tol=_ROUNDING)
    return median if same or not math.isfinite(value) else value

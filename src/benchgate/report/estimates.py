"""Formats intervals and spans of ratios."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.model.notes import (
    change,
    sides,
)
from benchgate.units import (
    change_digits,
    format_change,
)

if TYPE_CHECKING:
    from benchgate.model.row import Row


def interval(row: Row) -> str:
    """The interval of the change, signed: "+12.1 to +17.0 %"; open ends are named."""
    if row.interval is None or any(math.isnan(end) for end in row.interval):
        return ""
    low, high = row.interval
    if low <= 0 and math.isinf(high):
        return ""
    if math.isinf(high):
        return f"{format_change(low)} or more"
    if low <= 0:
        return f"{format_change(high)} or less"
    return change_span(low, high)


def change_span(low: float, high: float) -> str:
    """Two ratios as changes: "+12.1 to +17.0 %"."""
    digits = change_digits(low, high)
    return span(format_change(low, digits), format_change(high, digits))


def rounded(row: Row) -> str:
    """The change as people say it: "+15 %", "from 0 to 12"; "" if there is none."""
    if change(row) == "from 0":
        return f"from 0 to {sides(row)[1]}"
    ratio = row.deciding_ratio
    return "" if ratio is None or not math.isfinite(ratio) else _rounded(ratio)


def rounded_span(low: float, high: float) -> str:
    """Two changes as people say them: "+13 to +15 %"."""
    return span(_rounded(low), _rounded(high))


def _rounded(ratio: float) -> str:
    """A change in whole percents, unless it is smaller."""
    return format_change(ratio, 0 if abs(ratio - 1) >= 0.01 else 1)


def span(low: str, high: str) -> str:
    """Format a range, with the unit once if both ends have it: "12.1 to 17.0 %"."""
    if low == high:
        return low
    if high.endswith(" %"):
        return f"{low.removesuffix(' %')} to {high}"
    return f"{low} to {high.removeprefix(low[:2])}" if low.startswith("x ") else f"{low} to {high}"

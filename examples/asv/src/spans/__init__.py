"""Spans of time: pairs of a start and an end."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Span = tuple[int, int]


def merge(spans: Iterable[Span]) -> list[Span]:
    """Join spans that overlap or touch."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            if end > merged[-1][1]:
                merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def covers(merged: Sequence[Span], moment: int) -> bool:
    """Whether one of the merged spans holds a moment."""
    index = bisect.bisect_right(merged, (moment, float("inf"))) - 1
    return index >= 0 and moment < merged[index][1]

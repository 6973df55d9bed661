"""Draws a row of values as a row of blocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"
# Smaller differences would make mountains of noise.
_LEAST_SPAN = math.log(1.5)


def sparkline(values: Sequence[float]) -> str:
    """The values from least to greatest as blocks of eight heights, on a scale of ratios.

    Args:
        values: positive ones; "" stands for a series that has others, or none.
    """
    if not values or min(values) <= 0:
        return ""
    logs = [math.log(value) for value in values]
    low, span = min(logs), max(max(logs) - min(logs), _LEAST_SPAN)
    last = len(_BLOCKS) - 1
    return "".join(_BLOCKS[round((log - low) / span * last)] for log in logs)

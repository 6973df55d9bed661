"""Chooses round values for the labels of an axis."""

from __future__ import annotations

import math
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.model.figures import ColumnRange

_STEPS = (1, 2, 5, 10)
_LOG_STEPS = ((1, 2, 5), (1, 3), (1,))
_TWO_STEPS = (1, 2, 10)
# Powers of ten beyond it are not finite.
_GREATEST = 1e300


def place(axis: ColumnRange, value: float) -> float:
    """Where a value lies on an axis: 0 is its left end, 1 its right end."""
    if axis.log:
        # The quotient of the ends may not be finite.
        low, high = math.log(axis.low), math.log(axis.high)
        return (math.log(value) - low) / (high - low)
    # Half of each, because the difference of two large numbers may not be finite.
    return (value / 2 - axis.low / 2) / (axis.high / 2 - axis.low / 2)


def ticks(axis: ColumnRange, unit: str, most: int) -> tuple[float, ...]:
    """Round values on an axis, ascending.

    Args:
        unit: base unit; bytes are round in powers of 1,024.
        most: about how many there is room for.
    """
    if max(abs(axis.low), abs(axis.high)) > _GREATEST:
        return (axis.low, axis.high)
    if axis.log:
        return _log_ticks(axis, unit, most)
    factor = _factor(axis.high, unit)
    rough = (axis.high - axis.low) / factor / max(most, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((one * power for one in _STEPS if one * power >= rough), 10 * power)
    first = math.ceil(axis.low / factor / step)
    last = math.floor(axis.high / factor / step)
    # Round once more: 3 * 0.1 is 0.30000000000000004.
    digits = 1 - math.floor(math.log10(step))
    return tuple(round(index * step, digits) * factor for index in range(first, last + 1))


def _log_ticks(axis: ColumnRange, unit: str, most: int) -> tuple[float, ...]:
    found: list[float] = []
    for choice in range(len(_LOG_STEPS)):
        found = list(
            _powers_of_two(axis, _TWO_STEPS[choice])
            if unit == "B"
            else _powers_of_ten(axis, _LOG_STEPS[choice])
        )
        if len(found) <= most:
            break
    every = -(-len(found) // max(most, 1)) or 1
    return tuple(found[::every])


def _powers_of_two(axis: ColumnRange, every: int) -> Iterator[float]:
    first, last = (math.log2(end) / every for end in (axis.low, axis.high))
    for index in range(math.ceil(first), math.floor(last) + 1):
        yield 2.0 ** (index * every)


def _powers_of_ten(axis: ColumnRange, steps: tuple[int, ...]) -> Iterator[float]:
    for power in count(math.floor(math.log10(axis.low))):
        for step in steps:
            # Dividing by 10**6 is exact to the last digit, where multiplying by 10**-6 is not.
            value = step * 10.0**power if power >= 0 else step / 10.0**-power
            if value > axis.high:
                return
            if value >= axis.low:
                yield value


def _factor(value: float, unit: str) -> float:
    """The size of the unit in which a value is shown, as far as it is no power of ten."""
    if unit != "B" or abs(value) < 1024:
        return 1.0
    return 1024.0 ** min(math.floor(math.log(abs(value), 1024)), 4)

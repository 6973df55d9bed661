"""Values brought near 1 by a power of two, so that their squares neither overflow nor vanish."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

_LARGEST_LOG = math.log(sys.float_info.max)


def binary_scaled(values: FloatArray) -> tuple[FloatArray, int]:
    """Divide by 2**exponent, the least power of two above every magnitude.

    The division is exact, but for values that lie below the greatest by a factor of more than
    2**1021: their last bits are lost, as they would be in any sum with it.

    Args:
        values: any shape, finite, at least one value.

    Returns:
        The values within (-1, 1), and the exponent: `math.ldexp(scaled, exponent)` undoes it.
    """
    exponent = int(np.frexp(np.abs(values).max())[1])
    return np.ldexp(values, -exponent), exponent


def finite_exp(log: float) -> float:
    """exp(log), but the largest float if it is beyond that, as a ratio to almost nothing is."""
    return math.exp(log) if log < _LARGEST_LOG else sys.float_info.max

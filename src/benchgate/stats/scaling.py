"""Values brought near 1 by a power of two, so that their squares neither overflow nor vanish."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray


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

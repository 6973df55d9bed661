"""What a suspect is: a row that looks changed, so it gets fresh rounds to confirm it.

A suspect is not a finding. The rule is lenient, because a change that it misses is never tested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import BoolArray, FloatArray

MOST_P = 0.1
# A tail spreads widely and would often be suspected for no reason: all of five rounds must agree.
MOST_TAIL_P = 0.05
MARGIN_SHARE = 0.5


def is_large(log_ratios: FloatArray | float, margins: FloatArray | float) -> BoolArray:
    """Whether log ratios above 0 exceed half of their margins, which are fractions."""
    large: BoolArray = np.asarray(log_ratios) > np.log1p(np.asarray(margins) * MARGIN_SHARE)
    return large


def look_changed(
    estimates: FloatArray,
    p_values: FloatArray,
    least_p: float,
    margins: Sequence[float],
    are_tails: Sequence[bool],
) -> BoolArray:
    """Which rows are suspects.

    Args:
        estimates: log ratios, shape (rows,).
        p_values: one-sided, in the direction of the estimate.
        least_p: the smallest p of as few values: values that all agree are sufficient.
        margins: as fractions.
    """
    limits = np.maximum(np.where(np.array(are_tails), MOST_TAIL_P, MOST_P), least_p)
    suspects: BoolArray = is_large(np.abs(estimates), np.array(margins)) & (p_values <= limits)
    return suspects

"""How much of its wall-clock time a benchmark computes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray


def cpu_ratio(cpu_s: FloatArray, time_s: FloatArray) -> float | None:
    """Return CPU time / wall-clock time: above 1 if several CPUs worked at the same time.

    Args:
        cpu_s, time_s: shape (n,), the same statistic of each launch, in seconds.

    Returns:
        The ratio of the medians; None if no time passed.
    """
    time = float(np.median(time_s))
    if time <= 0:
        return None
    ratio = float(np.median(cpu_s)) / time
    return ratio if math.isfinite(ratio) else None

"""How a launch behaves at its beginning, until it settles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.model.statistics import Warmup
from benchgate.stats.warmup import settled_index

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.model.run import Launch

WINDOW = 10
"""Values in a row that have to be steady."""


def warmup(launches: Sequence[Launch]) -> Warmup | None:
    """The curve of the launches, warm-up first; None if none has a window of values."""
    curves = [np.concatenate([launch.warmup, launch.samples]) for launch in launches]
    long = [curve for curve in curves if len(curve) >= WINDOW]
    if not long:
        return None
    length = min(map(len, long))
    found = [settled_index(curve, window=WINDOW) for curve in long]
    settled = [index for index in found if index is not None]
    return Warmup(
        curve=tuple(np.median([curve[:length] for curve in long], axis=0).tolist()),
        discarded=int(np.median([len(launch.warmup) for launch in launches])),
        launches=len(long),
        settled=len(settled),
        settled_at=int(np.median(settled)) if settled else None,
    )

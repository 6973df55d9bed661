"""Change points found in histories in which nothing changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.changepoint import change_points
from validation import data
from validation.rates import Simulation, Verdict

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray

ALPHA = 0.05
REPLICATES = 4_000


def _found(histories: FloatArray) -> BoolArray:
    return np.array([bool(change_points(row, alpha=ALPHA)) for row in histories])


def _with_outlier(rng: np.random.Generator) -> FloatArray:
    """Draw histories in which one value is ten times as high."""
    histories = data.normal(rng, REPLICATES, 20)
    histories[np.arange(REPLICATES), rng.integers(20, size=REPLICATES)] *= 10
    return histories


ROWS = (
    Simulation(
        "change points",
        "20 values, skewed",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: _found(data.skewed(rng, REPLICATES, 20)),
        known=(ALPHA, 0.0),
    ),
    Simulation(
        "change points",
        "20 values, one of them an outlier",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: _found(_with_outlier(rng)),
    ),
    Simulation(
        "change points",
        "20 counts, many of them equal",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: _found(rng.poisson(1, size=(REPLICATES, 20)).astype(np.float64)),
    ),
    Simulation(
        "change points",
        "20 values, autocorrelated",
        ALPHA,
        Verdict.FAILS,
        lambda rng: _found(data.autocorrelated(rng, REPLICATES, 20)),
        note="a slow wave looks like steps, and the test does not know that: look before you act",
    ),
)

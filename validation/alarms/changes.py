"""Change points found in histories in which nothing changed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.changepoint import ChangeTest, change_points
from validation import data
from validation.rates import Simulation, Verdict

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray

ALPHA = 0.05
REPLICATES = 4_000
# The fewest permutations that can give a p of 5 %; with more, alarms are as frequent.
PERMUTATIONS = 19


def _found(test: ChangeTest, histories: FloatArray) -> BoolArray:
    return np.array(
        [
            bool(change_points(row, alpha=ALPHA, test=test, seed=seed, permutations=PERMUTATIONS))
            for seed, row in enumerate(histories)
        ]
    )


_permutation = partial(_found, "permutation")
_t = partial(_found, "t")


def _with_outlier(rng: np.random.Generator) -> FloatArray:
    """Draw histories in which one value is ten times as high."""
    histories = data.normal(rng, REPLICATES, 20)
    histories[np.arange(REPLICATES), rng.integers(20, size=REPLICATES)] *= 10
    return histories


ROWS = (
    Simulation(
        "change points, permutation test",
        "20 values, skewed",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: _permutation(data.skewed(rng, REPLICATES, 20)),
        known=(ALPHA, 0.0),
    ),
    Simulation(
        "change points, permutation test",
        "20 values, one of them an outlier",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: _permutation(_with_outlier(rng)),
        known=(ALPHA, 0.0),
    ),
    Simulation(
        "change points, permutation test",
        "20 values, autocorrelated",
        ALPHA,
        Verdict.FAILS,
        lambda rng: _permutation(data.autocorrelated(rng, 1_000, 20)),
        note="a slow wave looks like steps, and neither test knows that: look before you act",
    ),
    Simulation(
        "change points, t test",
        "20 values, normal",
        ALPHA,
        Verdict.CAUTIOUS,
        lambda rng: _t(data.normal(rng, REPLICATES, 20)),
    ),
    Simulation(
        "change points, t test",
        "20 values, one of them an outlier",
        ALPHA,
        Verdict.CAUTIOUS,
        lambda rng: _t(_with_outlier(rng)),
    ),
    Simulation(
        "change points, t test",
        "20 values, autocorrelated",
        ALPHA,
        Verdict.FAILS,
        lambda rng: _t(data.autocorrelated(rng, REPLICATES, 20)),
        note="it takes a slow wave for steps as well",
    ),
)

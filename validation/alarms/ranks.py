"""False alarms of the rank tests, one row of a suite at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.mann_whitney import mann_whitney, mann_whitney_classical, mann_whitney_lower
from benchgate.stats.signed_rank import signed_rank, signed_rank_lower
from benchgate.stats.trend import trend_p
from validation import data
from validation.rates import Simulation, Verdict

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray
    from benchgate.stats.midranks import Method

ALPHA = 0.05
REPLICATES = 20_000


def attainable(lower: FloatArray, level: float) -> float:
    """Give the size of an exact test: its greatest attainable p that is at most `level`."""
    return float(lower[lower <= level].max())


def _signed_rank(d: FloatArray) -> BoolArray:
    return signed_rank(d).p_greater <= ALPHA


def _signed_rank_of_coarse_clocks(rng: np.random.Generator) -> BoolArray:
    return _signed_rank(np.round(rng.normal(size=(REPLICATES, 12)) * 1.5))


def _signed_rank_of_rounds(rng: np.random.Generator) -> BoolArray:
    """Rounds of one launch of each arm, 45 samples each; the median is a launch's value."""
    base, head = (np.median(data.launches(rng, 4_000, 12, 45), axis=2) for _ in range(2))
    return _signed_rank(np.log(head / base))


def _signed_rank_of_samples(rng: np.random.Generator) -> BoolArray:
    """One launch of each arm, sample against sample."""
    base, head = (data.launches(rng, 4_000, 1, 45)[:, 0] for _ in range(2))
    return _signed_rank(np.log(head / base))


def _signed_rank_of_a_series(rng: np.random.Generator) -> BoolArray:
    base, head = (data.autocorrelated(rng, 4_000, 45) for _ in range(2))
    return _signed_rank(head - base)


def _mann_whitney(x: FloatArray, y: FloatArray, method: Method = "auto") -> BoolArray:
    return mann_whitney(x, y, method).p_two_sided <= ALPHA


def _mann_whitney_of_launches(rng: np.random.Generator) -> BoolArray:
    x, y = (np.median(data.launches(rng, 4_000, 8, 45), axis=2) for _ in range(2))
    return _mann_whitney(x, y)


def _mann_whitney_of_a_series(rng: np.random.Generator) -> BoolArray:
    x, y = (data.autocorrelated(rng, 4_000, 45) for _ in range(2))
    return _mann_whitney(x, y)


def _classical_of_samples(rng: np.random.Generator) -> BoolArray:
    x, y = (data.launches(rng, 4_000, 8, 45).reshape(4_000, -1) for _ in range(2))
    return mann_whitney_classical(x, y) <= ALPHA


def _trends(series: FloatArray) -> BoolArray:
    return np.array([trend_p(row) <= ALPHA for row in series])


ROWS = (
    Simulation(
        "signed rank, one-sided",
        "12 pairs, heavy tails",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: _signed_rank(data.heavy(rng, REPLICATES, 12) - data.LEVEL),
        known=(attainable(signed_rank_lower(12), ALPHA), 0.0),
    ),
    Simulation(
        "signed rank, one-sided",
        "12 pairs, coarse clock (ties, zeros)",
        ALPHA,
        Verdict.CAUTIOUS,
        _signed_rank_of_coarse_clocks,
    ),
    Simulation(
        "signed rank over the medians of launches",
        "12 rounds of 45 samples, launch-structured",
        ALPHA,
        Verdict.HOLDS,
        _signed_rank_of_rounds,
        known=(attainable(signed_rank_lower(12), ALPHA), 0.0),
    ),
    Simulation(
        "signed rank over the samples of one launch",
        "45 samples, launch-structured",
        ALPHA,
        Verdict.FAILS,
        _signed_rank_of_samples,
        note="the samples share their launch; pair launches, not samples",
    ),
    Simulation(
        "signed rank over the samples of one launch",
        "45 samples, autocorrelated",
        ALPHA,
        Verdict.FAILS,
        _signed_rank_of_a_series,
        note="neighbors repeat each other; pair launches, not samples",
    ),
    Simulation(
        "Mann-Whitney, exact",
        "8 v 8, skewed",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: _mann_whitney(data.skewed(rng, REPLICATES, 8), data.skewed(rng, REPLICATES, 8)),
        known=(2 * attainable(mann_whitney_lower(8, 8), ALPHA / 2), 0.0),
    ),
    Simulation(
        "Mann-Whitney, asymptotic",
        "40 v 40, skewed",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: _mann_whitney(
            data.skewed(rng, REPLICATES, 40), data.skewed(rng, REPLICATES, 40)
        ),
    ),
    Simulation(
        "Mann-Whitney over the medians of launches",
        "8 v 8 launches of 45 samples, launch-structured",
        ALPHA,
        Verdict.HOLDS,
        _mann_whitney_of_launches,
        known=(2 * attainable(mann_whitney_lower(8, 8), ALPHA / 2), 0.0),
    ),
    Simulation(
        "Mann-Whitney over the samples of one launch",
        "45 v 45 samples, autocorrelated",
        ALPHA,
        Verdict.FAILS,
        _mann_whitney_of_a_series,
        note="neighbors repeat each other; compare launches",
    ),
    Simulation(
        "Mann-Whitney, classical",
        "20 v 20, skewed",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: (
            mann_whitney_classical(
                data.skewed(rng, REPLICATES, 20), data.skewed(rng, REPLICATES, 20)
            )
            <= ALPHA
        ),
    ),
    Simulation(
        "Mann-Whitney, classical, over pooled samples",
        "8 v 8 launches of 45 samples, launch-structured",
        ALPHA,
        Verdict.FAILS,
        _classical_of_samples,
        note="pooling counts samples of one launch as independent; test launches",
    ),
    Simulation(
        "Mann-Kendall trend",
        "10 values, skewed",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: _trends(data.skewed(rng, 5_000, 10)),
    ),
    Simulation(
        "Mann-Kendall trend",
        "10 values, autocorrelated",
        ALPHA,
        Verdict.FAILS,
        lambda rng: _trends(data.autocorrelated(rng, 2_000, 10)),
        note="a wave looks like a slope; it only judges warm-up, where an alarm costs one sample",
    ),
)

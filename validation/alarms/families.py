"""False alarms in a suite of tests, and among what a suite reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchgate.stats.mann_whitney import mann_whitney
from benchgate.stats.multiple_tests import benjamini_hochberg, holm
from validation import data
from validation.rates import Simulation, Verdict

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray

ALPHA = 0.05
BENCHMARKS = 20
REPLICATES = 10_000


def _any_rejected(p: FloatArray) -> BoolArray:
    return np.array([(holm(row) <= ALPHA).any() for row in p])


def _independent(rng: np.random.Generator) -> FloatArray:
    return rng.uniform(size=(REPLICATES, BENCHMARKS))


def _common_disturbance(rng: np.random.Generator) -> FloatArray:
    """One-sided p of benchmarks that share half of their noise."""
    noise = rng.standard_normal((REPLICATES, BENCHMARKS)) + rng.standard_normal((REPLICATES, 1))
    p: FloatArray = stats.norm.sf(noise / np.sqrt(2))
    return p


def _one_changed_out_of_many(rng: np.random.Generator) -> BoolArray:
    """Say whether another benchmark is reported if five clearly changed."""
    p = _independent(rng)
    p[:, :5] *= 1e-6
    return np.array([(holm(row)[5:] <= ALPHA).any() for row in p])


def _mann_whitney_suite(rng: np.random.Generator) -> BoolArray:
    """Whole suites of 20 benchmarks, 10 v 10 launches each."""
    suites = 2_000
    x, y = (data.skewed(rng, suites * BENCHMARKS, 10) for _ in range(2))
    return _any_rejected(mann_whitney(x, y).p_greater.reshape(suites, BENCHMARKS))


def _any_false_by_benjamini_hochberg(rng: np.random.Generator) -> BoolArray:
    p = _independent(rng)
    p[:, :5] *= 1e-6
    return np.array([(benjamini_hochberg(row)[5:] <= ALPHA).any() for row in p])


def _false_among_reported(rng: np.random.Generator) -> BoolArray:
    """Say whether a random report of a suite is false if five of 20 benchmarks changed.

    So the rate is the expected share of false reports, and each suite is one trial.
    """
    p = _independent(rng)
    p[:, :5] *= 1e-6
    reported = np.array([benjamini_hochberg(row) <= ALPHA for row in p])
    drawn = np.argmax(reported * rng.uniform(size=reported.shape), axis=1)
    false: BoolArray = reported.any(axis=1) & (drawn >= 5)
    return false


ROWS = (
    Simulation(
        "20 tests, no correction: any alarm",
        "independent",
        ALPHA,
        Verdict.FAILS,
        lambda rng: (_independent(rng) <= ALPHA).any(axis=1),
        known=(1 - (1 - ALPHA) ** BENCHMARKS, 0.0),
        note="each test keeps 5 %, but together they do not; use Holm",
    ),
    Simulation(
        "20 tests, Holm: any alarm",
        "independent",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: _any_rejected(_independent(rng)),
        known=(1 - (1 - ALPHA / BENCHMARKS) ** BENCHMARKS, 0.0),
    ),
    Simulation(
        "20 tests, Holm: any alarm",
        "half of the noise shared",
        ALPHA,
        Verdict.CAUTIOUS,
        lambda rng: _any_rejected(_common_disturbance(rng)),
    ),
    Simulation(
        "20 tests, Holm: any false alarm",
        "5 of them changed",
        ALPHA,
        Verdict.HOLDS,
        _one_changed_out_of_many,
        known=(1 - (1 - ALPHA / 15) ** 15, 0.0),
    ),
    Simulation(
        "20 tests, Benjamini-Hochberg: a report that is false",
        "5 of them changed",
        ALPHA,
        Verdict.CAUTIOUS,
        _false_among_reported,
        known=(ALPHA * 15 / BENCHMARKS, 0.0),
    ),
    Simulation(
        "20 tests, Benjamini-Hochberg: any false alarm",
        "5 of them changed",
        ALPHA,
        Verdict.FAILS,
        _any_false_by_benjamini_hochberg,
        note="it limits the share of false reports, not the chance of one; for builds use Holm",
    ),
    Simulation(
        "20 exact Mann-Whitney tests, Holm: any alarm",
        "10 v 10 launches, skewed",
        ALPHA,
        Verdict.HOLDS,
        _mann_whitney_suite,
    ),
)

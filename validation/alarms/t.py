"""False alarms of the t tests, and of the test of several groups."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.mann_whitney import mann_whitney
from benchgate.stats.multiple_tests import kruskal_wallis, pairwise
from benchgate.stats.t_tests import paired_t, two_sample_t
from validation import data
from validation.alarms.ranks import ALPHA
from validation.rates import Simulation, Verdict

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray

REPLICATES = 8_000
BUILDS = 4_000
CONFIDENCE = 0.95


def _paired(d: FloatArray) -> BoolArray:
    p = [paired_t(row, CONFIDENCE).p_two_sided for row in d]
    return np.array(p, dtype=np.float64) <= ALPHA


def _two_sample(x: FloatArray, y: FloatArray, *, equal_variance: bool) -> BoolArray:
    p = [
        two_sample_t(base, head, CONFIDENCE, equal_variance=equal_variance).p_two_sided
        for base, head in zip(x, y, strict=True)
    ]
    return np.array(p, dtype=np.float64) <= ALPHA


def _student(rng: np.random.Generator) -> BoolArray:
    x, y = (data.normal(rng, REPLICATES, 8) for _ in range(2))
    return _two_sample(x, y, equal_variance=True)


def _student_of_skewed(rng: np.random.Generator) -> BoolArray:
    x, y = (data.skewed(rng, REPLICATES, 5) for _ in range(2))
    return _two_sample(x, y, equal_variance=True)


def _unequal(rng: np.random.Generator, *, equal_variance: bool) -> BoolArray:
    x, y = rng.normal(0, 3, size=(REPLICATES, 6)), rng.normal(0, 1, size=(REPLICATES, 18))
    return _two_sample(x, y, equal_variance=equal_variance)


def _pooled(rng: np.random.Generator) -> BoolArray:
    x, y = (data.launches(rng, BUILDS, 8, 45).reshape(BUILDS, -1) for _ in range(2))
    return _two_sample(x, y, equal_variance=False)


def _series(rng: np.random.Generator) -> BoolArray:
    x, y = (data.autocorrelated(rng, BUILDS, 45) for _ in range(2))
    return _two_sample(x, y, equal_variance=False)


def _kruskal_wallis(groups: int, n: int, rng: np.random.Generator) -> BoolArray:
    rows = data.skewed(rng, REPLICATES, groups * n).reshape(REPLICATES, groups, n)
    return np.array([kruskal_wallis(list(row)).p <= ALPHA for row in rows])


def _kruskal_wallis_of_samples(rng: np.random.Generator) -> BoolArray:
    rows = data.launches(rng, BUILDS, 4, 45)
    return np.array([kruskal_wallis(list(row)).p <= ALPHA for row in rows])


def _only_pair(rng: np.random.Generator) -> BoolArray:
    x, y = (data.skewed(rng, REPLICATES, 5) for _ in range(2))
    return mann_whitney(x, y).p_two_sided <= ALPHA


def _any_pair(rng: np.random.Generator) -> BoolArray:
    rows = data.skewed(rng, 1_200, 4 * 8).reshape(1_200, 4, 8)
    return np.array([any(pair.p_adjusted <= ALPHA for pair in pairwise(list(row))) for row in rows])


ROWS = (
    Simulation(
        "t of pairs",
        "10 pairs, normal",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: _paired(data.normal(rng, REPLICATES, 10) - data.LEVEL),
        known=(ALPHA, 0.0),
    ),
    Simulation("Student's t", "8 v 8, normal", ALPHA, Verdict.HOLDS, _student, known=(ALPHA, 0.0)),
    Simulation("Student's t", "5 v 5, skewed", ALPHA, Verdict.CAUTIOUS, _student_of_skewed),
    Simulation(
        "Student's t",
        "6 v 18, the 6 spread three times as far",
        ALPHA,
        Verdict.FAILS,
        partial(_unequal, equal_variance=True),
        note="it assumes that both arms vary alike; use Welch's",
    ),
    Simulation(
        "Welch's t",
        "6 v 18, the 6 spread three times as far",
        ALPHA,
        Verdict.HOLDS,
        partial(_unequal, equal_variance=False),
    ),
    Simulation(
        "Welch's t over pooled samples",
        "8 v 8 launches of 45 samples, launch-structured",
        ALPHA,
        Verdict.FAILS,
        _pooled,
        note="360 samples are not 360 repetitions; test one value per launch",
    ),
    Simulation(
        "Welch's t over the samples of one launch",
        "45 v 45 samples, autocorrelated",
        ALPHA,
        Verdict.FAILS,
        _series,
        note="neighbors repeat each other; compare launches",
    ),
    Simulation(
        "Kruskal-Wallis",
        "3 groups of 10, skewed",
        ALPHA,
        Verdict.HOLDS,
        partial(_kruskal_wallis, 3, 10),
    ),
    Simulation(
        "Kruskal-Wallis",
        "3 groups of 3, skewed",
        ALPHA,
        Verdict.CAUTIOUS,
        partial(_kruskal_wallis, 3, 3),
        known=(18 / 1680, 0.0),
        note="for so few values the chi-squared curve is only rough, and it misses changes",
    ),
    Simulation(
        "Kruskal-Wallis",
        "2 groups of 5, skewed",
        ALPHA,
        Verdict.HOLDS,
        partial(_kruskal_wallis, 2, 5),
        known=(14 / 252, 0.0),
    ),
    Simulation(
        "Kruskal-Wallis",
        "2 groups of 3, skewed",
        ALPHA,
        Verdict.FAILS,
        partial(_kruskal_wallis, 2, 3),
        known=(2 / 20, 0.0),
        note="the chi-squared curve is too rough; for two groups exact Mann-Whitney decides",
    ),
    Simulation(
        "Mann-Whitney, exact, two-sided",
        "2 groups of 5, skewed",
        ALPHA,
        Verdict.CAUTIOUS,
        _only_pair,
        known=(8 / 252, 0.0),
    ),
    Simulation(
        "Kruskal-Wallis over the samples of launches",
        "4 launches of 45 samples, launch-structured",
        ALPHA,
        Verdict.FAILS,
        _kruskal_wallis_of_samples,
        note="launches differ without any change; let each launch give one value to its group",
    ),
    Simulation(
        "pairs of groups, Mann-Whitney and Holm: any alarm",
        "4 groups of 8, skewed",
        ALPHA,
        Verdict.HOLDS,
        _any_pair,
    ),
)

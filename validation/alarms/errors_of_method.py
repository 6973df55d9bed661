"""Comparisons that are common and cannot be trusted, with what to do instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.gate.classical import classical, p95_ratio
from benchgate.model.metrics import Better
from benchgate.stats.mann_whitney import mann_whitney, mann_whitney_classical, mann_whitney_lower
from benchgate.stats.spread import nearest_rank
from validation import data
from validation.alarms.ranks import ALPHA, attainable
from validation.rates import Simulation, Verdict

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray

REPLICATES = 20_000
BUILDS = 5_000
CLASSICAL_BUILDS = 1_000
BENCHMARKS = 20


def _p95_ratio(rng: np.random.Generator, n: int, sigma: float) -> BoolArray:
    base, head = rng.lognormal(0, sigma, size=(2, REPLICATES, n))
    return nearest_rank(head, 0.95) / nearest_rank(base, 0.95) >= 1.05


def _two_arms(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    x, y = (data.launches(rng, BUILDS, 5, 100, between=0.02, within=0.02) for _ in range(2))
    return x, y


def _pooled(rng: np.random.Generator) -> BoolArray:
    x, y = _two_arms(rng)
    return mann_whitney_classical(x.reshape(BUILDS, -1), y.reshape(BUILDS, -1)) < ALPHA


def _medians(rng: np.random.Generator) -> BoolArray:
    x, y = _two_arms(rng)
    return mann_whitney(np.median(x, axis=2), np.median(y, axis=2)).p_two_sided < ALPHA


def _classical_builds(rng: np.random.Generator, launches: int, unit: str) -> BoolArray:
    """Say for builds of 20 benchmarks whether the classical rule calls one slower."""
    rows = CLASSICAL_BUILDS * BENCHMARKS
    base, head = (data.launches(rng, rows, launches, 45) for _ in range(2))
    pooled = list(base.reshape(rows, -1)), list(head.reshape(rows, -1))
    medians = list(np.median(base, axis=2)), list(np.median(head, axis=2))
    x, y = pooled if unit == "sample" else medians
    p95_ratios = [p95_ratio(*both) for both in zip(*pooled, strict=True)]
    found = classical(x, y, p95_ratios, [Better.LOWER] * rows)
    slower = np.array([one.result == "slower" for one in found])
    builds: BoolArray = np.any(slower.reshape(CLASSICAL_BUILDS, BENCHMARKS), axis=1)
    return builds


ROWS = (
    Simulation(
        "p95 of the head >= 1.05 times that of the base",
        "20 v 20 values, skewed, CV 10 %",
        ALPHA,
        Verdict.FAILS,
        lambda rng: _p95_ratio(rng, 20, 0.1),
        known=(0.185, 0.01),
        note="a threshold is not a test; test p95 over launches",
    ),
    Simulation(
        "p95 of the head >= 1.05 times that of the base",
        "100 v 100 values, skewed, CV 30 %",
        ALPHA,
        Verdict.FAILS,
        lambda rng: _p95_ratio(rng, 100, 0.3),
        known=(0.287, 0.005),
        note="more values do not help if they vary more",
    ),
    Simulation(
        "Mann-Whitney over pooled samples",
        "5 v 5 launches of 100 samples, both spread by 2 %",
        ALPHA,
        Verdict.FAILS,
        _pooled,
        known=(0.78, 0.01),
        note="500 samples are not 500 repetitions; test one value per launch",
    ),
    Simulation(
        "Mann-Whitney over the medians of launches",
        "5 v 5 launches of 100 samples, both spread by 2 %",
        ALPHA,
        Verdict.CAUTIOUS,
        _medians,
        known=(2 * attainable(mann_whitney_lower(5, 5), ALPHA / 2), 0.0),
    ),
    Simulation(
        "the classical rule over samples, 20 benchmarks: any called slower",
        "1 v 1 launch of 45 samples, launch-structured",
        ALPHA,
        Verdict.FAILS,
        lambda rng: _classical_builds(rng, 1, "sample"),
        note="neither half of the rule knows that launches differ",
    ),
    Simulation(
        "the classical rule over launches, 20 benchmarks: any called slower",
        "5 v 5 launches of 45 samples, launch-structured",
        ALPHA,
        Verdict.CAUTIOUS,
        lambda rng: _classical_builds(rng, 5, "launch"),
        note="and it sees no change below its threshold of 5 %",
    ),
)

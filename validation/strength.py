"""How often an existing change is found."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.detectable import (
    detectable_ratio,
    detectable_ratio_two_sample,
    launches_to_detect,
)
from benchgate.stats.intervals import mean_interval
from benchgate.stats.mann_whitney import mann_whitney
from benchgate.stats.signed_rank import signed_rank
from benchgate.stats.spread import robust_spread
from benchgate.stats.t_tests import two_sample_t
from validation.rates import Simulation, Verdict

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray

REPLICATES = 20_000
LAUNCHES = 5_000
# Of the ratios of lockstep pairs on a shared virtual machine.
PAIR_SPREAD = 0.011
POWER = 0.9
# The power that `compare --detail` promises.
USUAL = 0.8


def _pairs(rng: np.random.Generator, n: int, log_ratio: float, alpha: float) -> BoolArray:
    d = rng.normal(log_ratio, PAIR_SPREAD, size=(REPLICATES, n))
    return signed_rank(d).p_greater <= alpha


def _detectable_pairs(rng: np.random.Generator, n: int, alpha: float) -> BoolArray:
    ratio = detectable_ratio(np.array([PAIR_SPREAD]), n, alpha, POWER)[0]
    return _pairs(rng, n, math.log(ratio), alpha)


def _detectable_launches(rng: np.random.Generator, n: int, alpha: float) -> BoolArray:
    ratio = detectable_ratio_two_sample(np.array([PAIR_SPREAD]), n, n, alpha, POWER)[0]
    x, y = rng.normal(0, PAIR_SPREAD, size=(2, LAUNCHES, n))
    return mann_whitney(x, y + math.log(ratio)).p_greater <= alpha


def _detectable_by_own_rounds(rng: np.random.Generator, n: int, power: float) -> BoolArray:
    d = rng.normal(0, PAIR_SPREAD, size=(REPLICATES, n))
    log_ratio = np.log(detectable_ratio(robust_spread(d), n, 0.01, power))
    return signed_rank(d + log_ratio[:, np.newaxis]).p_greater <= 0.01


def _detectable_by_own_launches(rng: np.random.Generator, n: int) -> BoolArray:
    base, head = rng.normal(0, PAIR_SPREAD, size=(2, REPLICATES, n))
    log_ratio = np.log(detectable_ratio_two_sample(robust_spread(base), n, n, 0.01, USUAL))
    return mann_whitney(base, head + log_ratio[:, np.newaxis]).p_greater <= 0.01


def _detected(rng: np.random.Generator, change: float, alpha: float) -> BoolArray:
    spread = np.array([PAIR_SPREAD])
    n = int(launches_to_detect(spread, 1 + change, alpha, POWER, 1_000)[0])
    return _pairs(rng, n, math.log1p(change), alpha)


def _arms_of_ten(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw two arms so far apart that Student's t at 5 % finds it in 80 % of cases."""
    x, y = rng.standard_normal((2, LAUNCHES, 10))
    return x, y + 1.325


def _apart_by_t(rng: np.random.Generator) -> BoolArray:
    tests = (
        two_sample_t(*arms, 0.95, equal_variance=True)
        for arms in zip(*_arms_of_ten(rng), strict=True)
    )
    return np.array([test.p_two_sided for test in tests], dtype=np.float64) <= 0.05


def _apart_by_intervals(rng: np.random.Generator) -> BoolArray:
    pairs = (
        (mean_interval(x, 0.95), mean_interval(y, 0.95))
        for x, y in zip(*_arms_of_ten(rng), strict=True)
    )
    return np.array([a is not None and b is not None and a.high < b.low for a, b in pairs])


_OWN_SPREAD = "so few values give only a rough spread: read the figure as a guide, and take more"

ROWS = (
    Simulation(
        "signed rank at 1 %: a change of 3 %",
        "12 pairs, their ratios spread by 1.1 %",
        0.99,
        Verdict.CAUTIOUS,
        lambda rng: _pairs(rng, 12, math.log(1.03), 0.01),
        covers=True,
    ),
    Simulation(
        "signed rank at 0.25 %: a change of 2 %",
        "12 pairs, their ratios spread by 1.1 %",
        POWER,
        Verdict.CAUTIOUS,
        lambda rng: _pairs(rng, 12, math.log(1.02), 0.0025),
        covers=True,
    ),
    Simulation(
        "signed rank at 1 %: the smallest detectable change",
        "20 pairs",
        POWER,
        Verdict.SHORT,
        lambda rng: _detectable_pairs(rng, 20, 0.01),
        covers=True,
    ),
    Simulation(
        "signed rank at 1 %: the smallest detectable change",
        "10 pairs",
        POWER,
        Verdict.SHORT,
        lambda rng: _detectable_pairs(rng, 10, 0.01),
        covers=True,
        note="the formula is that of t; ranks of few pairs change in steps",
    ),
    Simulation(
        "signed rank at 1 %: the smallest detectable change",
        "7 pairs",
        POWER,
        Verdict.FAILS,
        lambda rng: _detectable_pairs(rng, 7, 0.01),
        covers=True,
        note="all seven must agree; take more rounds",
    ),
    Simulation(
        "Mann-Whitney at 5 %: the smallest detectable change",
        "8 v 8 launches",
        POWER,
        Verdict.SHORT,
        lambda rng: _detectable_launches(rng, 8, 0.05),
        covers=True,
    ),
    *(
        Simulation(
            "signed rank at 1 %: the smallest detectable change, s from the same rounds",
            f"{n} pairs",
            power,
            verdict,
            partial(_detectable_by_own_rounds, n=n, power=power),
            covers=True,
            note=_OWN_SPREAD if verdict is Verdict.FAILS else "",
        )
        for n, power, verdict in (
            (8, USUAL, Verdict.FAILS),
            (12, USUAL, Verdict.SHORT),
            (20, USUAL, Verdict.SHORT),
            (12, POWER, Verdict.FAILS),
            (30, POWER, Verdict.SHORT),
        )
    ),
    *(
        Simulation(
            "Mann-Whitney at 1 %: the smallest detectable change, s from the base's launches",
            f"{n} v {n} launches",
            USUAL,
            verdict,
            partial(_detectable_by_own_launches, n=n),
            covers=True,
            note=_OWN_SPREAD if verdict is Verdict.FAILS else "",
        )
        for n, verdict in ((8, Verdict.FAILS), (12, Verdict.FAILS), (20, Verdict.SHORT))
    ),
    Simulation(
        "signed rank at 1 %, with the rounds that are said to be needed for 1 %",
        "pairs whose ratios spread by 1.1 %",
        POWER,
        Verdict.SHORT,
        lambda rng: _detected(rng, 0.01, 0.01),
        covers=True,
    ),
    Simulation(
        "Student's t at 5 %",
        "10 v 10, normal, apart by 1.325 standard deviations",
        0.8,
        Verdict.HOLDS,
        _apart_by_t,
        covers=True,
        known=(0.8, 0.002),
    ),
    Simulation(
        "two 95 % t intervals that do not overlap",
        "10 v 10, normal, apart by 1.325 standard deviations",
        0.8,
        Verdict.FAILS,
        _apart_by_intervals,
        covers=True,
        note="intervals may overlap where means surely differ; test the difference",
    ),
)

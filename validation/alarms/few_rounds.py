"""False alarms of a suite that is decided by few rounds: rank tests and t tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchgate.stats.mann_whitney import mann_whitney
from benchgate.stats.multiple_tests import holm
from validation.rates import Simulation, Verdict

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray

ALPHA = 0.01
BENCHMARKS = 4
SUITES = 10_000
_NOISE = 0.001
_PRIOR_FREEDOM = 10


def _any_rejected(p: FloatArray) -> BoolArray:
    return np.array([(holm(row) <= ALPHA).any() for row in p.reshape(SUITES, BENCHMARKS)])


def _fast_or_slow(rng: np.random.Generator, rounds: int) -> tuple[FloatArray, FloatArray]:
    """Draw logs of launches of two arms: half of them, at random, are 20 % slower."""
    shape = (2, SUITES * BENCHMARKS, rounds)
    slow = rng.integers(0, 2, size=shape) * np.log(1.2)
    base, head = slow + rng.normal(0, _NOISE, size=shape)
    return base, head


def _common_rounds(rng: np.random.Generator, rounds: int) -> tuple[FloatArray, FloatArray]:
    """Draw logs of launches that share nine tenths of their variance with the other arm's."""
    shape = (SUITES * BENCHMARKS, rounds)
    common = rng.normal(0, 3, size=shape)
    base, head = (common + rng.normal(size=shape) for _ in range(2))
    return base, head


def _ranks(launches: tuple[FloatArray, FloatArray]) -> BoolArray:
    return _any_rejected(mann_whitney(*launches).p_greater)


def _t_of_pairs(launches: tuple[FloatArray, FloatArray]) -> BoolArray:
    base, head = launches
    found = stats.ttest_1samp(head - base, 0, axis=1, alternative="greater")
    return _any_rejected(np.asarray(found.pvalue))


def _t_of_a_shared_spread(rng: np.random.Generator) -> BoolArray:
    """Test with variances that borrow from the other rows, as the moderated t does."""
    rounds = 5
    spread = np.tile([5.0, 1.0, 1.0, 1.0], SUITES)[:, np.newaxis]
    d = spread * rng.normal(size=(SUITES * BENCHMARKS, rounds))
    freedom = _PRIOR_FREEDOM + rounds - 1
    variance = (_PRIOR_FREEDOM + (rounds - 1) * d.var(axis=1, ddof=1)) / freedom
    return _any_rejected(stats.t.sf(d.mean(axis=1) / np.sqrt(variance / rounds), freedom))


ROWS = (
    Simulation(
        "4 exact Mann-Whitney tests, Holm: any alarm",
        "6 v 6 launches, fast or slow by lot",
        ALPHA,
        Verdict.HOLDS,
        lambda rng: _ranks(_fast_or_slow(rng, 6)),
        known=(1 - (1 - 2 / 924) ** BENCHMARKS, 0.0),
    ),
    Simulation(
        "4 exact Mann-Whitney tests, Holm: any alarm",
        "6 rounds that share most of what they vary by",
        ALPHA,
        Verdict.CAUTIOUS,
        lambda rng: _ranks(_common_rounds(rng, 6)),
    ),
    Simulation(
        "4 t tests of pairs, Holm: any alarm",
        "3 rounds, launches fast or slow by lot",
        ALPHA,
        Verdict.FAILS,
        lambda rng: _t_of_pairs(_fast_or_slow(rng, 3)),
        note="three rounds that agree by chance look certain; use Mann-Whitney over launches",
    ),
    Simulation(
        "4 t tests with a spread from all of them, Holm: any alarm",
        "5 rounds, one benchmark spreads five times as far",
        ALPHA,
        Verdict.FAILS,
        _t_of_a_shared_spread,
        note="benchmarks do not all vary alike; use Mann-Whitney over launches",
    ),
)

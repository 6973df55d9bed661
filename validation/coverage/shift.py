"""Intervals of a change: of paired launches, and of launches that share no rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.mann_whitney import mann_whitney_lower, two_sample_shift
from benchgate.stats.signed_rank import paired_shift, signed_rank_lower
from validation import data
from validation.alarms.ranks import attainable
from validation.coverage.held import CONFIDENCE, coverage
from validation.rates import Verdict

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray
    from benchgate.stats.midranks import Shifts

REPLICATES = 20_000
BUILDS = 4_000
CHANGE = 0.03
TAIL = (1 - CONFIDENCE) / 2


def _holds(shift: Shifts, truth: float) -> BoolArray:
    holds: BoolArray = (shift.low <= truth) & (truth <= shift.high)
    return holds


def _paired(d: FloatArray, truth: float) -> BoolArray:
    return _holds(paired_shift(d, CONFIDENCE), truth)


def _two_sample(x: FloatArray, y: FloatArray, truth: float) -> BoolArray:
    return _holds(two_sample_shift(x, y, CONFIDENCE), truth)


def _exponential(rng: np.random.Generator, n: int) -> BoolArray:
    x, y = rng.exponential(size=(2, REPLICATES, n))
    return _two_sample(x, y + CHANGE, CHANGE)


def arms(rng: np.random.Generator, launches: int, samples: int) -> tuple[FloatArray, FloatArray]:
    """Logs of a base and a slower head, shape (BUILDS, launches, samples)."""
    base, head = (np.log(data.launches(rng, BUILDS, launches, samples)) for _ in range(2))
    return base, head + CHANGE


def _rounds(rng: np.random.Generator) -> BoolArray:
    base, head = arms(rng, 12, 45)
    return _paired(np.median(head, axis=2) - np.median(base, axis=2), CHANGE)


def _launches(rng: np.random.Generator) -> BoolArray:
    base, head = arms(rng, 10, 45)
    return _two_sample(np.median(base, axis=2), np.median(head, axis=2), CHANGE)


def _pooled(rng: np.random.Generator) -> BoolArray:
    base, head = arms(rng, 5, 12)
    return _two_sample(base.reshape(BUILDS, -1), head.reshape(BUILDS, -1), CHANGE)


def _series(rng: np.random.Generator) -> BoolArray:
    base, head = (data.autocorrelated(rng, BUILDS, 45) for _ in range(2))
    return _paired(head - base, 0.0)


def _paired_truth(n: int) -> tuple[float, float]:
    return 1 - 2 * attainable(signed_rank_lower(n), TAIL), 0.0


def _two_sample_truth(n: int) -> tuple[float, float]:
    return 1 - 2 * attainable(mann_whitney_lower(n, n), TAIL), 0.0


ROWS = (
    coverage(
        what="Hodges-Lehmann, pairs",
        data="6 pairs, normal",
        expected=Verdict.CAUTIOUS,
        known=_paired_truth(6),
        run=lambda rng: _paired(data.normal(rng, REPLICATES, 6), data.LEVEL),
    ),
    coverage(
        what="Hodges-Lehmann, pairs",
        data="12 pairs, heavy tails",
        expected=Verdict.CAUTIOUS,
        known=_paired_truth(12),
        run=lambda rng: _paired(data.heavy(rng, REPLICATES, 12), data.LEVEL),
    ),
    coverage(
        what="Hodges-Lehmann, pairs of launch medians",
        data="12 rounds of 45 samples, launch-structured",
        expected=Verdict.HOLDS,
        known=_paired_truth(12),
        run=_rounds,
    ),
    coverage(
        what="Hodges-Lehmann, pairs of samples",
        data="45 samples of one launch, autocorrelated",
        expected=Verdict.FAILS,
        run=_series,
        note="neighbors repeat each other; pair launches, not samples",
    ),
    coverage(
        what="Hodges-Lehmann, two samples",
        data="5 v 5, skewed (exponential)",
        expected=Verdict.CAUTIOUS,
        known=_two_sample_truth(5),
        run=lambda rng: _exponential(rng, 5),
    ),
    coverage(
        what="Hodges-Lehmann, two samples",
        data="8 v 8, skewed (exponential)",
        expected=Verdict.HOLDS,
        known=_two_sample_truth(8),
        run=lambda rng: _exponential(rng, 8),
    ),
    coverage(
        what="Hodges-Lehmann, two samples of launch medians",
        data="10 v 10 launches of 45 samples, launch-structured",
        expected=Verdict.HOLDS,
        known=_two_sample_truth(10),
        run=_launches,
    ),
    coverage(
        what="Hodges-Lehmann, two samples of pooled samples",
        data="5 v 5 launches of 12 samples, launch-structured",
        expected=Verdict.FAILS,
        run=_pooled,
        note="60 samples are not 60 repetitions; use one value per launch",
    ),
)

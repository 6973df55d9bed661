"""t intervals of a change, which are shown beside those by ranks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.t_tests import paired_t, two_sample_t
from validation import data
from validation.coverage.held import CONFIDENCE, coverage, held
from validation.coverage.shift import CHANGE, arms
from validation.rates import Verdict

if TYPE_CHECKING:
    from benchgate.arrays import BoolArray, FloatArray

REPLICATES = 8_000


def _paired(d: FloatArray, truth: float) -> BoolArray:
    return held((paired_t(row, CONFIDENCE).interval for row in d), truth)


def _two_sample(x: FloatArray, y: FloatArray, truth: float, *, equal_variance: bool) -> BoolArray:
    return held(
        (
            two_sample_t(base, head, CONFIDENCE, equal_variance=equal_variance).interval
            for base, head in zip(x, y, strict=True)
        ),
        truth,
    )


def _rounds(rng: np.random.Generator) -> BoolArray:
    base, head = arms(rng, 12, 45)
    return _paired(np.median(head, axis=2) - np.median(base, axis=2), CHANGE)


def _logs(rng: np.random.Generator) -> BoolArray:
    """Ratios of skewed times are skewed; their logs are not."""
    base, head = data.skewed(rng, REPLICATES, 10), data.skewed(rng, REPLICATES, 10)
    return _paired(np.log(head / base), 0.0)


def _series(rng: np.random.Generator) -> BoolArray:
    base, head = (data.autocorrelated(rng, 4_000, 45) for _ in range(2))
    return _paired(head - base, 0.0)


def _launches(rng: np.random.Generator) -> BoolArray:
    base, head = (np.median(arm, axis=2) for arm in arms(rng, 8, 45))
    return _two_sample(base, head, CHANGE, equal_variance=True)


def _pooled(rng: np.random.Generator) -> BoolArray:
    base, head = (arm.reshape(len(arm), -1) for arm in arms(rng, 8, 45))
    return _two_sample(base, head, CHANGE, equal_variance=False)


def _unequal(rng: np.random.Generator, *, equal_variance: bool) -> BoolArray:
    x, y = rng.normal(0, 3, size=(REPLICATES, 6)), rng.normal(0, 1, size=(REPLICATES, 18))
    return _two_sample(x, y, 0.0, equal_variance=equal_variance)


ROWS = (
    coverage(
        what="t of paired log ratios",
        data="10 pairs, skewed",
        expected=Verdict.HOLDS,
        known=(CONFIDENCE, 0.0),
        run=_logs,
    ),
    coverage(
        what="t of paired log ratios of launch medians",
        data="12 rounds of 45 samples, launch-structured",
        expected=Verdict.HOLDS,
        run=_rounds,
    ),
    coverage(
        what="t of paired samples",
        data="45 samples of one launch, autocorrelated",
        expected=Verdict.FAILS,
        run=_series,
        note="neighbors repeat each other; pair launches, not samples",
    ),
    coverage(
        what="Student's t of launch medians",
        data="8 v 8 launches of 45 samples, launch-structured",
        expected=Verdict.HOLDS,
        run=_launches,
    ),
    coverage(
        what="Welch's t of pooled samples",
        data="8 v 8 launches of 45 samples, launch-structured",
        expected=Verdict.FAILS,
        run=_pooled,
        note="360 samples are not 360 repetitions; take one value per launch",
    ),
    coverage(
        what="Student's t",
        data="6 v 18, the 6 spread three times as far",
        expected=Verdict.FAILS,
        run=partial(_unequal, equal_variance=True),
        note="it assumes that both arms vary alike; use Welch's",
    ),
    coverage(
        what="Welch's t",
        data="6 v 18, the 6 spread three times as far",
        expected=Verdict.HOLDS,
        run=partial(_unequal, equal_variance=False),
    ),
)

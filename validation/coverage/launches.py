"""Bootstrap intervals that draw launches, and then samples in them."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from scipy.special import ndtri

from benchgate.stats.bootstrap import (
    bootstrap_interval,
    hierarchical_intervals,
    ratio_of_percentile,
)
from validation import data
from validation.coverage.bootstrap import mean_of
from validation.coverage.held import CONFIDENCE, coverage, held
from validation.coverage.mean import LAUNCH_MEAN
from validation.rates import Verdict

if TYPE_CHECKING:
    import numpy as np

    from benchgate.arrays import BoolArray, FloatArray

REPLICATES = 1_500
MANY = 6_000
RESAMPLES = 400
SAMPLES = 15
TAIL = 0.95


# Of the samples of all possible launches.
TAIL_OF_ALL = data.LEVEL * math.exp(float(ndtri(TAIL)) * math.hypot(data.BETWEEN, data.WITHIN))


def _quantile(
    p: float, truth: float, replicates: int, count: int, rng: np.random.Generator
) -> BoolArray:
    return held(
        (
            hierarchical_intervals(
                list(launches), (p,), CONFIDENCE, seed=seed, resamples=RESAMPLES
            ).quantiles[0]
            for seed, launches in enumerate(data.launches(rng, replicates, count, SAMPLES))
        ),
        truth,
    )


_median = partial(_quantile, 0.5, data.LEVEL)
_of_tail = partial(_quantile, TAIL, TAIL_OF_ALL, REPLICATES)


def _pooled(count: int, rng: np.random.Generator) -> BoolArray:
    pools = data.launches(rng, REPLICATES, count, SAMPLES).reshape(REPLICATES, -1)
    return held(
        (
            bootstrap_interval(
                pool, mean_of, CONFIDENCE, method="BCa", seed=seed, resamples=RESAMPLES
            )
            for seed, pool in enumerate(pools)
        ),
        LAUNCH_MEAN,
    )


def _ratios(base: FloatArray, head: FloatArray, *, paired: bool) -> BoolArray:
    return held(
        (
            ratio_of_percentile(
                list(x),
                list(y),
                TAIL,
                CONFIDENCE,
                paired=paired,
                seed=seed,
                resamples=RESAMPLES,
            ).interval
            for seed, (x, y) in enumerate(zip(base, head, strict=True))
        ),
        1.0,
    )


def _ratio_apart(count: int, rng: np.random.Generator) -> BoolArray:
    base, head = (data.launches(rng, REPLICATES, count, SAMPLES) for _ in range(2))
    return _ratios(base, head, paired=False)


def _ratio_paired(count: int, rng: np.random.Generator) -> BoolArray:
    return _ratios(*data.rounds(rng, REPLICATES, count, SAMPLES), paired=True)


FEW = "few launches do not show how far off the next may be; take more launches"

ROWS = (
    coverage(
        what="bootstrap of pooled samples, mean",
        data=f"10 launches of {SAMPLES} samples, launch-structured",
        expected=Verdict.FAILS,
        run=partial(_pooled, 10),
        note="it draws samples as if launches did not matter; draw launches first",
    ),
    coverage(
        what="hierarchical bootstrap, median",
        data=f"5 launches of {SAMPLES} samples, launch-structured",
        expected=Verdict.FAILS,
        run=partial(_median, REPLICATES, 5),
        note=FEW,
    ),
    coverage(
        what="hierarchical bootstrap, median",
        data=f"10 launches of {SAMPLES} samples, launch-structured",
        expected=Verdict.SHORT,
        run=partial(_median, MANY, 10),
    ),
    coverage(
        what="hierarchical bootstrap, p95",
        data=f"5 launches of {SAMPLES} samples, launch-structured",
        expected=Verdict.FAILS,
        run=partial(_of_tail, 5),
        note=FEW,
    ),
    coverage(
        what="hierarchical bootstrap, p95",
        data=f"10 launches of {SAMPLES} samples, launch-structured",
        expected=Verdict.FAILS,
        run=partial(_of_tail, 10),
        note="closer, but still short: a tail needs more launches than a mean",
    ),
    coverage(
        what="ratio of p95, arms apart",
        data=f"10 v 10 launches of {SAMPLES} samples, launch-structured",
        expected=Verdict.CAUTIOUS,
        run=partial(_ratio_apart, 10),
    ),
    coverage(
        what="ratio of p95, paired",
        data=f"10 rounds of {SAMPLES} samples, launch-structured, rounds share their level",
        expected=Verdict.CAUTIOUS,
        run=partial(_ratio_paired, 10),
    ),
)

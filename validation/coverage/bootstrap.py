"""Bootstrap intervals, and the interval whose method depends on the number of values."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchgate.stats.bootstrap import Method, bootstrap_interval
from benchgate.stats.intervals import LEAST_BOOTSTRAP, location_interval
from validation import data
from validation.coverage.held import CONFIDENCE, coverage, held
from validation.rates import Verdict

if TYPE_CHECKING:
    import numpy as np

    from benchgate.arrays import BoolArray, FloatArray

REPLICATES = 4_000
MANY = 10_000
RESAMPLES = 1_000


def mean_of(samples: FloatArray) -> FloatArray:
    """Reduce the last axis to its mean."""
    means: FloatArray = samples.mean(axis=-1)
    return means


def _of_mean(method: Method, n: int, replicates: int, rng: np.random.Generator) -> BoolArray:
    values = data.normal(rng, replicates, n)
    return held(
        (
            bootstrap_interval(
                row, mean_of, CONFIDENCE, method=method, seed=seed, resamples=RESAMPLES
            )
            for seed, row in enumerate(values)
        ),
        data.LEVEL,
    )


def _of_location(n: int, replicates: int, rng: np.random.Generator) -> BoolArray:
    values = data.skewed(rng, replicates, n)
    return held(
        (location_interval(row, CONFIDENCE, seed=seed) for seed, row in enumerate(values)),
        data.LEVEL,
    )


ROWS = (
    *(
        coverage(
            what="percentile bootstrap, mean",
            data=f"{n} values, normal",
            expected=Verdict.FAILS,
            run=partial(_of_mean, "percentile", n, REPLICATES),
            known=(rate, 0.005),
            note="so few values do not show how far off the next may be; use t on logs",
        )
        for n, rate in ((3, 0.74), (5, 0.84), (10, 0.90))
    ),
    coverage(
        what="percentile bootstrap, mean",
        data="20 values, normal",
        expected=Verdict.SHORT,
        run=partial(_of_mean, "percentile", 20, REPLICATES),
    ),
    coverage(
        what="BCa bootstrap, mean",
        data="10 values, normal",
        expected=Verdict.FAILS,
        run=partial(_of_mean, "BCa", 10, REPLICATES),
        note="so few values do not show how far off the next may be; use t on logs",
    ),
    coverage(
        what="BCa bootstrap, mean",
        data=f"{LEAST_BOOTSTRAP} values, normal",
        expected=Verdict.SHORT,
        run=partial(_of_mean, "BCa", LEAST_BOOTSTRAP, 2 * REPLICATES),
        note="from this number on, benchgate uses this interval for a location, on logs",
    ),
    *(
        coverage(
            what="interval of a location, t on logs",
            data=f"{n} values, skewed",
            expected=Verdict.HOLDS,
            known=(CONFIDENCE, 0.0),
            run=partial(_of_location, n, MANY),
        )
        for n in (3, 10, LEAST_BOOTSTRAP - 1)
    ),
)

"""The interval of a typical value, by the method that suits the number of values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from benchgate.interval import Interval
from benchgate.stats.bootstrap import bootstrap_interval
from benchgate.stats.checks import LARGEST, require_vector
from benchgate.stats.intervals import log_mean_interval
from benchgate.stats.moments import binary_scaled

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

LEAST_BOOTSTRAP = 30
"""Of fewer values a bootstrap interval is too short."""


def location_interval(values: FloatArray, confidence: float, *, seed: int) -> Interval | None:
    """The interval of the geometric mean: t on logs for n < 30, BCa bootstrap from n = 30.

    Both are of the same quantity, so that the switch moves no estimate. For a nominal 95 % the
    percentile bootstrap of the mean covers 75 % at n = 3, 84 % at 5 and 90 % at 10 (10,000
    simulated samples each, normal). BCa covers 90, 92, 93 and 93 % at n = 10, 15, 20 and 30 of
    lognormal values, for which t on logs covers 95 %; with one value in ten doubled BCa covers 92 %
    at 30 and 96 % at 50, t on logs 90 % (1,000 each). It assumes independent values of one
    distribution.

    Args:
        values: shape (n,), finite, > 0.
        confidence: e.g. 0.95.
        seed: of the bootstrap, >= 0.

    Returns:
        In the unit of the values; its `method` says which it is. None for n = 1, which shows no
        spread; if the greatest value is over 2**1000 times the least; and if the upper end
        is beyond the largest float.

    Raises:
        ValueError: on NaN, infinity, values <= 0, an empty array, another shape, or a seed or
            confidence out of range.
    """
    require_vector("values", values)
    if values.min() <= 0:
        raise ValueError(f"values must be above 0 to have a logarithm, and one is {values.min()}")
    # Scaled by a power of two the logarithms are the same in any unit, to the last bit.
    scaled, exponent = binary_scaled(values)
    if scaled.min() < 1 / LARGEST:
        return None
    if len(values) < LEAST_BOOTSTRAP:
        interval = log_mean_interval(scaled, confidence)
    else:
        interval = _bootstrapped(scaled, confidence, seed)
    return _unscaled(interval, exponent)


def _bootstrapped(values: FloatArray, confidence: float, seed: int) -> Interval | None:
    logs = bootstrap_interval(
        np.log(values), lambda samples: samples.mean(axis=-1), confidence, method="BCa", seed=seed
    )
    if logs is None:
        return None
    # log and exp do not undo each other to the last digit: equal values keep theirs.
    low, high = np.clip(np.exp([logs.low, logs.high]), values.min(), values.max()).tolist()
    return Interval(low, high, confidence, logs.method)


def _unscaled(interval: Interval | None, exponent: int) -> Interval | None:
    if interval is None or math.frexp(interval.high)[1] + exponent > 1024:
        return None
    low, high = math.ldexp(interval.low, exponent), math.ldexp(interval.high, exponent)
    return Interval(low, high, interval.confidence, interval.method)

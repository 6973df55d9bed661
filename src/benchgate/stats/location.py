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
"""With fewer values, a bootstrap interval is too short."""


def location_interval(values: FloatArray, confidence: float, *, seed: int) -> Interval | None:
    """Return the interval of the geometric mean: t on logs for n < 30, BCa bootstrap from n = 30.

    Both methods estimate the same quantity, so the estimate does not jump at n = 30. Simulated
    coverage of a nominal 95 %, for independent values of one distribution:

    - normal (10,000 samples each): the percentile bootstrap of the mean covers 75, 84 and 90 %
      at n = 3, 5 and 10.
    - lognormal (1,000): BCa covers 90, 92, 93 and 93 % at n = 10, 15, 20 and 30; t on logs 95 %.
    - one value in ten doubled (1,000): BCa covers 92 % at n = 30 and 96 % at 50; t on logs 90 %.

    Args:
        values: shape (n,), finite, > 0.
        confidence: e.g. 0.95.
        seed: of the bootstrap, >= 0.

    Returns:
        In the unit of the values; its `method` names the method. None if n = 1, if the greatest
        value is over 2**1000 times the least, and if the upper end is beyond the largest float.

    Raises:
        ValueError: on NaN, infinity, values <= 0, no value, another shape, or another argument
            out of range.
    """
    require_vector("values", values)
    if values.min() <= 0:
        raise ValueError(f"values must be above 0 to have a logarithm, and one is {values.min()}")
    # After scaling by a power of two, the logarithms are the same in any unit, to the last bit.
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
    # exp(log(x)) may differ from x in the last digit; equal values keep theirs.
    low, high = np.clip(np.exp([logs.low, logs.high]), values.min(), values.max()).tolist()
    return Interval(low, high, confidence, logs.method)


def _unscaled(interval: Interval | None, exponent: int) -> Interval | None:
    if interval is None or math.frexp(interval.high)[1] + exponent > 1024:
        return None
    low, high = math.ldexp(interval.low, exponent), math.ldexp(interval.high, exponent)
    return Interval(low, high, interval.confidence, interval.method)

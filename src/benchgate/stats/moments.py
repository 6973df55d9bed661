"""Mean and spread of samples, computed without overflow."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_vector

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray


_LARGEST_LOG = math.log(sys.float_info.max)


def binary_scaled(values: FloatArray) -> tuple[FloatArray, int]:
    """Divide by 2**exponent, the least power of two above every magnitude.

    The division is exact, except for values that are more than 2**1021 times smaller than the
    greatest. They lose their last bits, as they would in any sum with the greatest.

    Args:
        values: any shape, finite, at least one value.

    Returns:
        The values within (-1, 1), and the exponent: `math.ldexp(scaled, exponent)` undoes it.
    """
    exponent = int(np.frexp(np.abs(values).max())[1])
    return np.ldexp(values, -exponent), exponent


def finite_exp(log: float) -> float:
    """Return exp(log), or the largest float if that is smaller."""
    return math.exp(log) if log < _LARGEST_LOG else sys.float_info.max


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and spread of one sample, in the unit of the data except for `n` and `cv`.

    Attributes:
        n: how many values.
        mean: arithmetic mean, never outside the range of the values.
        sd: standard deviation, ddof = 1, exactly 0 for equal values; None for n = 1.
        sem: standard error of the mean, sd / sqrt(n), right for independent values; None for
            n = 1.
        cv: coefficient of variation, sd / mean, a fraction; None for n = 1, and if the mean is 0
            or too close to 0 for a finite ratio.
        notes: why a value is None.
    """

    n: int
    mean: float
    sd: float | None
    sem: float | None
    cv: float | None
    notes: tuple[str, ...]


def moments(values: FloatArray) -> Moments:
    """Compute mean, standard deviation, standard error and coefficient of variation.

    Args:
        values: shape (n,), finite.

    Raises:
        ValueError: on NaN, infinity, an empty array or another shape.
    """
    require_vector("values", values)
    scaled, exponent = binary_scaled(values)
    n, center = len(values), _mean(scaled)
    mean = math.ldexp(center, exponent)
    if n == 1:
        return Moments(n, mean, None, None, None, ("one value: no spread; take at least 2",))
    sd = math.sqrt(np.square(deviations(scaled)).sum() / (n - 1))
    cv = sd / center if mean else math.inf
    return Moments(
        n=n,
        mean=mean,
        sd=math.ldexp(sd, exponent),
        sem=math.ldexp(sd / math.sqrt(n), exponent),
        cv=cv if math.isfinite(cv) else None,
        notes=() if math.isfinite(cv) else ("a mean of 0: no coefficient of variation",),
    )


def deviations(values: FloatArray) -> FloatArray:
    """Subtract the mean, so that equal values give exactly 0.

    A second pass removes the rounding error of the mean, which matters if values differ only in
    their last digits (Chan, Golub and LeVeque, 1983).

    Args:
        values: shape (n,), finite, n >= 1, of magnitudes that need no scaling.

    Returns:
        Shape (n,), in the unit of `values`.
    """
    rough = values - _mean(values)
    centered: FloatArray = rough - rough.mean()
    return centered


def _mean(values: FloatArray) -> float:
    # A rounding error must not move the mean of nearly equal values out of their range.
    return float(np.clip(values.mean(), values.min(), values.max()))

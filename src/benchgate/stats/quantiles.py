"""Nearest-rank quantiles: always values that were measured."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_finite

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray


def nearest_rank(values: FloatArray, p: float) -> FloatArray:
    """Return the p-quantile along the last axis: the ceil(p * n)-th of n ascending values.

    Args:
        values: shape (..., n), n >= 1, finite.
        p: a fraction from 0 (the minimum) to 1 (the maximum).

    Returns:
        Shape (...), in the unit of `values`. Hyndman and Fan's definition 1 (1996).

    Raises:
        ValueError: on NaN, infinity, an empty or zero-dimensional array, or p outside [0, 1].
    """
    if values.ndim == 0:
        raise ValueError("values must have at least one axis")
    require_finite("values", values)
    k = quantile_rank(values.shape[-1], p) - 1
    quantile: FloatArray = np.partition(values, k, axis=-1)[..., k]
    return quantile


def small_sample_note(n: int, p: float) -> str | None:
    """Return a note if n values are too few to tell their p-quantile from the maximum, else None.

    That is n < 20 for p95, n < 100 for p99, n < 1000 for p99.9.
    """
    return "equals the maximum" if quantile_rank(n, p) == n else None


def quantile_rank(n: int, p: float) -> int:
    """Return the position of the p-quantile among n ascending values, counted from 1: ceil(p n).

    Raises:
        ValueError: on p outside [0, 1].
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must be a fraction from 0 to 1, and is {p}")
    # A product such as (99.9 / 100) * 1000 is a rounding error above its true whole number.
    return max(1, math.ceil(p * n * (1 - 1e-12)))

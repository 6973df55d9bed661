"""Checks the input of every function of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray, IntArray

LARGEST = 2.0**1000
"""No magnitude beyond it is taken: sums and differences of what is measured stay finite."""


def require_finite(name: str, values: FloatArray) -> None:
    """Raise ValueError unless `values` has at least one value, no NaN, infinity, or giant.

    A giant is beyond 2**1000, about 1e301, in magnitude.
    """
    if values.size == 0:
        raise ValueError(f"{name} is empty: shape {values.shape}")
    if not np.isfinite(values).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise ValueError(f"{name} must be finite, and is {values[place]} at {place}")
    if np.abs(values).max() > LARGEST:
        raise ValueError(f"{name} must be within 2**1000, and reaches {np.abs(values).max()}")


def require_vector(name: str, values: FloatArray) -> None:
    """Raise ValueError unless `values` has shape (n,), n >= 1, and is finite."""
    if values.ndim != 1:
        raise ValueError(f"{name} must have shape (n,), and has {values.shape}")
    require_finite(name, values)


def require_whole_numbers(name: str, values: IntArray) -> None:
    """Raise ValueError unless `values` has shape (n,), n >= 0, and holds int64."""
    if values.ndim != 1 or values.dtype != np.int64:
        found = f"{values.dtype} of shape {values.shape}"
        raise ValueError(f"{name} must be int64 of shape (n,), and are {found}")


def require_rows(name: str, values: FloatArray) -> None:
    """Raise ValueError unless `values` has shape (m, n), m and n >= 1, and is finite."""
    if values.ndim != 2:
        raise ValueError(f"{name} must have shape (benchmarks, launches), and has {values.shape}")
    require_finite(name, values)


def require_two_arms(x: FloatArray, y: FloatArray) -> None:
    """Raise ValueError unless x is (m, n1) and y is (m, n2), both finite."""
    require_rows("x", x)
    require_rows("y", y)
    if len(x) != len(y):
        raise ValueError(f"x and y must have one row per benchmark: {len(x)} and {len(y)} rows")


def require_fraction(name: str, value: float) -> None:
    """Raise ValueError unless 0 < value < 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, both excluded, and is {value}")

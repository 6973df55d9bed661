"""Many tests at once: p adjusted so that the family keeps its false-alarm rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_vector

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray


def holm(p: FloatArray) -> FloatArray:
    """Holm's step-down adjustment (1979); it holds however the tests depend on each other.

    Args:
        p: shape (k,), k >= 1, each from 0 to 1.

    Returns:
        Shape (k,), in the order of `p`: rejecting if it is <= alpha keeps the chance of any
        false rejection in the family at or below alpha.

    Raises:
        ValueError: on NaN, values outside [0, 1], an empty array or another shape.
    """
    _require_p(p)
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    """Benjamini and Hochberg's step-up adjustment (1995), for tests that are independent.

    It also holds if tests depend on each other positively (Benjamini and Yekutieli, 2001).

    Args:
        p: shape (k,), k >= 1, each from 0 to 1.

    Returns:
        Shape (k,), in the order of `p`: rejecting if it is <= q keeps the expected share of
        false rejections among all rejections at or below q. Never above `holm`.

    Raises:
        ValueError: on NaN, values outside [0, 1], an empty array or another shape.
    """
    _require_p(p)
    order = np.argsort(p)[::-1]
    # k / rank first: the greatest p stays as it is, to the last digit.
    stepped = np.minimum.accumulate(p[order] * (len(p) / np.arange(len(p), 0, -1)))
    adjusted = np.empty(len(p))
    adjusted[order] = stepped
    return adjusted


def _require_p(p: FloatArray) -> None:
    require_vector("p", p)
    if p.min() < 0 or p.max() > 1:
        raise ValueError("p must lie between 0 and 1")

"""Adjusts the p-values of many tests, so that together they keep their false-alarm rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_vector

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray


def holm(p: FloatArray) -> FloatArray:
    """Adjust p-values by Holm's step-down procedure (1979), valid under any dependence.

    Args:
        p: shape (k,), k >= 1, each from 0 to 1.

    Returns:
        Shape (k,), in the order of `p`. If every test with an adjusted p <= alpha is rejected,
        the chance of any false rejection among the k tests is at most alpha.

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
    """Adjust p-values by Benjamini and Hochberg's step-up procedure (1995).

    It is valid for independent tests, and for tests that depend on each other positively
    (Benjamini and Yekutieli, 2001).

    Args:
        p: shape (k,), k >= 1, each from 0 to 1.

    Returns:
        Shape (k,), in the order of `p`, never above `holm`. If every test with an adjusted p <= q
        is rejected, on average at most a share q of the rejections is false.

    Raises:
        ValueError: on NaN, values outside [0, 1], an empty array or another shape.
    """
    _require_p(p)
    order = np.argsort(p)[::-1]
    # Dividing first leaves the greatest p unchanged, to the last digit.
    stepped = np.minimum.accumulate(p[order] * (len(p) / np.arange(len(p), 0, -1)))
    adjusted = np.empty(len(p))
    adjusted[order] = stepped
    return adjusted


def _require_p(p: FloatArray) -> None:
    require_vector("p", p)
    if p.min() < 0 or p.max() > 1:
        raise ValueError("p must lie between 0 and 1")

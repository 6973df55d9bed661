"""Ratios of launches that were measured in turn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.midranks import doubled_midranks
from benchgate.stats.spread import nearest_rank

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray


_KEPT_PAIRS = 0.75


def ratios_in_turn(base: FloatArray, head: FloatArray) -> FloatArray:
    """Return log(head / base) of launches whose samples were taken in turn, shape (m,).

    Two estimates are weighted: the ratio of p25 for samples that vary by themselves, and the median
    ratio of the pairs of samples, without the slowest quarter of them, for a machine whose speed
    changes. If it does, the samples of both sides rise and fall together: the weight of the pairs
    is twice Spearman's rank correlation, within 0 and 1.

    Swapping base and head changes nothing but the sign.

    Args:
        base, head: shape (m, n), times > 0; the same place is a pair.
    """
    before, after = np.log(base), np.log(head)
    kept = math.ceil(_KEPT_PAIRS * before.shape[1])
    fastest = np.argsort(before + after, axis=1, kind="stable")[:, :kept]
    of_pairs = np.median(np.take_along_axis(after - before, fastest, 1), axis=1)
    of_p25 = nearest_rank(after, 0.25) - nearest_rank(before, 0.25)
    weights = np.clip(2 * _rank_correlations(before, after), 0, 1)
    ratios: FloatArray = weights * of_pairs + (1 - weights) * of_p25
    return ratios


def _rank_correlations(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Spearman's rank correlation of each row, shape (m,); 0 if a side does not vary."""
    mean_rank = x.shape[1] + 1.0  # the products of whole numbers would overflow
    u, v = (doubled_midranks(values) - mean_rank for values in (x, y))
    scale = np.sqrt(np.sum(u * u, axis=1) * np.sum(v * v, axis=1))
    correlations: FloatArray = np.sum(u * v, axis=1) / np.maximum(scale, 1)
    return correlations


MOST_COUNTED = 1000
"""Nobody takes more launches, so a larger number is not worth computing."""

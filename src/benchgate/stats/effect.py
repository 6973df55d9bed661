"""Measures how large a difference is, in addition to whether there is one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_vector
from benchgate.stats.moments import moments
from benchgate.stats.ranks import doubled_midranks
from benchgate.stats.ttest import pooled_sd

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

# Romano, Kromrey, Coraggio and Skowronek (2006), from Cohen's d of 0.2, 0.5 and 0.8.
_MAGNITUDES = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"), (math.inf, "large"))


@dataclass(frozen=True, slots=True)
class EffectSize:
    """How far y (the head) is from x (the base); positive if the head is greater.

    Attributes:
        cliffs_delta: P(y > x) - P(y < x) over all pairs of values, from -1 to 1.
        vargha_delaney_a: P(y > x) + P(y = x) / 2, from 0 to 1: (delta + 1) / 2.
        cohens_d: difference of the means in pooled standard deviations; None if there is no
            spread, and for one value in an arm.
        hedges_g: d, corrected for its bias in small samples; None if d is None.
        magnitude: of delta: "negligible" below 0.147, "small" below 0.33, "medium" below
            0.474, otherwise "large".
        notes: why a value is None.
    """

    cliffs_delta: float
    vargha_delaney_a: float
    cohens_d: float | None
    hedges_g: float | None
    magnitude: str
    notes: tuple[str, ...]


def effect_size(x: FloatArray, y: FloatArray) -> EffectSize:
    """Compute effect sizes by ranks (Cliff, 1993; Vargha and Delaney, 2000) and by moments.

    d = (mean y - mean x) / s with s^2 = ((n1 - 1) s1^2 + (n2 - 1) s2^2) / (n1 + n2 - 2)
    (Cohen, 1988), and g = d (1 - 3 / (4 (n1 + n2) - 9)) (Hedges and Olkin, 1985).

    Args:
        x: shape (n1,), finite.
        y: shape (n2,), finite.

    Raises:
        ValueError: on NaN, infinity, empty arrays or other shapes.
    """
    require_vector("x", x)
    require_vector("y", y)
    n1, n2 = len(x), len(y)
    ranks = doubled_midranks(np.concatenate([x, y])[np.newaxis])[0]
    # Twice the pairs in which y is above x, ties counted half. Doubled, they are whole numbers.
    doubled_u = int(ranks[n1:].sum()) - n2 * (n2 + 1)
    delta = (doubled_u - n1 * n2) / (n1 * n2)
    d, notes = _cohens_d(x, y)
    return EffectSize(
        cliffs_delta=delta,
        vargha_delaney_a=doubled_u / (2 * n1 * n2),
        cohens_d=d,
        hedges_g=None if d is None else d * (1 - 3 / (4 * (n1 + n2) - 9)),
        magnitude=next(name for limit, name in _MAGNITUDES if abs(delta) < limit),
        notes=notes,
    )


def _cohens_d(x: FloatArray, y: FloatArray) -> tuple[float | None, tuple[str, ...]]:
    base, head = moments(x), moments(y)
    if base.sd is None or head.sd is None:
        return None, ("one launch: d and g need a spread; take at least 2 of each side",)
    sd = pooled_sd(base.sd, base.n, head.sd, head.n)
    d = (head.mean - base.mean) / sd if sd else math.inf
    if not math.isfinite(d):
        return None, ("no spread within the sides: d and g do not exist; delta shows the order",)
    return d, ()

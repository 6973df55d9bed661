"""Results made of given samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.model.metrics import Kind, Metric

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

TIME = Metric("time", "s")
COUNT = Metric("alloc_blocks", "", kind=Kind.EXACT)


def noisy_launches(
    seed: int, launches: int, samples: int, *, between: float, within: float
) -> list[FloatArray]:
    """Times around 1 ms: standard deviations as fractions, of launches and of their samples."""
    rng = np.random.default_rng(seed)
    levels = 1e-3 * np.exp(rng.normal(0, between, launches))
    return [level * np.exp(rng.normal(0, within, samples)) for level in levels]

"""The data that the simulations draw: samples whose truth is known. Fractions are of the level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.signal import lfilter

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray

LEVEL = 100.0
SPREAD = 0.1

# Launches of one program look like this: they differ more than their samples suggest.
BETWEEN = 0.02
WITHIN = 0.03


def normal(rng: np.random.Generator, m: int, n: int) -> FloatArray:
    """Shape (m, n), mean LEVEL, standard deviation SPREAD * LEVEL."""
    return rng.normal(LEVEL, SPREAD * LEVEL, size=(m, n))


def skewed(rng: np.random.Generator, m: int, n: int) -> FloatArray:
    """Shape (m, n), lognormal with sigma 1: median LEVEL, mean LEVEL * exp(1/2)."""
    return LEVEL * rng.lognormal(size=(m, n))


def heavy(rng: np.random.Generator, m: int, n: int) -> FloatArray:
    """Shape (m, n), Student's t with 3 degrees of freedom about LEVEL."""
    return LEVEL * (1 + SPREAD * rng.standard_t(3, size=(m, n)))


def autocorrelated(
    rng: np.random.Generator, m: int, n: int, coefficient: float = 0.5
) -> FloatArray:
    """Shape (m, n), a stationary autoregression of order 1 with mean LEVEL."""
    steps = rng.standard_normal((m, n))
    steps[:, 0] /= np.sqrt(1 - coefficient**2)
    return LEVEL * (1 + SPREAD * lfilter([1.0], [1.0, -coefficient], steps, axis=1))


def launches(
    rng: np.random.Generator,
    m: int,
    count: int,
    samples: int,
    *,
    between: float = BETWEEN,
    within: float = WITHIN,
) -> FloatArray:
    """Shape (m, count, samples): a level for each launch and noise about it, normal on the logs."""
    level = rng.normal(0, between, size=(m, count, 1))
    return LEVEL * np.exp(level + rng.normal(0, within, size=(m, count, samples)))


def rounds(
    rng: np.random.Generator, m: int, count: int, samples: int, between: float = 0.005
) -> tuple[FloatArray, FloatArray]:
    """Launches of two arms whose rounds share their level: each arm adds a little of its own."""
    level = np.exp(rng.normal(0, BETWEEN, size=(m, count, 1)))
    base, head = (level * launches(rng, m, count, samples, between=between) for _ in range(2))
    return base, head

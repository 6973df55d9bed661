"""Series whose change points are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchgate.arrays import FloatArray

    Noise = Callable[[np.random.Generator, int], FloatArray]

# A robust standard deviation of 1 % of the level, as of a quiet machine.
_SD_RATIO = 0.01


def _normal(rng: np.random.Generator, n: int) -> FloatArray:
    return rng.normal(size=n)


def _with_outliers(rng: np.random.Generator, n: int) -> FloatArray:
    noise = rng.normal(size=n)
    far = rng.random(n) < 0.02
    noise[far] += rng.uniform(5, 30, size=far.sum())
    return noise


def _heavy(rng: np.random.Generator, n: int) -> FloatArray:
    return rng.standard_t(2, size=n)


def _two_levels(rng: np.random.Generator, n: int) -> FloatArray:
    return rng.normal(size=n) / 2 + 2 * (rng.random(n) < 0.3)


def _autocorrelated(rng: np.random.Generator, n: int) -> FloatArray:
    noise = rng.normal(size=n)
    for index in range(1, n):
        noise[index] = 0.3 * noise[index - 1] + (1 - 0.3**2) ** 0.5 * noise[index]
    return noise


NOISES: dict[str, Noise] = {
    "normal": _normal,
    "2 % outliers": _with_outliers,
    "t with 2 df": _heavy,
    "two levels": _two_levels,
    "autocorrelated, 0.3": _autocorrelated,
}


@dataclass(frozen=True, slots=True)
class Known:
    """One series.

    Attributes:
        values: shape (n,).
        changes: indices of the first values after each change.
    """

    values: FloatArray
    changes: tuple[int, ...]


def unchanged(noise: str, n: int, count: int) -> Iterator[Known]:
    """Series in which nothing changes."""
    for seed in range(count):
        rng = np.random.default_rng([seed, n])
        yield Known(_level(NOISES[noise](rng, n), np.zeros(n)), ())


def changed(noise: str, changes: dict[int, float], n: int, count: int) -> Iterator[Known]:
    """Series that move at the given places.

    Args:
        changes: by how many standard deviations of normal noise, by the place.
    """
    steps = np.zeros(n)
    for place, size in changes.items():
        steps[place:] += size
    for seed in range(count):
        rng = np.random.default_rng([seed, n])
        yield Known(_level(NOISES[noise](rng, n), steps), tuple(changes))


def _level(noise: FloatArray, steps: FloatArray) -> FloatArray:
    return 100.0 * np.exp(_SD_RATIO * (noise + steps))

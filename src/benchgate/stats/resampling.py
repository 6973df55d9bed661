"""Draws launches with replacement, and samples within each drawn launch.

A draw stores sorted positions among all measured values, so that its quantiles can be read off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from benchgate.stats.checks import require_vector
from benchgate.stats.quantiles import quantile_rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from benchgate.arrays import FloatArray, IntArray

Ranks: TypeAlias = "NDArray[np.unsignedinteger[Any]]"

RESAMPLES = 10_000

# How many samples are drawn at once: few enough that all arrays made from them fit into a cache.
_BLOCK = 1 << 17
_AFFORDABLE = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """A draw of m resamples.

    Attributes:
        values: shape (k,), the distinct values that were measured, ascending.
        ranks: shape (m, n), positions in `values`, ascending in each row. A resample of fewer
            than n samples is filled up with k.
        sizes: shape (m,), how many samples each resample has.
    """

    values: FloatArray
    ranks: Ranks
    sizes: IntArray

    def quantile(self, p: float) -> FloatArray:
        """Return the nearest-rank p-quantile of each resample, shape (m,)."""
        sizes, which = np.unique(self.sizes, return_inverse=True)
        places = np.array([quantile_rank(n, p) - 1 for n in sizes.tolist()])[which]
        quantile: FloatArray = self.values[self.ranks[np.arange(len(places)), places]]
        return quantile


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The samples of one or more launches, side by side.

    Attributes:
        values: shape (k,), the distinct values, ascending.
        ranks: shape (n,), the position of each sample in `values`, launch after launch.
        starts: shape (launches,), the first sample of each launch in `ranks`.
        sizes: shape (launches,), how many samples each launch has.
    """

    values: FloatArray
    ranks: Ranks
    starts: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, name: str, launches: Sequence[FloatArray]) -> Pool:
        """Pool the launches.

        Args:
            name: what messages call the launches.
            launches: of shapes (n_1,), (n_2,), ..., each n_i >= 1, finite.

        Raises:
            ValueError: on NaN, infinity, no launch, an empty launch or another shape.
        """
        if not launches:
            raise ValueError(f"{name} is empty: at least 1 launch is needed")
        for k, launch in enumerate(launches):
            require_vector(f"{name}[{k}]", launch)
        values, ranks = np.unique(np.concatenate(launches), return_inverse=True)
        sizes = np.array([len(launch) for launch in launches])
        # NumPy sorts integers of up to 16 bits by radix, in linear time.
        narrow = ranks.astype(np.min_scalar_type(len(values)))
        return cls(values, narrow, np.cumsum(sizes) - sizes, sizes)

    @property
    def most_drawn(self) -> int:
        """The most samples that a resample of the same number of launches can have."""
        return len(self.sizes) * int(self.sizes.max())

    def draw(self, launches: IntArray, rng: np.random.Generator) -> Draw:
        """Draw from each named launch as many samples as it has, with replacement.

        Args:
            launches: shape (m, l), the l launches of each of m resamples.
            rng: source of the draws.
        """
        sizes = self.sizes[launches][:, :, np.newaxis]
        most = int(self.sizes.max())
        # The product stays below the size, even if it is rounded.
        places = (rng.random((*launches.shape, most)) * sizes).astype(np.int64)
        places += self.starts[launches][:, :, np.newaxis]
        ranks = self.ranks[places]
        if self.sizes.min() < most:
            ranks[np.arange(most) >= sizes] = len(self.values)
        ranks = ranks.reshape(len(launches), -1)
        ranks.sort(axis=1, kind="stable")
        return Draw(self.values, ranks, sizes.sum(axis=(1, 2)))


def affordable_resamples(samples: int) -> int:
    """Return how many resamples of this many samples take 50 ms: from 1,000 to 10,000."""
    return min(RESAMPLES, max(RESAMPLES // 10, _AFFORDABLE // samples))


def blocks(resamples: int, per_resample: int) -> Iterator[slice]:
    """Split the resamples into slices, so that each needs a limited amount of memory.

    Raises:
        ValueError: on resamples < 1.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, and is {resamples}")
    step = max(1, _BLOCK // per_resample)
    return (slice(start, min(start + step, resamples)) for start in range(0, resamples, step))


def generator(seed: int) -> np.random.Generator:
    """Return PCG64 seeded with `seed`, even if NumPy changes its default generator.

    Raises:
        ValueError: on a negative seed.
    """
    return np.random.Generator(np.random.PCG64(seed))

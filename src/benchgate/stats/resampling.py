"""Draws with replacement: launches, and samples within each launch drawn.

A draw is kept as ranks among all values measured, in ascending order, so that quantiles are read
off.
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

# How many samples are drawn at once: small enough that all that is made of them stays in a cache.
_BLOCK = 1 << 17
_AFFORDABLE = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """m resamples.

    Attributes:
        values: shape (k,), the distinct values that were measured, ascending.
        ranks: shape (m, n), places in `values`, ascending in each row. A resample of fewer than
            n samples ends in the place k.
        sizes: shape (m,), how many samples each resample has.
    """

    values: FloatArray
    ranks: Ranks
    sizes: IntArray

    def quantile(self, p: float) -> FloatArray:
        """The nearest-rank p-quantile of each resample, shape (m,)."""
        sizes, which = np.unique(self.sizes, return_inverse=True)
        places = np.array([quantile_rank(n, p) - 1 for n in sizes.tolist()])[which]
        quantile: FloatArray = self.values[self.ranks[np.arange(len(places)), places]]
        return quantile


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The samples of one or more launches, side by side.

    Attributes:
        values: shape (k,), the distinct values, ascending.
        ranks: shape (n,), the place in `values` of each sample, launch after launch.
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
            name: of the launches, in messages.
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
        # Up to 16 bits NumPy sorts by radix, in time that is linear.
        narrow = ranks.astype(np.min_scalar_type(len(values)))
        return cls(values, narrow, np.cumsum(sizes) - sizes, sizes)

    @property
    def most_drawn(self) -> int:
        """The most samples that a resample of as many launches can have."""
        return len(self.sizes) * int(self.sizes.max())

    def draw(self, launches: IntArray, rng: np.random.Generator) -> Draw:
        """Draw from each launch that is named as many samples as it has, with replacement.

        Args:
            launches: shape (m, l), the l launches of each of m resamples.
            rng: source of the draws.
        """
        sizes = self.sizes[launches][:, :, np.newaxis]
        most = int(self.sizes.max())
        # The product stays below the size, also if it is rounded.
        places = (rng.random((*launches.shape, most)) * sizes).astype(np.int64)
        places += self.starts[launches][:, :, np.newaxis]
        ranks = self.ranks[places]
        if self.sizes.min() < most:
            ranks[np.arange(most) >= sizes] = len(self.values)
        ranks = ranks.reshape(len(launches), -1)
        ranks.sort(axis=1, kind="stable")
        return Draw(self.values, ranks, sizes.sum(axis=(1, 2)))


def affordable_resamples(samples: int) -> int:
    """How many resamples of so many samples take 50 ms: from 1,000 to 10,000."""
    return min(RESAMPLES, max(RESAMPLES // 10, _AFFORDABLE // samples))


def blocks(resamples: int, per_resample: int) -> Iterator[slice]:
    """Split the resamples so that the memory which a block takes is bounded.

    Raises:
        ValueError: on resamples < 1.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, and is {resamples}")
    step = max(1, _BLOCK // per_resample)
    return (slice(start, min(start + step, resamples)) for start in range(0, resamples, step))


def generator(seed: int) -> np.random.Generator:
    """PCG64 seeded with `seed`, whatever NumPy's default becomes.

    Raises:
        ValueError: on a negative seed.
    """
    return np.random.Generator(np.random.PCG64(seed))

"""Draws resamples of samples that come in launches.

A draw stores sorted positions among all measured values, so that its quantiles can be read off. If
launches have thousands of samples, it draws only how many of them lie below a value: a binomial
number for each launch, which halves the range of a quantile at each step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from benchgate.stats.checks import require_vector
from benchgate.stats.spread import quantile_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from benchgate.arrays import FloatArray, IntArray


Ranks: TypeAlias = "NDArray[np.unsignedinteger[Any]]"

RESAMPLES = 10_000
_AFFORDABLE = 4_000_000
# Resamples with more samples are counted: to draw the samples of the fewest would take longer.
_MOST_DRAWN = 10 * _AFFORDABLE // RESAMPLES


@dataclass(frozen=True, slots=True, eq=False)
class ResampleDraw:
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
class CountedDraw:
    """A draw of m resamples with too many samples to draw each.

    Attributes:
        launches: shape (m, l), the l launches of each resample.
        seed: of the counts; every quantile is drawn from it.
    """

    pool: Pool
    launches: IntArray
    seed: int

    def quantile(self, p: float) -> FloatArray:
        """Draw the nearest-rank p-quantile of each resample, shape (m,).

        Of the samples that lie within a range of values, those in its lower half are binomial. The
        half that holds the quantile is the next range, until it is a single value.
        """
        rng, below_in = generator(self.seed), self.pool.counts()
        within = self.pool.sizes[self.launches]
        rank = np.array([quantile_rank(n, p) for n in within.sum(axis=1).tolist()])
        low = np.zeros(len(rank), dtype=np.int64)
        high = np.full(len(rank), len(self.pool.values))
        below_low, below_high = np.zeros_like(within), within
        while (high - low > 1).any():
            middle = (low + high) // 2
            below = below_in(self.launches, middle)
            share = (below - below_low) / np.maximum(1, below_high - below_low)
            lower = rng.binomial(within, share)
            is_lower = rank <= lower.sum(axis=1)
            rank = np.where(is_lower, rank, rank - lower.sum(axis=1))
            low, high = np.where(is_lower, low, middle), np.where(is_lower, middle, high)
            column = is_lower[:, np.newaxis]
            within = np.where(column, lower, within - lower)
            below_low = np.where(column, below_low, below)
            below_high = np.where(column, below, below_high)
        quantile: FloatArray = self.pool.values[low]
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
        """The most numbers that `resample` draws for as many launches as these."""
        return len(self.sizes) if self._is_counted else self._most_samples

    @property
    def _most_samples(self) -> int:
        return len(self.sizes) * int(self.sizes.max())

    @property
    def _is_counted(self) -> bool:
        return self._most_samples > _MOST_DRAWN

    def counts(self) -> Callable[[IntArray, IntArray], IntArray]:
        """Return a function that counts the samples of launches, shape (m, l), below values.

        The values are given as their positions in `values`, one for each row.
        """
        stride = len(self.values) + 1
        of_launch = np.repeat(np.arange(len(self.sizes)), self.sizes)
        places = np.sort(of_launch * stride + self.ranks)

        def count(launches: IntArray, value: IntArray) -> IntArray:
            wanted = launches * stride + value[:, np.newaxis]
            return np.searchsorted(places, wanted) - self.starts[launches]

        return count

    def resample(self, launches: IntArray, rng: np.random.Generator) -> ResampleDraw | CountedDraw:
        """Draw as `draw` does, or only count what is too much to draw, for quantiles."""
        if self._is_counted:
            return CountedDraw(self, launches, int(rng.integers(2**63)))
        return self.draw(launches, rng)

    def draw(self, launches: IntArray, rng: np.random.Generator) -> ResampleDraw:
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
        return ResampleDraw(self.values, ranks, sizes.sum(axis=(1, 2)))


def affordable_resamples(samples: int) -> int:
    """Return how many resamples of this many samples take 50 ms: from 1,000 to 10,000."""
    return min(RESAMPLES, max(RESAMPLES // 10, _AFFORDABLE // samples))


def generator(seed: int) -> np.random.Generator:
    """Return PCG64 seeded with `seed`, even if NumPy changes its default generator."""
    return np.random.Generator(np.random.PCG64(seed))

"""A bounded sample of values as they come, each of them equally likely."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from benchgate.stats.checks import require_whole_numbers

if TYPE_CHECKING:
    from random import Random

    from benchgate.arrays import BoolArray, IntArray


# How many values `record_many` takes at once, and how many are worth the start of NumPy.
_SAMPLED_BLOCK = 2**12
_WORTHWHILE = 64
# The generator gives whole words of so many bits.
_WORD_BITS = 32


class Reservoir:
    """Keeps a random sample of a stream: each set of values is equally likely to be kept.

    Algorithm R (Vitter, 1985): the first values fill the slots. Each later one, the n-th of the
    stream, draws a whole number below n, and takes the slot of that number if there is one.

    It takes 8 bytes per slot and less than 300 bytes more. It is for one thread; merge the
    reservoirs of several.

    Args:
        rng: source of the draws, which nothing else should use. The same seed and stream give the
            same sample.
        capacity: slots, >= 1.
    """

    __slots__ = ("_count", "_rng", "_slots")

    def __init__(self, rng: Random, capacity: int = 10_000) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1 slot, and is {capacity}")
        self._rng = rng
        self._slots = array("q", [0]) * capacity
        self._count = 0

    @property
    def count(self) -> int:
        """How many values were recorded, kept or not."""
        return self._count

    def values(self) -> IntArray:
        """Copy the kept values, in no particular order, into shape (min(count, capacity),)."""
        return np.array(self._slots[: self._count], dtype=np.int64)

    def record(self, value: int) -> None:
        """Record one value of the stream: a whole number of 64 bits, in any unit."""
        slot = self._count
        if slot >= len(self._slots):
            slot = self._rng.randrange(self._count + 1)
        if slot < len(self._slots):
            self._slots[slot] = value
        self._count += 1

    def record_many(self, values: IntArray) -> None:
        """Record many values of the stream, as `record` does with each.

        Args:
            values: shape (n,); n may be 0.
        """
        require_whole_numbers("values", values)
        start = 0
        while start < len(values):
            block = values[start : start + _SAMPLED_BLOCK]
            # As long as their count has so many bits, each draw takes the top bits of one word.
            bits = (self._count + 1).bit_length()
            block = block[: (1 << bits) - 1 - self._count]
            full = self._count >= len(self._slots)
            start += len(block)
            if full and bits <= _WORD_BITS:
                block = self._replace(block, bits)
            for value in block.tolist():
                self.record(value)

    def _replace(self, values: IntArray, bits: int) -> IntArray:
        """Record values until few are left, and return those.

        Each draws as `Random.randrange` does: again as long as the number is too large. A value
        needs at least one word, so drawing as many words as values are left never takes one too
        many, and the generator ends in the state that single draws leave.
        """
        slots = np.frombuffer(self._slots, dtype=np.int64)
        while len(values) >= _WORTHWHILE:
            words = self._rng.getrandbits(_WORD_BITS * len(values))
            drawn = np.frombuffer(words.to_bytes(4 * len(values), "little"), dtype="<u4")
            drawn = (drawn >> (_WORD_BITS - bits)).astype(np.int64)
            drawn = drawn[_accepted(drawn, self._count)]
            kept = drawn < len(slots)
            slots[drawn[kept]] = values[: len(drawn)][kept]
            self._count += len(drawn)
            values = values[len(drawn) :]
        return values

    def merge(self, other: Reservoir) -> None:
        """Make this a random sample of both streams, as if all had been recorded here.

        For each slot, it chooses one of the two streams, in proportion to their values that are not
        drawn yet, and then one of the values that its reservoir kept, without replacement.
        """
        capacity = len(self._slots)
        if len(other._slots) != capacity:
            slots = f"{capacity} and {len(other._slots)}"
            raise ValueError(f"only reservoirs of one capacity can be merged, and have {slots}")
        if other._count == 0:
            return
        counts = [self._count, other._count]
        kept = [self._shuffled(self), self._shuffled(other)]
        origins = self._rng.sample(range(2), min(sum(counts), capacity), counts=counts)
        for slot, origin in enumerate(origins):
            self._slots[slot] = kept[origin].pop()
        self._count = sum(counts)

    def _shuffled(self, reservoir: Reservoir) -> list[int]:
        kept: list[int] = reservoir.values().tolist()
        self._rng.shuffle(kept)
        return kept


def _accepted(drawn: IntArray, count: int) -> BoolArray:
    """Which numbers are below the bound of their draw, which grows with each accepted one.

    Args:
        count: values before the first draw, whose bound is count + 1.
    """
    accepted: BoolArray = drawn <= count
    before = accepted.cumsum()
    more = 0
    for place in (~accepted & (drawn < count + len(drawn))).nonzero()[0].tolist():
        if drawn[place] <= count + before[place] + more:
            accepted[place] = True
            more += 1
    return accepted

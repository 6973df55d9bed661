"""Finds the commit that changed something, by tests that may err.

Each commit is the one with a probability, at first with the same. A test says how likely a commit
has the change: then so likely is it that the change came with this commit or one of its ancestors.
The next test is of the commit about which least is known. So a test that shows little costs little,
and one that errs is corrected by later ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from benchgate.arrays import BoolArray, FloatArray

SURE: Final = 0.99
"""How likely a commit must be the one to be called that."""

# A test can mislead in ways that its own error does not show.
_MOST_SURE = 0.999


class Bisection:
    """What tests of commits have shown.

    Args:
        parents: for each commit the indices of those of its parents that are searched too; parents
            come before their children. The last commit has the change. Merges take memory: a byte
            for each pair of commits.
    """

    def __init__(self, parents: Sequence[Sequence[int]]) -> None:
        count = len(parents)
        self._contains: BoolArray | None = None  # of a line, each has those before it
        if any([*each] != [index - 1] for index, each in enumerate(parents) if index or each):
            self._contains = np.zeros((count, count), dtype=bool)
            for index, each in enumerate(parents):
                self._contains[index, index] = True
                for parent in each:
                    self._contains[index] |= self._contains[parent]
        self._logs = np.where(self._contained(count - 1, count), 0.0, -np.inf)

    def _contained(self, index: int, count: int) -> BoolArray:
        if self._contains is not None:
            found: BoolArray = self._contains[index]
            return found
        return np.arange(count) <= index

    @property
    def probabilities(self) -> FloatArray:
        """For each commit how likely the change came with it, shape (n,)."""
        weights = np.exp(self._logs - self._logs.max())
        likely: FloatArray = weights / weights.sum()
        return likely

    def learn(self, index: int, changed: float) -> None:
        """Take in a test of a commit.

        Args:
            changed: how likely the commit has the change, by this test alone.
        """
        changed = min(max(changed, 1 - _MOST_SURE), _MOST_SURE)
        contained = self._contained(index, len(self._logs))
        self._logs += np.log(np.where(contained, changed, 1 - changed))

    def clear(self, index: int) -> None:
        """Take in that the change did not come with a commit."""
        self._logs[index] += np.log(1 - _MOST_SURE)

    def next(self, left_out: Collection[int] = ()) -> int | None:
        """Return the commit whose test tells most; None if no test tells anything new.

        Args:
            left_out: commits that cannot be tested.
        """
        likely = self.probabilities
        have = np.cumsum(likely)
        if self._contains is not None:
            have = np.array([likely[contained].sum() for contained in self._contains])
        unknown = np.minimum(have, 1 - have)
        unknown[[*left_out]] = 0.0
        best = int(unknown.argmax())
        return best if unknown[best] > (1 - SURE) / 2 else None

    def suspects(self) -> list[int]:
        """The fewest commits among which the one is for sure, the most likely first."""
        likely = self.probabilities
        order = np.argsort(-likely, kind="stable")
        count = int(np.searchsorted(np.cumsum(likely[order]), SURE)) + 1
        return [int(index) for index in order[:count]]

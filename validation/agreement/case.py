"""Compares a statistic with another way to compute it, on many sizes, kinds of data and seeds."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from validation.section import BrokenError, seeded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from benchgate.arrays import FloatArray

COLUMNS = (
    "statistic",
    "against",
    "values",
    "data",
    "cases",
    "limit",
    "largest difference",
)

KINDS = ("normal", "skewed", "tied")


class Draw:
    """Draws the values of a case: a number of rows of one kind of data."""

    def __init__(self, rng: np.random.Generator, kind: str, rows: int) -> None:
        self.rng = rng
        self.kind = kind
        self.rows = rows

    def __call__(self, n: int) -> FloatArray:
        """Give values > 0 of shape (rows, n).

        Tied values are whole numbers with many repeats; uniform ones are between 0 and 1.
        """
        shape = (self.rows, n)
        if self.kind == "normal":
            return np.abs(self.rng.normal(100, 10, size=shape))
        if self.kind == "skewed":
            return self.rng.lognormal(5, 1, size=shape)
        if self.kind == "uniform":
            return self.rng.uniform(size=shape)
        return self.rng.integers(1, 3 + n // 2, size=shape).astype(np.float64)


Pair: TypeAlias = "tuple[ArrayLike, ArrayLike]"


@dataclass(frozen=True, slots=True)
class Agreement:
    """A statistic and what it must agree with.

    Attributes:
        statistic: its name.
        reference: what it is compared with.
        sizes: the numbers of values.
        limit: the largest relative difference allowed.
        both: takes drawn data and a size, and returns the results of the package and of the
            reference, in the same shape.
        kinds: of data; each kind is drawn for each size.
        rows: rows of data of each kind and size, each with another seed.
        least: numbers closer to 0 are compared as if they were this large, if the reference
            itself has lost their digits.
    """

    statistic: str
    reference: str
    sizes: tuple[int, ...]
    limit: float
    both: Callable[[Draw, int], Pair]
    kinds: tuple[str, ...] = KINDS
    rows: int = 20
    least: float = 0.0

    def cells(self) -> tuple[str, ...]:
        """Compare every case; raise BrokenError if one differs by more than the limit."""
        cases, largest = 0, 0.0
        for n, kind in itertools.product(self.sizes, self.kinds):
            rng = seeded(self.statistic, kind, str(n))
            difference = self._difference(*self.both(Draw(rng, kind, self.rows), n))
            if not difference <= self.limit:
                raise BrokenError(
                    f"{self.statistic}, {kind} data, n = {n}: differs by {difference:.1e} "
                    f"from {self.reference}; the limit is {self.limit:.0e}"
                )
            cases += self.rows
            largest = max(largest, difference)
        return (
            self.statistic,
            self.reference,
            f"{self.sizes[0]} to {self.sizes[-1]}",
            ", ".join(self.kinds),
            f"{cases:,}",
            f"{self.limit:.0e}".replace("e-0", "e-") if self.limit else "equal",
            rounded_up(largest),
        )

    def _difference(self, found: ArrayLike, wanted: ArrayLike) -> float:
        ours, theirs = (np.asarray(values, dtype=np.float64) for values in (found, wanted))
        if ours.shape != theirs.shape:
            raise BrokenError(f"{self.statistic}: {ours.shape} results and not {theirs.shape}")
        # If there is no number, both say NaN.
        differs = (ours != theirs) & ~(np.isnan(ours) & np.isnan(theirs))
        if not differs.any():
            return 0.0
        if not np.isfinite(ours[differs]).all() or not np.isfinite(theirs[differs]).all():
            return math.inf
        a, b = ours[differs], theirs[differs]
        return float((np.abs(a - b) / np.maximum(np.abs(b), max(self.least, 5e-324))).max())


def rounded_up(difference: float) -> str:
    """Write a difference with one digit, not less than it is."""
    if difference == 0:
        return "0"
    exponent = math.floor(math.log10(difference))
    digit = math.ceil(difference / 10.0**exponent)
    return "1e" + str(exponent + 1) if digit == 10 else f"{digit}e{exponent}"

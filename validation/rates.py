"""How often something happened in a simulation, with bounds, and whether this keeps a promise."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

from validation.section import BrokenError, seeded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

SHOWN = 0.95
# With many rows, some 95 % bounds miss the truth by chance alone.
JUDGED = 0.9999
# Up to this many times the promised errors is a little short; more is not to be trusted.
MOST = 1.5
# On another processor, the last bit of a logarithm may differ and change a replicate.
SPARE = 4


class Verdict(StrEnum):
    """Whether a simulation confirms a promised rate of errors."""

    HOLDS = "holds"
    CAUTIOUS = "holds, with fewer errors"
    SHORT = "a little short"
    FAILS = "**not to be trusted here**"


@dataclass(frozen=True, slots=True)
class Rate:
    """The number of hits in a number of independent trials."""

    hits: int
    trials: int

    def bounds(self, confidence: float) -> tuple[float, float]:
        """Give the exact two-sided bounds of the probability (Clopper and Pearson, 1934)."""
        tail = (1 - confidence) / 2
        misses = self.trials - self.hits
        low = float(betaincinv(self.hits, misses + 1, tail)) if self.hits else 0.0
        high = float(betaincinv(self.hits + 1, misses, 1 - tail)) if misses else 1.0
        return low, high

    def __str__(self) -> str:
        return percent(self.hits / self.trials)


def judge(errors: Rate, promised: float) -> Verdict:
    """Compare a rate of errors with the promised one.

    Raises:
        BrokenError: if the bounds are so wide that they contain both the promise and a rate that
            is not to be trusted.
    """
    low, high = errors.bounds(JUDGED)
    if high < promised:
        return Verdict.CAUTIOUS
    if low <= promised:
        if high > MOST * promised:
            raise BrokenError(f"{errors.trials} replicates are too few to tell")
        return Verdict.HOLDS
    bearable = MOST * promised * errors.trials
    return Verdict.SHORT if errors.hits <= bearable else Verdict.FAILS


COLUMNS = (
    "method",
    "data",
    "promised",
    "expected",
    "observed",
    "95 % bounds",
    "replicates",
    "verdict",
)


@dataclass(frozen=True, slots=True)
class Simulation:
    """A rate found by simulation, and what it must be.

    Attributes:
        what: the method.
        data: where the values come from, and how many.
        promised: the rate that the method promises: the errors of a test, or, if `covers`, the
            coverage of an interval.
        expected: the verdict that the row must have.
        run: takes a generator and says for each replicate whether it hit: raised an alarm, or
            covered.
        covers: whether a hit is a success and not an error.
        known: the true rate and how far from it the bounds may be, if theory or the literature
            has one.
        note: what to know about the row, and what to use if the method fails.
    """

    what: str
    data: str
    promised: float
    expected: Verdict
    run: Callable[[np.random.Generator], ArrayLike]
    covers: bool = False
    known: tuple[float, float] | None = None
    note: str = ""

    def cells(self) -> tuple[str, ...]:
        """Simulate; raise BrokenError if the verdict or the known rate is not as expected."""
        hits = np.asarray(self.run(seeded(self.what, self.data)), dtype=np.bool_)
        rate = Rate(int(hits.sum()), len(hits))
        self._require_known(rate)
        self._require_verdict(rate)
        low, high = rate.bounds(SHOWN)
        return (
            self.what,
            self.data,
            percent(self.promised, digits=0),
            percent(self.known[0]) if self.known else "",
            str(rate),
            f"{low * 100:.1f} to {percent(high)}",
            f"{rate.trials:,}",
            f"{self.expected.value}: {self.note}" if self.note else self.expected.value,
        )

    def _require_known(self, rate: Rate) -> None:
        low, high = rate.bounds(JUDGED)
        if self.known and not low - self.known[1] <= self.known[0] <= high + self.known[1]:
            raise BrokenError(
                f"{self.what}, {self.data}: {rate} is not {percent(self.known[0])}: "
                f"its 99.99 % bounds are {percent(low)} and {percent(high)}"
            )

    def _require_verdict(self, rate: Rate) -> None:
        errors, promised = rate.hits, self.promised
        if self.covers:
            errors, promised = rate.trials - rate.hits, 1 - self.promised
        for spared in (0, -SPARE, SPARE):
            counted = min(max(errors + spared, 0), rate.trials)
            found = judge(Rate(counted, rate.trials), promised)
            if found is not self.expected:
                raise BrokenError(
                    f"{self.what}, {self.data}: {rate} where {percent(self.promised)} is promised: "
                    f'"{found}", and not "{self.expected}"'
                    + (f" ({spared:+} of {rate.trials} replicates)" if spared else "")
                )


def percent(share: float, digits: int = 1) -> str:
    """Write a share of 1 in percent."""
    return f"{share * 100:.{digits}f} %"

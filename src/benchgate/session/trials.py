"""The trials of a bisection, and which level each commit is on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from benchgate.json_object import JsonObject, Text
from benchgate.stats import special

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.git.commits import RangeCommit
    from benchgate.model.row import Row


@dataclass(frozen=True, slots=True)
class Trial(JsonObject):
    """What a check of a commit against the head has shown.

    Attributes:
        log_ratio: of head / commit.
        error: its standard error.
        why_not: why the commit could not be measured; "" if it was.
    """

    log_ratio: float = 0.0
    error: float = 0.0
    why_not: Text = ""

    @classmethod
    def of(cls, row: Row) -> Self:
        """Read it from a row with a ratio; without an interval, little is known."""
        log_ratio = math.log(row.ratio or 1.0)
        if row.interval is None or not row.confidence:
            return cls(log_ratio, 0.0 if row.test == "exact" else abs(log_ratio))
        low, high = row.interval
        z = float(special.ndtri((1 + row.confidence) / 2))
        return cls(log_ratio, (math.log(high) - math.log(low)) / (2 * z))


# A commit that is further from both levels than this many errors is between them.
_CLEARLY: Final = 3.0


@dataclass(slots=True)
class Levels:
    """The log ratios of head / commit, of a commit without the change and of one with it.

    If several commits changed the benchmark, what lies between the two takes the place of the
    nearer one: so the search goes on where more of the change is.
    """

    without: float
    with_it: float = 0.0

    @property
    def half(self) -> float:
        """What decides which of the two a commit is like."""
        return (self.without + self.with_it) / 2

    def learn(self, trial: Trial) -> tuple[float, bool]:
        """Take in a trial.

        Returns:
            How likely the commit has the change; whether it is clearly between the two.
        """
        size = self.without - self.with_it
        # Commits also differ by what no check knows, such as the layout of their code.
        error = math.hypot(trial.error, abs(size) / 10)
        changed = float(
            special.ndtr(math.copysign(1.0, size) * (self.half - trial.log_ratio) / error)
        )
        apart = min(abs(trial.log_ratio - self.without), abs(trial.log_ratio - self.with_it))
        if apart < max(_CLEARLY * trial.error, abs(size) / 5):
            return changed, False
        if changed < 0.5:
            self.without = trial.log_ratio
        else:
            self.with_it = trial.log_ratio
        return float(changed >= 0.5), True


@dataclass(frozen=True, slots=True)
class BisectStep:
    """A step of a search, to be told.

    Attributes:
        number: from 1; the check of the good commit is none.
        about: about how many there will be.
        changed: how likely the commit has the change.
        is_between: whether it is like neither end, because several commits changed the benchmark.
    """

    number: int
    about: int
    commit: RangeCommit
    trial: Trial
    changed: float
    is_between: bool = False


@dataclass(frozen=True, slots=True)
class BisectResult:
    """What a search has found.

    Attributes:
        commits: the commit, or those of which it may be each, in order.
        probability: how likely it is one of these.
        whole: the row of the good commit against the head.
        row: of the last of the commits against the parent of the first; None if that was not
            measured, or shows no such change.
        untried: those that could not be measured, and why.
        searched: how many commits there were.
        checks: how many checks were made, with those before an interruption.
        warnings: of the last check.
    """

    commits: tuple[RangeCommit, ...]
    probability: float
    whole: Row
    row: Row | None
    untried: Mapping[str, str]
    searched: int
    checks: int
    warnings: tuple[str, ...] = ()

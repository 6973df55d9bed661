"""Predicts, before the time is spent, what a budget or a number of rounds can show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.gate.waves import rounds_to_confirm
from benchgate.stats.detectable import least_launches
from benchgate.units import counted, format_budget, format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from benchgate.gate.waves import WaveSettings

_NAMED = 5


def describe_screen(waves: WaveSettings, limit_s: float) -> str:
    """Describe how the gate spends its rounds, for the user to see before the first one.

    Args:
        limit_s: the budget; infinite without one.
    """
    screen = counted(waves.screen_rounds, "round")
    return f"{screen} each, then more where it is not clear; {_limit(limit_s)}"


def describe_rounds(numbers: Collection[int], limit_s: float) -> str:
    """Describe fixed numbers of rounds; see `describe_screen`.

    Args:
        numbers: that of all benchmarks, or several if some have one of their own.
    """
    least, most = min(numbers), max(numbers)
    rounds = counted(most, "round") if least == most else f"{least} to {most} rounds"
    return f"{rounds} each; {_limit(limit_s)}"


def _limit(limit_s: float) -> str:
    if math.isinf(limit_s):
        return "no limit of time"
    return f"at most {format_duration(limit_s)}"


@dataclass(frozen=True, slots=True)
class BudgetForecast:
    """What the rounds after the first one take, as it has shown.

    Attributes:
        round_s: one round of everything.
        slowest_s: a round of the slowest benchmark alone.
        spent_s: what the first round has taken from the budget, and all that counting takes.
        budget_s: the whole budget.
        counting_s: what launches that only count take in all.
    """

    round_s: float
    slowest_s: float
    spent_s: float
    budget_s: float
    counting_s: float = 0.0

    @property
    def pace(self) -> str:
        """How long everything takes, for a reader."""
        counting = (
            f", and counting {format_duration(self.counting_s)} in all" if self.counting_s else ""
        )
        return f"a round takes about {format_duration(self.round_s)}{counting}"

    @property
    def rounds(self) -> int:
        """How many rounds of everything fit into the budget, including the first."""
        return 1 + max(0, int((self.budget_s - self.spent_s) / self.round_s))

    def total_s(self, rounds: int, of_one: int = 0) -> float:
        """How long it takes from the start.

        Args:
            rounds: rounds of everything, including the first.
            of_one: rounds of the slowest benchmark alone.
        """
        return self.spent_s + (rounds - 1) * self.round_s + of_one * self.slowest_s


def rounds_of_a_large_slowdown(rows: int, waves: WaveSettings) -> int:
    """How many rounds a slowdown needs at least that makes every launch of the head slower.

    Args:
        rows: how many rows are tested.
    """
    return least_launches(waves.alpha / rows / 2, "mann-whitney")


def has_room(
    costs_s: Collection[float], spent_s: float, budget_s: float, least_rounds: int
) -> bool:
    """Whether the first round has time for one more benchmark, and for the rounds that follow.

    There is always room for one benchmark. Any further one is assumed to take as long as the others
    do on average: the order is random.

    Args:
        costs_s: what a later round of each benchmark takes, of those that were measured.
        spent_s: what the first round has taken so far.
        least_rounds: how many rounds each benchmark must get.
    """
    if not costs_s:
        return True
    with_one_more = 1 + 1 / len(costs_s)
    return with_one_more * (spent_s + (least_rounds - 1) * sum(costs_s)) <= budget_s


def of_left_out(left_out: Sequence[str], budget_s: float) -> str:
    """Warn about the benchmarks that the first round had no time for."""
    return (
        f"the budget of {format_duration(budget_s)} has no time for "
        f"{counted(len(left_out), 'benchmark')}: {some_of(left_out)}; raise it, or measure the "
        "suite in parts with --shard"
    )


def some_of(names: Sequence[str]) -> str:
    """Name the first few, and say how many there are besides."""
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def of_the_screen(
    spending: BudgetForecast, waves: WaveSettings, rows: Callable[[], int]
) -> str | None:
    """Warn that the budget is too short to confirm even one slowdown; None if it is not.

    Args:
        waves: with the alpha of this part of the suite.
        rows: counts the rows that are tested.
    """
    screen = waves.screen_rounds
    one_s = spending.total_s(screen, of_one=rounds_to_confirm(1, screen, waves))
    if spending.budget_s >= one_s or not (tested := rows()):
        return None
    all_s = spending.total_s(screen + rounds_to_confirm(tested, screen, waves))
    large = rounds_of_a_large_slowdown(tested, waves)
    budget = format_duration(spending.budget_s)
    one, every = format_budget(one_s), format_budget(all_s)
    if spending.rounds < large:
        shows = "no slowdown can be shown"
    else:
        shows = (
            "only a large slowdown can be shown: one that makes every launch of the head slower "
            "than every launch of the base"
        )
    if_many = f", or --budget {every} if many benchmarks get slower" if every != one else ""
    return (
        f"the budget of {budget} is too short to confirm a slowdown, because {spending.pace}:"
        f" use --budget {one}{if_many}. Within {budget}, {shows}."
    )


def of_fixed_rounds(spending: BudgetForecast, rounds: int) -> str | None:
    """Warn that the budget is too short for all of the rounds; None if it is not."""
    if spending.rounds >= rounds:
        return None
    budget, enough = format_duration(spending.budget_s), format_budget(spending.total_s(rounds))
    return (
        f"the budget of {budget} allows only {spending.rounds} of {counted(rounds, 'round')}, "
        f"because {spending.pace}: use --budget {enough}"
    )

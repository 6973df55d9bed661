"""Predicts, before the time is spent, what a budget or a number of rounds can show."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Self

from benchgate.config.resolved import LEAST_TAIL_SAMPLES
from benchgate.gate.evidence import deciding_under_load
from benchgate.gate.single_runs import least_rounds
from benchgate.gate.waves import rounds_to_confirm
from benchgate.model.notes import TOO_FEW
from benchgate.model.run import CANARY_IDS, ERROR_RATIO, EXACT_NAMES, UNDER_LOAD, Tier
from benchgate.stats.differences import least_launches
from benchgate.units import counted, format_budget, format_duration, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from benchgate.config import Config
    from benchgate.gate.waves import WaveSettings
    from benchgate.measure.engine import Definition

CLASSICAL_LEAST = 5
_MUCH_LONGER = 1.1
_ENOUGH_KNOWN = 0.25
_NAMED = 5
_UNTESTED = EXACT_NAMES | {ERROR_RATIO.name}


def describe_screen(waves: WaveSettings, limit_s: float) -> str:
    """Describe how the gate spends its rounds, for the user to see before the first one.

    Args:
        limit_s: the budget; infinite without one.
    """
    screen, confirming = counted(waves.screen_rounds, "round"), waves.confirm_rounds
    then = f"then more rounds of what is still open, {confirming} of each suspect"
    return f"{screen} of everything, {then}; {_limit(limit_s)}"


def describe_rounds(numbers: Collection[int], limit_s: float) -> str:
    """Describe fixed numbers of rounds; see `describe_screen`.

    Args:
        numbers: that of all benchmarks, or several if some have one of their own.
    """
    least, most = min(numbers), max(numbers)
    rounds = counted(most, "round") if least == most else f"{least} to {most} rounds"
    return f"{rounds} of everything; {_limit(limit_s)}"


def _limit(limit_s: float) -> str:
    if math.isinf(limit_s):
        return "there is no limit of time"
    return f"the budget is {format_duration(limit_s)}"


@dataclass(frozen=True, slots=True)
class BudgetForecast:
    """A budget, seen from the end of the first round.

    Attributes:
        round_s: about how long one round of everything takes.
        slowest_s: the same for a round of the slowest benchmark alone.
        left_s: what is left of the budget.
        budget_s: the whole budget.
        counting_s: what launches that only count take in all; it is not in what is left.
    """

    round_s: float
    slowest_s: float
    left_s: float
    budget_s: float
    counting_s: float = 0.0

    @classmethod
    def of(
        cls,
        costs_s: Collection[float],
        beside_s: float,
        spent_s: float,
        budget_s: float,
        counting_s: float = 0.0,
    ) -> Self:
        """Forecast from what each benchmark takes in a round.

        Args:
            costs_s: of at least one benchmark.
            beside_s: what the canary takes in each round.
            spent_s: what the first round has taken from the budget, and all that counting takes.
            counting_s: that of counting.
        """
        round_s, slowest_s = sum(costs_s) + beside_s, max(costs_s) + beside_s
        return cls(round_s, slowest_s, budget_s - spent_s, budget_s, counting_s)

    @property
    def pace(self) -> str:
        """How long everything takes, for a reader."""
        counting = (
            f", and counting {format_duration(self.counting_s)} in all" if self.counting_s else ""
        )
        return f"a round takes about {format_duration(self.round_s)}{counting}"

    @property
    def rounds(self) -> int:
        """How many rounds of everything fit into it, including the first."""
        return 1 + max(0, int(self.left_s / self.round_s))

    def total_s(self, rounds: int, of_one: int = 0) -> float:
        """How long it takes from the start.

        Args:
            rounds: rounds of everything, including the first.
            of_one: rounds of the slowest benchmark alone.
        """
        more_s = (rounds - 1) * self.round_s + of_one * self.slowest_s
        return self.budget_s - self.left_s + more_s


@dataclass(frozen=True, slots=True)
class Shortage:
    """A budget is too short.

    Attributes:
        text: a warning.
        remedy: how to choose a budget that is long enough.
        effect: what the budget still shows.
        enough_s: a budget that is long enough.
    """

    text: str
    remedy: str
    effect: str
    enough_s: float

    def warning(self) -> str:
        """Say what is wrong, what helps, and what happens otherwise."""
        return f"{self.text}: {self.remedy}{self.effect}"


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


def of_too_many(
    functions: int, launch_s: float, least_rounds: Callable[[int], int], budget_s: float
) -> str | None:
    """Warn before the first round that a budget cannot have time for all functions.

    Args:
        launch_s: what a launch of a function takes at least, on one side.
        least_rounds: how many rounds each of a number of benchmarks must get.

    Returns:
        None if they may all fit.
    """
    fit = rounds = 1
    for _ in range(2):  # the more fit, the more rounds each of them needs
        rounds = least_rounds(fit)
        if budget_s >= 2 * launch_s * rounds * functions:
            return None
        fit = max(1, int(budget_s / (2 * launch_s * rounds)))
    parts = math.ceil(functions / fit)
    return (
        f"the budget of {format_duration(budget_s)} has time for at most about {fit} of "
        f"{functions} functions, because each takes {2000 * launch_s:.3g} ms in each of at "
        f"least {counted(rounds, 'round')}: raise it, or measure the suite in {parts} or more parts"
        f" with --shard 1/{parts}, 2/{parts} and so on"
    )


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
) -> Shortage | None:
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
    return Shortage(
        f"the budget of {budget} is too short to confirm a slowdown, because {spending.pace}",
        f"use --budget {one}{if_many}",
        f". Within {budget}, {shows}.",
        one_s,
    )


def of_fixed_rounds(spending: BudgetForecast, rounds: int) -> Shortage | None:
    """Warn that the budget is too short for all of the rounds; None if it is not."""
    if spending.rounds >= rounds:
        return None
    needed_s = spending.total_s(rounds)
    budget = format_duration(spending.budget_s)
    return Shortage(
        f"the budget of {budget} allows only {spending.rounds} of {counted(rounds, 'round')}, "
        f"because {spending.pace}",
        f"use --budget {format_budget(needed_s)}",
        "",
        needed_s,
    )


class Foreteller:
    """Says during the first round, as soon as it is certain, that the budget is too short.

    Args:
        budget_s: the whole budget.
        total: how many benchmarks the first round measures; here a suite counts as one.
        once: those of them that later rounds do not measure.
        foresee: judges a forecast.
        say: tells the user.
    """

    def __init__(
        self,
        budget_s: float,
        total: int,
        once: Collection[str],
        foresee: Callable[[BudgetForecast], Shortage | None],
        say: Callable[[str], None],
    ) -> None:
        self._budget_s = budget_s
        self._total = total
        self._once = once
        self._foresee = foresee
        self._say = say
        self._said_s: float | None = None

    def benchmark_ended(self, costs_s: Mapping[str, float], spent_s: float) -> None:
        """Warn if the budget is too short even if the others take as little as they could.

        That is nothing at first, and as much as the fastest so far once a quarter is known: the
        order is random. The warning itself assumes that the others take as long on average.

        Args:
            costs_s: what a round of each benchmark takes, of those that were measured.
            spent_s: the time since the start.
        """
        known = self._known(costs_s)
        done = sum(id_ not in CANARY_IDS for id_ in costs_s)
        if self._said_s or not known or not math.isfinite(self._budget_s):
            return
        others = self._total - done
        other_s = min(known) if done > 1 and done >= self._total * _ENOUGH_KNOWN else 0.0
        round_s = sum(known) + other_s * others
        left_s = self._budget_s - spent_s * round_s / sum(known)
        at_least = BudgetForecast(round_s, max(known), left_s, self._budget_s)
        if self._foresee(at_least) is None:
            return
        scale = self._total / done
        likely = replace(
            at_least, round_s=sum(known) * scale, left_s=self._budget_s - spent_s * scale
        )
        self._tell(likely)

    def round_ended(
        self, costs_s: Mapping[str, float], spent_s: float, counting_s: float = 0.0
    ) -> None:
        """Warn unless that was done, and correct a warning that has named too short a budget.

        For the arguments see `BudgetForecast.of`.
        """
        known = self._known(costs_s)
        if known and math.isfinite(self._budget_s):
            beside_s = sum(costs_s.get(id_, 0.0) for id_ in CANARY_IDS)
            self._tell(BudgetForecast.of(known, beside_s, spent_s, self._budget_s, counting_s))

    def _known(self, costs_s: Mapping[str, float]) -> list[float]:
        apart = CANARY_IDS | frozenset(self._once)
        return [cost_s for id_, cost_s in costs_s.items() if id_ not in apart and cost_s > 0]

    def _tell(self, forecast: BudgetForecast) -> None:
        found = self._foresee(forecast)
        if found is None:
            return
        if self._said_s is None:
            self._say(found.warning())
        elif found.enough_s > self._said_s * _MUCH_LONGER:
            self._say(f"{forecast.pace}, longer than it seemed: {found.remedy}")
        self._said_s = found.enough_s


def too_few_rounds(
    rounds: int, benchmarks: Sequence[Definition], config: Config, *, shards: int = 1
) -> str | None:
    """Warn that a fixed number of rounds cannot show any change; None if it can.

    Args:
        benchmarks: those on both arms.
    """
    metrics = [deciding_of(one, config) for one in benchmarks]
    tested = sum(
        _statistics(one, config) * sum(name not in _UNTESTED for name in names)
        for one, names in zip(benchmarks, metrics, strict=True)
    )
    gate = config.gate
    if not tested or (gate.rule == "classical" and gate.unit == "sample"):
        return None
    if gate.rule == "classical":
        needed, why = CLASSICAL_LEAST, "the textbook rule needs that many launches"
    else:
        needed = least_rounds(gate.alpha / shards / tested, paired=True)
        alpha = format_percent(gate.alpha)
        why = f"fewer cannot rule out chance for {counted(tested, 'row')} at an alpha of {alpha}"
    if rounds >= needed:
        return None
    named = frozenset(chain.from_iterable(metrics))
    others = [
        *(["counts"] if named & EXACT_NAMES else []),
        *(["error ratios"] if ERROR_RATIO.name in named else []),
    ]
    but = f", except about {' and '.join(others)}" if others else ""
    few = f"{TOO_FEW}{but}: {counted(rounds, 'round')}"
    return f"{few}, and it takes at least {needed}, because {why}"


def deciding_of(one: Definition, config: Config) -> tuple[str, ...]:
    """The metrics of a benchmark that will decide."""
    names = config.effective(one.id).metrics
    known = {metric.name for metric in UNDER_LOAD}
    return (deciding_under_load(names, known) if one.load else ()) or names


def _statistics(one: Definition, config: Config) -> int:
    """How many statistics of each metric are tested; of a function its tail, too.

    Functions that are too slow for so many samples have fewer.
    """
    if one.tier is not Tier.LOCKSTEP:
        return 1
    samples = config.measure.samples
    named = config.effective(one.id).statistics
    return max(1, sum(samples >= LEAST_TAIL_SAMPLES.get(name, 1) for name in named))

"""Predicts, before measuring, what a budget or a number of rounds can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.gate.waves import rounds_to_confirm
from benchgate.model.metrics import EXACT_NAMES
from benchgate.stats.power import least_launches
from benchgate.units import counted, format_duration, format_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.config import Config
    from benchgate.gate.waves import WaveSettings

CLASSICAL_LEAST = 5


@dataclass(frozen=True, slots=True)
class BudgetForecast:
    """A budget after the first round.

    Attributes:
        round_s: about how long one round of everything takes.
        left_s: what is left of the budget.
        budget_s: the whole budget.
    """

    round_s: float
    left_s: float
    budget_s: float

    @property
    def rounds(self) -> int:
        """How many rounds of everything fit into it, including the first."""
        return 1 + int(self.left_s / self.round_s)

    def start(self) -> str:
        """Start a sentence: "a round takes about 41 s, so the budget of 10 min allows"."""
        round_, budget = format_duration(self.round_s), format_duration(self.budget_s)
        return f"a round takes about {round_}, so the budget of {budget} allows"

    def takes(self, rounds: int) -> str:
        """Format a number of rounds, and how long they take from the start."""
        return f"{rounds} (about {format_duration(rounds * self.round_s)})"


def of_the_screen(spending: BudgetForecast, waves: WaveSettings, rows: int) -> str | None:
    """Describe what a budget too short to confirm a suspect can still show; else None.

    Args:
        waves: with the alpha of this part of the suite.
        rows: how many are tested.
    """
    to_confirm = waves.screen_rounds + rounds_to_confirm(1, waves.screen_rounds, waves)
    if spending.rounds >= to_confirm or not rows:
        return None
    large = least_launches(waves.alpha / rows / 2, "mann-whitney")
    confirming = f"confirming a slowdown takes {spending.takes(to_confirm)}"
    start = f"{spending.start()} {counted(spending.rounds, 'round')}, but {confirming}."
    if spending.rounds < large:
        return f"{start} Even a large slowdown takes {spending.takes(large)} to show."
    return (
        f"{start} Fewer rounds show only a large slowdown, from {counted(large, 'round')} on: one "
        "that makes every launch of the head slower than every launch of the base."
    )


def of_fixed_rounds(spending: BudgetForecast, rounds: int) -> str | None:
    """Warn that the budget is too short for all of the rounds; None if it is not."""
    if spending.rounds >= rounds:
        return None
    return f"{spending.start()} {spending.rounds} of {counted(rounds, 'round')}"


def too_few_rounds(
    rounds: int, benchmarks: Sequence[str], config: Config, *, shards: int = 1
) -> str | None:
    """Warn that a fixed number of rounds cannot show any change; None if it can.

    Args:
        benchmarks: those on both arms. Each has at least one row, so no fewer rounds suffice.
    """
    metrics = [frozenset(config.effective(id_).metrics) for id_ in benchmarks]
    tested = sum(not one <= EXACT_NAMES for one in metrics)
    gate = config.gate
    if not tested or (gate.rule == "classical" and gate.unit == "sample"):
        return None
    if gate.rule == "classical":
        needed, why = CLASSICAL_LEAST, "the textbook rule needs that many launches"
    else:
        needed = least_launches(gate.alpha / shards / tested / 2, "wilcoxon")
        of, alpha = counted(tested, "benchmark"), format_percent(gate.alpha)
        why = f"fewer cannot rule out chance for {of} at an alpha of {alpha}"
    if rounds >= needed:
        return None
    but = " except in counts" if any(one & EXACT_NAMES for one in metrics) else ""
    few = f"{counted(rounds, 'round')} cannot show any change{but}"
    return f"{few}: it takes at least {needed}, because {why}"

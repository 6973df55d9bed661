"""Decides what to measure next: rounds go to benchmarks that are still open, within the budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from benchgate.gate.findings import Stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.gate.suite import Need

_URGENCY = {Stage.CONFIRM: 0, Stage.SCREEN: 1, Stage.SETTLE: 2}


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """The plan of the next round.

    Attributes:
        phase: one word for people: the phase of the most urgent benchmark.
        ids: the benchmarks to measure.
        dropped: open benchmarks that the budget has no time for.
        canary: whether to measure the canary too. It checks changes, so rounds that only settle
            unchanged benchmarks do not need it.
    """

    phase: str
    ids: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    canary: bool = True


def screen(ids: Sequence[str], costs_s: Mapping[str, float], left_s: float) -> RoundPlan:
    """Plan a round of everything; if the budget is too short, drop benchmarks from the end."""
    return _within(Stage.SCREEN, ids, costs_s, left_s)


def follow_up(needs: Iterable[Need], costs_s: Mapping[str, float], left_s: float) -> RoundPlan:
    """Plan a round of open benchmarks: suspects, then those the screen left out, then the widest.

    Args:
        costs_s: for each benchmark the duration of a round.
        left_s: remaining time of the budget.

    Returns:
        The plan; without ids if nothing is open, or nothing open fits.
    """
    open_needs = sorted(
        (need for need in needs if need.stage in _URGENCY),
        key=lambda need: (_URGENCY[need.stage], -need.width),
    )
    ids = list(dict.fromkeys(need.benchmark for need in open_needs))
    phase = open_needs[0].stage if open_needs else Stage.DONE
    plan = _within(phase, ids, costs_s, left_s)
    return replace(plan, canary=phase is not Stage.SETTLE)


def _within(
    phase: str, ids: Sequence[str], costs_s: Mapping[str, float], left_s: float
) -> RoundPlan:
    chosen: list[str] = []
    dropped: list[str] = []
    for id_ in ids:
        cost_s = costs_s.get(id_, 0.0)
        if cost_s <= left_s and left_s > 0:
            chosen.append(id_)
            left_s -= cost_s
        else:
            dropped.append(id_)
    return RoundPlan(phase, tuple(chosen), tuple(dropped))

"""What to measure next: rounds go to what is still open, within the budget."""

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
    """The next round.

    Attributes:
        phase: in a word, for people: that of the most urgent.
        ids: what to measure.
        dropped: benchmarks that are open and for which the budget has no time left.
        canary: whether the canary is measured beside them: it is asked about changes, and rounds
            that only settle what has not changed show none.
    """

    phase: str
    ids: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    canary: bool = True


def screen(ids: Sequence[str], costs_s: Mapping[str, float], left_s: float) -> RoundPlan:
    """Plan a round of everything; what the budget has no time for is dropped from the end."""
    return _within(Stage.SCREEN, ids, costs_s, left_s)


def follow_up(needs: Iterable[Need], costs_s: Mapping[str, float], left_s: float) -> RoundPlan:
    """Plan a round of what is open: suspects, then what the screen left out, then the widest.

    Args:
        costs_s: for each benchmark how long a round of it takes.
        left_s: of the budget.

    Returns:
        A plan without ids when nothing is open or nothing open fits.
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

"""Plans the next round: what is open, the most urgent first, as far as the budget goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchgate.gate.estimates import RowStage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.gate.suite import Need


_ALONE: Mapping[str, str] = MappingProxyType({})
_URGENCY = {RowStage.CONFIRM: 0, RowStage.SCREEN: 1, RowStage.SETTLE: 2}


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


def screen(
    ids: Sequence[str],
    costs_s: Mapping[str, float],
    left_s: float,
    suites: Mapping[str, str] = _ALONE,
) -> RoundPlan:
    """Plan a round of everything; if the budget is too short, drop benchmarks from the end.

    For the arguments see `follow_up`.
    """
    return _within(RowStage.SCREEN, ids, costs_s, left_s, suites)


def follow_up(
    needs: Iterable[Need],
    costs_s: Mapping[str, float],
    left_s: float,
    suites: Mapping[str, str] = _ALONE,
) -> RoundPlan:
    """Plan a round of open benchmarks: suspects, then those the screen left out, then the widest.

    Args:
        costs_s: for each suite and each other benchmark the duration of a round.
        left_s: remaining time of the budget.
        suites: for each benchmark of a suite, which one it is.

    Returns:
        The plan; without ids if nothing is open, or nothing open fits.
    """
    open_needs = sorted(
        (need for need in needs if need.stage in _URGENCY),
        key=lambda need: (_URGENCY[need.stage], -need.width),
    )
    ids = list(dict.fromkeys(need.benchmark for need in open_needs))
    phase = open_needs[0].stage if open_needs else RowStage.DONE
    plan = _within(phase, ids, costs_s, left_s, suites)
    return replace(plan, canary=phase is not RowStage.SETTLE)


def _within(
    phase: str,
    ids: Sequence[str],
    costs_s: Mapping[str, float],
    left_s: float,
    suites: Mapping[str, str],
) -> RoundPlan:
    paid: set[str] = set()  # the others of a suite cost nothing more
    chosen: list[str] = []
    dropped: list[str] = []
    for id_ in ids:
        unit = suites.get(id_, id_)
        cost_s = costs_s.get(unit, 0.0)
        if unit in paid:
            chosen.append(id_)
        elif cost_s <= left_s and left_s > 0:
            chosen.append(id_)
            paid.add(unit)
            left_s -= cost_s
        else:
            dropped.append(id_)
    return RoundPlan(phase, tuple(chosen), tuple(dropped))

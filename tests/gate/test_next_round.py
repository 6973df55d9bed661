from __future__ import annotations

import math

import pytest

from benchgate.gate.estimates import RowStage
from benchgate.gate.next_round import RoundPlan, follow_up, screen
from benchgate.gate.suite import Need

CONFIRM, SCREEN, SETTLE, DONE = RowStage.CONFIRM, RowStage.SCREEN, RowStage.SETTLE, RowStage.DONE


@pytest.mark.parametrize(
    ("costs_s", "left_s", "chosen", "dropped"),
    [
        ({}, 1.0, ("a", "b", "c"), ()),
        ({"a": 1, "b": 1, "c": 1}, 3.0, ("a", "b", "c"), ()),
        ({"a": 1, "b": 1, "c": 1}, 2.5, ("a", "b"), ("c",)),
        ({"a": 1, "b": 5, "c": 1}, 2.5, ("a", "c"), ("b",)),
        ({"a": 1, "b": 1, "c": 1}, 0.5, (), ("a", "b", "c")),
        ({}, 0.0, (), ("a", "b", "c")),
        ({}, -1.0, (), ("a", "b", "c")),
        ({"a": 1}, 1.0, ("a",), ("b", "c")),
    ],
)
def test_a_round_holds_what_the_budget_has_time_for(
    costs_s: dict[str, float], left_s: float, chosen: tuple[str, ...], dropped: tuple[str, ...]
) -> None:
    assert screen(("a", "b", "c"), costs_s, left_s) == RoundPlan("screen", chosen, dropped)


@pytest.mark.parametrize(
    ("needs", "phase", "ids"),
    [
        ([], "done", ()),
        ([Need("a", DONE, 1)], "done", ()),
        ([Need("a", DONE, 1), Need("a", SETTLE, 1)], "settle", ("a",)),
        ([Need("a", SETTLE, 1), Need("b", SETTLE, 2)], "settle", ("b", "a")),
        ([Need("a", SETTLE, 9), Need("b", CONFIRM, 1)], "confirm", ("b", "a")),
        ([Need("a", SETTLE, math.inf), Need("b", SCREEN, 1)], "screen", ("b", "a")),
        ([Need("a", SCREEN, 1), Need("b", CONFIRM, 1)], "confirm", ("b", "a")),
        (
            [Need("a", SETTLE, 1), Need("b", SETTLE, 2), Need("a", CONFIRM, 0)],
            "confirm",
            ("a", "b"),
        ),
    ],
)
def test_suspects_come_first_and_then_the_widest_interval(
    needs: list[Need], phase: str, ids: tuple[str, ...]
) -> None:
    plan = follow_up(needs, {}, 60.0)
    # The canary is asked about changes, and what is only settled shows none.
    assert plan == RoundPlan(phase, ids, canary=phase != "settle")


def test_a_small_budget_goes_to_the_suspects() -> None:
    needs = [Need("a", SETTLE, 5), Need("b", CONFIRM, 1), Need("c", CONFIRM, 2)]
    plan = follow_up(needs, {"a": 1, "b": 1, "c": 1}, 2.0)
    assert plan == RoundPlan("confirm", ("c", "b"), ("a",))


def test_the_others_of_a_suite_cost_nothing_more() -> None:
    suites = {"a": "suite: x", "b": "suite: x"}
    needs = [Need("a", CONFIRM, 1), Need("c", CONFIRM, 2), Need("b", SETTLE, 1)]
    plan = follow_up(needs, {"suite: x": 10, "c": 5}, 14.0, suites)
    assert plan == RoundPlan("confirm", ("c",), ("a", "b"))
    plan = follow_up(needs, {"suite: x": 10, "c": 5}, 15.0, suites)
    assert plan == RoundPlan("confirm", ("c", "a", "b"))
    assert screen(("a", "b", "c"), {"suite: x": 10, "c": 5}, 10.0, suites).ids == ("a", "b")

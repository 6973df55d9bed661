from __future__ import annotations

import random
from collections import Counter

import pytest

from benchgate.measure.contract.engine import starting_order
from benchgate.measure.programs.bursts import executions_within, later_orders

ARMS = ("base", "head")


def drawing(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - repeatable on purpose


def starters(benchmark: str, rounds: int) -> str:
    return "".join(starting_order(ARMS, benchmark, index)[0][0] for index in range(rounds))


def test_rounds_begin_in_abba_order() -> None:
    assert {starters(f"cli/{number}", 8) for number in range(20)} == {"bhhbbhhb", "hbbhhbbh"}


def test_in_one_round_some_benchmarks_begin_with_each_arm() -> None:
    counts = Counter(starters(f"cli/{number}", 1) for number in range(100))
    assert min(counts["b"], counts["h"]) > 30


@pytest.mark.parametrize("executions", range(1, 9))
def test_within_a_burst_each_arm_goes_first_equally_often(executions: int) -> None:
    for seed in range(20):
        later = later_orders(ARMS, executions - 1, drawing(seed))
        assert len(later) == executions - 1
        counts = Counter(order[0] for order in [ARMS, *later])
        assert counts["base"] - counts["head"] == executions % 2


def test_the_orders_are_drawn_and_repeatable() -> None:
    drawn = [tuple(later_orders(ARMS, 5, drawing(seed))) for seed in range(50)]
    assert len(set(drawn)) == 10  # ways to place 2 among 5
    assert drawn == [tuple(later_orders(ARMS, 5, drawing(seed))) for seed in range(50)]


def test_one_arm_is_its_own_order() -> None:
    assert starting_order(("head",), "a", 1) == ("head",)
    assert later_orders(("head",), 2, drawing(0)) == [("head",), ("head",)]


@pytest.mark.parametrize(
    ("one_s", "most", "count"),
    [(0.03, 6, 6), (1.0, 6, 6), (1.01, 6, 5), (2.5, 6, 2), (3.0, 6, 2), (7.0, 6, 1), (0.0, 6, 6)],
)
def test_slow_commands_get_fewer_executions(one_s: float, most: int, count: int) -> None:
    assert executions_within(6.0, one_s, most) == count

from __future__ import annotations

import pytest

from benchgate.model.run import LEAST_COUNTED_ROUNDS
from benchgate.session.shares import CountingTime


def after_first_round(costs_s: dict[str, float], budget_s: float) -> CountingTime:
    time = CountingTime(budget_s)
    for id_, cost_s in costs_s.items():
        time.spend(id_, cost_s, has_count=True)
    time.end_round([])
    return time


def test_everything_is_counted_again_if_that_takes_half_of_the_budget() -> None:
    time = after_first_round({"a": 4.0, "b": 6.0}, budget_s=100.0)
    assert time.refused == {}
    assert (time.total_s, time.last_s) == (10.0, 10.0)


def test_what_was_counted_fastest_is_counted_again() -> None:
    time = after_first_round({"slow": 9.0, "a": 3.0, "b": 4.0}, budget_s=100.0)
    assert time.refused == {
        "slow": "counting it takes 9.0 s in a round: counting everything would take more than "
        "half of the budget of 1 min 40 s"
    }
    assert time.ahead_s(1) == 7.0


def test_without_a_budget_everything_is_counted() -> None:
    time = CountingTime()
    time.spend("a", 1e6, has_count=True)
    assert not time.is_over
    time.end_round([])
    assert time.refused == {}


def test_the_first_round_tries_twice_its_share_and_names_what_it_left() -> None:
    time = CountingTime(100.0)
    time.spend("a", 20.0, has_count=False)
    before = time.is_over
    time.spend("b", 1.0, has_count=True)
    assert (before, time.is_over) == (False, True)
    time.end_round(["c"])
    assert time.refused == {
        "c": "counting everything would take more than half of the budget of 1 min 40 s"
    }
    assert (time.last_s, time.ahead_s(99)) == (21.0, (LEAST_COUNTED_ROUNDS - 1) * 1.0)


def test_later_rounds_are_not_cut_short() -> None:
    time = after_first_round({"a": 10.0}, budget_s=100.0)
    time.spend("a", 500.0, has_count=True)
    assert not time.is_over


def test_only_the_first_rounds_take_time() -> None:
    time = CountingTime()
    for left in reversed(range(LEAST_COUNTED_ROUNDS)):
        time.spend("a", 2.0, has_count=True)
        time.end_round([])
        assert time.ahead_s(99) == left * 2.0
        assert time.ahead_s(1) == (2.0 if left else 0.0)
    time.end_round([])
    assert (time.total_s, time.last_s, time.ahead_s(1)) == (2.0 * LEAST_COUNTED_ROUNDS, 0, 0)


@pytest.mark.parametrize(("sample_s", "is_refused"), [(0.0, False), (0.5, False), (1.1, True)])
def test_what_would_surely_take_too_long_is_not_tried(sample_s: float, *, is_refused: bool) -> None:
    time = CountingTime()
    time.refuse_slow({"a": sample_s})
    assert bool(time.refused) is is_refused
    if is_refused:
        assert time.refused["a"] == "1.1 s of CPU time would take more than 30 s under valgrind"

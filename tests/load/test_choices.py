"""The parameters that workers draw."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import chisquare

from benchgate.load import choices
from benchgate.load.scenario import Step

if TYPE_CHECKING:
    from benchgate.load.parameters import Parameters

MIXED = {
    "id": "random_int(1, 1000)",
    "state": 'random_choice(new, "paid, sent", 3, null)',
    "number": "sequence(100, 5)",
    "fixed": "text",
}


def draw(params: dict[str, Any], count: int, **changed: int | str) -> list[Parameters]:
    where: dict[str, Any] = {"seed": 42, "iteration": 0, "worker": 0, "workers": 2, **changed}
    step = Step(name=where.pop("name", "lookup"), params=params)
    return list(islice(choices.parameters(step, **where), count))


def column(written: str, count: int, **changed: int | str) -> list[Any]:
    return [row["x"] for row in draw({"x": written}, count, **changed)]


def test_a_seed_gives_these_parameters_forever() -> None:
    assert [tuple(row.values()) for row in draw(MIXED, 6)] == GOLDEN_FIRST
    assert [tuple(row.values()) for row in draw(MIXED, 5, iteration=3, worker=1)] == GOLDEN_OTHER
    chosen = choices.choices(_steps(4, 1, 3), seed=42, iteration=0, worker=0)
    assert "".join(map(str, islice(chosen, 40))) == GOLDEN_STEPS


def test_the_order_is_that_of_the_file() -> None:
    assert [tuple(row) for row in draw(MIXED, 300)] == [tuple(MIXED)] * 300


def test_blocks_continue_one_another() -> None:
    count = 3 * choices.BLOCK + 7
    assert column("sequence", count) == list(range(1, 2 * count, 2))
    drawn = column("random_int(1, 1000000000)", count)
    assert len(set(drawn)) > count - 3


@pytest.mark.parametrize(
    "changed", [{"worker": 1}, {"iteration": 1}, {"seed": 43}, {"name": "insert"}]
)
def test_each_worker_launch_and_step_draws_others(changed: dict[str, Any]) -> None:
    written = "random_int(1, 1000000000)"
    assert not set(column(written, 500)) & set(column(written, 500, **changed))


def test_a_launch_is_told_by_seed_plus_iteration() -> None:
    assert draw(MIXED, 50, seed=42, iteration=2) == draw(MIXED, 50, seed=44, iteration=0)


def test_a_parameter_does_not_change_those_beside_it() -> None:
    alone = column("random_int(1, 1000)", 500)
    beside = draw({"a": "random_int(1, 9)", "x": "random_int(1, 1000)"}, 500)
    assert [row["x"] for row in beside] == alone


def test_workers_number_without_gaps_and_repeats() -> None:
    drawn = [column("sequence(10, 3)", 200, worker=worker, workers=4) for worker in range(4)]
    assert sorted(number for one in drawn for number in one) == list(range(10, 10 + 800 * 3, 3))
    assert column("sequence(5, -2)", 3, worker=1, workers=2) == [3, -1, -5]


@pytest.mark.parametrize(("low", "high"), [(1, 6), (-3, 4), (0, 0), (2**62, 2**62 + 9)])
def test_whole_numbers_are_equally_likely(low: int, high: int) -> None:
    counts = Counter(column(f"random_int({low}, {high})", 20_000))
    assert set(counts) == set(range(low, high + 1))
    if high > low:
        assert chisquare(list(counts.values())).pvalue > 1e-4


@pytest.mark.parametrize(
    ("low", "high"), [(-(2**63), 2**63 - 1), (0, 2**63 - 1), (-(2**62), 2**63 - 1)]
)
def test_wide_ranges(low: int, high: int) -> None:
    drawn = column(f"random_int({low}, {high})", 8_000)
    assert all(type(one) is int and low <= one <= high for one in drawn)
    quarters = Counter((one - low) * 4 // (high - low + 1) for one in drawn)
    assert chisquare([quarters[one] for one in range(4)]).pvalue > 1e-4


def test_choices_keep_their_types() -> None:
    counts = Counter(column("random_choice(a, 1, 1.5, true, null)", 5_000))
    found = {type(value): count for value, count in counts.items()}
    assert set(found) == {str, int, float, type(None)}  # 1 == True
    assert found[str] > 800


def test_steps_are_chosen_by_weight() -> None:
    chosen = choices.choices(_steps(4, 1, 5), seed=7, iteration=0, worker=3)
    counts = Counter(islice(chosen, 20_000))
    expected = [20_000 * weight / 10 for weight in (4, 1, 5)]
    assert chisquare([counts[index] for index in range(3)], expected).pvalue > 1e-4
    others = choices.choices(_steps(4, 1, 5), seed=7, iteration=0, worker=4)
    assert list(islice(others, 100)) != list(islice(chosen, 100))


def test_one_step_needs_no_choice() -> None:
    chosen = choices.choices(_steps(9), seed=7, iteration=0, worker=0)
    assert list(islice(chosen, 3)) == [0, 0, 0]


def test_literals_alone_cost_nothing() -> None:
    first, second = draw({"x": "text", "y": 2}, 2)
    assert first is second
    assert draw({}, 2) == [{}, {}]


def _steps(*weights: int) -> list[Step]:
    return [Step(name=f"s{index}", weight=weight) for index, weight in enumerate(weights)]


GOLDEN_FIRST: list[Any] = [
    (719, 3, 100, "text"),
    (156, None, 110, "text"),
    (724, "paid, sent", 120, "text"),
    (556, "paid, sent", 130, "text"),
    (773, "paid, sent", 140, "text"),
    (242, None, 150, "text"),
]
GOLDEN_OTHER: list[Any] = [
    (545, "paid, sent", 105, "text"),
    (125, None, 115, "text"),
    (252, None, 125, "text"),
    (347, "paid, sent", 135, "text"),
    (135, "paid, sent", 145, "text"),
]
GOLDEN_STEPS = "0002102022010120102120012010200202020200"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from validation.critical_values import critical, statistics

from benchgate.stats.changepoint import (
    LEAST_RUNS,
    EnergyScan,
    change_points,
    count_changes,
    even_ranks,
    p_of_cut,
)
from benchgate.stats.critical_values import CRITICAL, TAILS

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DataObject


def history(seed: int, *levels: float, each: int = 20, sd: float = 1.0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(0, sd, size=each * len(levels))
    return np.repeat(levels, each) + noise


def indices(values: np.ndarray, **settings: Any) -> list[int]:  # noqa: ANN401 - keywords as they are
    return [change.index for change in change_points(values, **settings)]


def test_a_clear_step_is_found_at_its_place() -> None:
    for seed in range(10):
        values = history(seed, 100, 110)
        (change,) = change_points(values, alpha=0.001)
        assert change.index == 20
        assert change.p <= 0.001
        assert change.before == np.median(values[:20])
        assert change.after == np.median(values[20:])


def test_steps_up_and_down_are_all_found() -> None:
    places = [20, 40, 60, 80]
    off, missed, extra = 0, 0, 0
    for seed in range(8):
        found = indices(history(seed, 100, 104, 101, 105, 100))
        near = [min(abs(index - place) for index in found) for place in places]
        off += sum(0 < distance <= 2 for distance in near)
        missed += sum(distance > 2 for distance in near)
        extra += len(found) - len(places)
    # The histories have 32 steps of three to four standard deviations.
    assert off <= 8
    assert missed <= 1
    assert extra <= 2


@pytest.mark.parametrize("start", [10, 45, 80])
def test_a_regression_that_was_soon_mended_is_found(start: int) -> None:
    missed = 0
    for seed in range(10):
        values = np.random.default_rng(seed).normal(size=100)
        values[start : start + 10] += 12
        found = indices(values)
        assert found in ([], [start, start + 10])
        missed += not found
    assert missed <= 3


@pytest.mark.parametrize("n", [40, 200, 1000])
def test_a_change_of_the_last_runs_is_found(n: int) -> None:
    for seed in range(3):
        values = np.random.default_rng(seed).normal(100, 1, size=n)
        values[-8:] += 8
        assert indices(values) == [n - 8]


@pytest.mark.parametrize("name", ["normal", "skewed", "two levels", "counts"])
def test_false_alarms_are_no_more_than_alpha(name: str) -> None:
    alpha, runs = 0.05, 400
    rng = np.random.default_rng(11)
    draws: dict[str, Callable[[], np.ndarray]] = {
        "normal": lambda: rng.normal(size=30),
        "skewed": lambda: rng.lognormal(sigma=2, size=30),
        "two levels": lambda: rng.choice([1.0, 1.1], p=[0.8, 0.2], size=30),
        "counts": lambda: rng.poisson(2, size=30).astype(np.float64),
    }
    alarms = sum(bool(change_points(draws[name](), alpha=alpha)) for _ in range(runs))
    # Twenty are expected; more than 34 happen once in a thousand times.
    assert alarms <= 34


@pytest.mark.parametrize("place", [0, 2, 30, 56, 59])
def test_one_outlier_is_no_change(place: int) -> None:
    for seed in range(20):
        values = np.random.default_rng(seed).normal(100, 1, size=60)
        without = indices(values)
        values[place] = 1e6
        assert set(indices(values)) <= set(without)
    flat = np.full(60, 100.0)
    flat[place] = 1e6
    assert indices(flat) == []


@given(st.integers(10, 300), st.data())
@settings(max_examples=30)
def test_one_outlier_among_equal_values_is_no_change(n: int, data: DataObject) -> None:
    values = np.full(n, 7.0)
    values[data.draw(st.integers(0, n - 1))] = data.draw(st.sampled_from([-1e300, 6.9, 8.0]))
    assert change_points(values, alpha=0.1) == ()


def test_how_far_off_an_outlier_is_makes_no_difference() -> None:
    for seed in range(5):
        values = history(seed, 100, 106)
        values[27] = 1000.0
        near = change_points(values)
        values[27] = 1e300
        assert [(c.index, c.p) for c in change_points(values)] == [(c.index, c.p) for c in near]
        assert [c.index for c in near] == [20]


@pytest.mark.parametrize("value", [0.0, 5e-324, 1.0, 0.1, 1e300])
def test_equal_values_have_no_change(value: float) -> None:
    assert change_points(np.full(50, value), alpha=0.1) == ()


def test_too_few_values_have_no_change() -> None:
    for n in range(1, 10):
        assert change_points(np.exp(np.arange(float(n))), alpha=0.1) == ()
    assert indices(np.repeat([1.0, 2.0], 5), alpha=0.01) == [5]
    assert indices(np.repeat([1.0, 2.0], 5)) == []
    assert indices(np.repeat([1.0, 2.0], 8)) == [8]


@example(runs=[(0, 18), (1, 20), (3, 25), (1, 14)])
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(2, 30)), min_size=2, max_size=6))
def test_a_few_levels_are_cut_only_where_the_value_moves(runs: list[tuple[int, int]]) -> None:
    values = np.repeat(*np.array(runs).T).astype(np.float64)
    for change in change_points(values):
        near = values[max(0, change.index - LEAST_RUNS) : change.index + LEAST_RUNS]
        assert np.ptp(near) > 0


@settings(max_examples=20)
@given(seed=st.integers(0, 999))
def test_neither_scale_nor_offset_matters(seed: int) -> None:
    values = np.round(history(seed, 100, 180, 120, each=12, sd=20))
    plain = [(c.index, c.p) for c in change_points(values, alpha=0.05)]
    for moved in (np.ldexp(values, 900), np.ldexp(values, -900), values - 512):
        assert [(c.index, c.p) for c in change_points(moved, alpha=0.05)] == plain


def test_p_depends_on_the_order_of_the_values_alone() -> None:
    for seed in range(10):
        values = history(seed, 1.0, 1.8, sd=0.2)
        (change,) = change_points(values, alpha=0.001)
        (moved,) = change_points(np.exp(values), alpha=0.001)
        assert moved.p == change.p


@settings(max_examples=20)
@given(seed=st.integers(0, 999))
def test_read_backwards_it_has_the_same_changes(seed: int) -> None:
    values = history(seed, 100, 103, 101, each=12)
    forward = change_points(values, alpha=0.05)
    backward = change_points(values[::-1], alpha=0.05)[::-1]
    assert [len(values) - c.index for c in backward] == [c.index for c in forward]
    assert [(c.after, c.before) for c in backward] == [(c.before, c.after) for c in forward]
    assert [c.p for c in backward] == pytest.approx([c.p for c in forward], rel=1e-6)


@pytest.mark.parametrize("n", [1, 2, 10, 63, 64, 65, 1000])
def test_ranks_are_even_and_equal_values_are_mixed(n: int) -> None:
    ranks = even_ranks(np.zeros(n))
    assert np.sort(ranks) == pytest.approx((np.arange(n) + 0.5) / n - 0.5)
    if n >= 2 * LEAST_RUNS:
        assert EnergyScan(n, LEAST_RUNS).best(ranks).statistic < 1
    rising = np.arange(float(n))
    assert even_ranks(rising) == pytest.approx((rising + 0.5) / n - 0.5)


@pytest.mark.parametrize("n", [10, 14, 20, 48])
def test_the_critical_values_can_be_simulated_again(n: int) -> None:
    again = statistics(n, 4000, seed=1)
    for tail, value in zip(TAILS, CRITICAL[n], strict=True):
        share = float((again >= value - 1e-9).mean())
        error = 4 * (tail * (1 - tail) / 4000) ** 0.5 + 3 / 4000
        assert share <= tail + error
        if n >= 20:
            assert share >= tail - error


@pytest.mark.parametrize("n", [31, 60, 90, 240])
def test_lengths_in_between_are_interpolated(n: int) -> None:
    share = (np.array([p_of_cut(x, n) for x in statistics(n, 1000, seed=2)]) <= 0.05).mean()
    assert 0.02 <= share <= 0.08


@given(st.integers(10, 2000), st.floats(0, 60), st.floats(0, 10))
def test_a_better_cut_has_no_greater_p(n: int, statistic: float, more: float) -> None:
    assert 0 < p_of_cut(statistic + more, n) <= p_of_cut(statistic, n) <= 1


def test_a_critical_value_is_reached_by_no_more_than_its_tail() -> None:
    values = np.array([1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0, 4.0, 4.0, 5.0])
    assert critical(values, 0.1) == 5.0
    assert critical(values, 0.25) == 5.0
    assert critical(values, 0.3) == 4.0
    assert critical(values, 0.05) == np.inf


@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1e290, 2.0**990])
def test_huge_and_tiny_values(unit: float) -> None:
    values = unit * np.repeat([100.0, 120.0, 100.0], 10)
    changes = change_points(values)
    assert [c.index for c in changes] == [10, 20]
    assert changes[0].before == pytest.approx(100 * unit)
    assert changes[0].after == pytest.approx(120 * unit)


def test_levels_of_any_size_are_taken() -> None:
    values = np.array([1e300, -1e300] * 6 + [5e-324, 1.0] * 6 + [0.0] * 10)
    for change in change_points(values, alpha=0.1):
        assert 0 < change.p <= 0.1
        assert 5 <= change.index <= len(values) - 5


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([]), "empty"),
        (np.ones((2, 10)), "shape"),
        (np.array([1.0, np.nan]), "nan"),
        (np.array([1.0, 2.0**1001]), "within 2"),
        (np.ones(2001), "at most 2000 values"),
    ],
)
def test_bad_values_are_refused(values: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        change_points(values)


@pytest.mark.parametrize("alpha", [0.0, 1e-9, 0.2, 1.0])
def test_an_alpha_without_critical_values_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match=r"alpha must be from 0\.0005 to 0\.1"):
        change_points(history(1, 100, 110), alpha=alpha)


def test_a_count_that_does_not_vary_has_moved_after_three_runs() -> None:
    assert count_changes(np.repeat([100.0, 101.0], [4, 2])) == ()
    (change,) = count_changes(np.repeat([100.0, 101.0], [4, 3]))
    assert (change.index, change.p, change.before, change.after) == (4, 0.0, 100.0, 101.0)
    up_and_down = np.repeat([7.0, 9.0, 7.0], [30, 3, 30])
    assert [c.index for c in count_changes(up_and_down)] == [30, 33]


def test_single_counts_that_are_off_are_no_change() -> None:
    values = np.full(60, 100.0)
    values[[0, 20, 21, 59]] = [101, 200, 200, 1]
    assert count_changes(values) == ()


def test_a_count_that_varies_is_judged_by_its_distribution() -> None:
    rng = np.random.default_rng(1)
    alarms = sum(bool(count_changes(rng.poisson(3, size=60).astype(float))) for _ in range(200))
    assert alarms <= 2
    two_levels = [rng.choice([5.0, 6.0], p=[0.95, 0.05], size=200) for _ in range(200)]
    assert sum(bool(count_changes(values)) for values in two_levels) <= 12
    assert count_changes(np.repeat([0.0, 9.0], 30) + rng.poisson(2, size=60)) != ()


def test_counts_are_checked_as_well() -> None:
    assert count_changes(np.array([3.0])) == ()
    with pytest.raises(ValueError, match="nan"):
        count_changes(np.array([1.0, np.nan]))

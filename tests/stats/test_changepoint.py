from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats import changepoint
from benchgate.stats.changepoint import ChangePoint, ChangeTest, change_points
from benchgate.stats.energy import EnergyScan

if TYPE_CHECKING:
    from collections.abc import Callable

TESTS: tuple[ChangeTest, ...] = ("permutation", "t")
both = pytest.mark.parametrize("test", TESTS)


def history(seed: int, *levels: float, each: int = 20, sd: float = 1.0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(0, sd, size=each * len(levels))
    return np.repeat(levels, each) + noise


def indices(values: np.ndarray, **settings: Any) -> list[int]:  # noqa: ANN401 - keywords as they are
    return [change.index for change in change_points(values, **settings)]


@both
def test_a_clear_step_is_found_at_its_place(test: ChangeTest) -> None:
    for seed in range(10):
        values = history(seed, 100, 110)
        (change,) = change_points(values, test=test, alpha=0.005)
        assert change.index == 20
        assert change.p <= 0.005
        assert change.before == np.median(values[:20])
        assert change.after == np.median(values[20:])


@both
def test_steps_up_and_down_are_all_found(test: ChangeTest) -> None:
    places = [20, 40, 60, 80]
    off, missed, extra = 0, 0, 0
    for seed in range(8):
        found = indices(history(seed, 100, 104, 101, 105, 100), test=test)
        near = [min(abs(index - place) for index in found) for place in places]
        off += sum(0 < distance <= 2 for distance in near)
        missed += sum(distance > 2 for distance in near)
        extra += len(found) - len(places)
    # The histories have 32 steps of three to four standard deviations.
    assert off <= 8
    assert missed <= 1
    assert extra <= 2


@both
@pytest.mark.parametrize("start", [10, 45, 80])
def test_a_regression_that_was_soon_mended_is_found(test: ChangeTest, start: int) -> None:
    for seed in range(5):
        values = np.random.default_rng(seed).normal(size=100)
        values[start : start + 10] += 12
        assert indices(values, test=test, alpha=0.005, seed=1) == [start, start + 10]


@both
@pytest.mark.parametrize("name", ["normal", "skewed", "two levels"])
def test_false_alarms_are_no_more_than_alpha(test: ChangeTest, name: str) -> None:
    alpha, runs = 0.05, 200
    rng = np.random.default_rng(11)
    draws: dict[str, Callable[[], np.ndarray]] = {
        "normal": lambda: rng.normal(size=30),
        "skewed": lambda: rng.lognormal(sigma=0.5, size=30),
        "two levels": lambda: rng.choice([1.0, 1.1], p=[0.8, 0.2], size=30),
    }
    histories = [draws[name]() for _ in range(runs)]
    alarms = sum(
        bool(change_points(values, alpha=alpha, test=test, permutations=99)) for values in histories
    )
    # Ten are expected; more than 20 happen once in a thousand times.
    assert alarms <= 20


@both
@pytest.mark.parametrize("place", [0, 2, 30, 56, 59])
def test_one_outlier_is_no_change(test: ChangeTest, place: int) -> None:
    alarms = 0
    for seed in range(10):
        values = np.random.default_rng(seed).normal(100, 1, size=60)
        without = indices(values, test=test)
        values[place] = 1e6
        alarms += indices(values, test=test) != without
    assert alarms <= 1
    flat = np.full(60, 100.0)
    flat[place] = 1e6
    assert indices(flat, test=test) == []


def test_an_outlier_hides_no_change_from_the_permutation_test() -> None:
    for seed in range(5):
        values = history(seed, 100, 110)
        values[27] = 1e6
        assert indices(values, alpha=0.005) == [20]


@both
@pytest.mark.parametrize("value", [0.0, 5e-324, 1.0, 0.1, 1e300])
def test_equal_values_have_no_change(test: ChangeTest, value: float) -> None:
    assert change_points(np.full(50, value), test=test) == ()


@both
def test_too_few_values_have_no_change(test: ChangeTest) -> None:
    for n in range(1, 10):
        assert change_points(np.exp(np.arange(float(n))), test=test) == ()
    assert indices(np.repeat([1.0, 2.0], 6), test=test) == [6]
    assert indices(np.repeat([1.0, 2.0], 6), test=test, min_segment=7) == []


def test_an_exact_step_is_certain() -> None:
    (change,) = change_points(np.repeat([100.0, 120.0], 10), test="t")
    assert change == ChangePoint(10, 0.0, 100.0, 120.0)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(2, 9)), min_size=2, max_size=6))
def test_t_is_certain_only_where_the_value_moves(runs: list[tuple[int, int]]) -> None:
    values = np.repeat(*np.array(runs).T).astype(np.float64)
    for change in change_points(values, test="t", alpha=0.5):
        assert change.p > 0 or values[change.index - 1] != values[change.index]


def test_p_of_t_is_the_best_of_welchs_times_all_windows_looked_at() -> None:
    for seed in range(10):
        values = history(seed, 100, 110, each=9)
        (change,) = change_points(values, test="t")
        assert change.index == 9
        scan = EnergyScan(18, 5)
        welch = [
            stats.ttest_ind(values[low:9], values[9:high], equal_var=False).pvalue
            for low, high in scan.windows(9)
        ]
        assert scan.looks == 9 * len(welch) == 27
        assert change.p == pytest.approx(27 * min(welch), rel=1e-9)


def test_a_change_of_spread_is_found_by_permutations_alone() -> None:
    values = np.random.default_rng(3).normal(size=120)
    values[60:] *= 10
    (change,) = change_points(values)
    assert abs(change.index - 60) <= 4
    assert change_points(values, test="t") == ()


@both
@settings(max_examples=7)
@given(seed=st.integers(0, 999), exponent=st.integers(-900, 900))
def test_a_power_of_two_changes_nothing(test: ChangeTest, seed: int, exponent: int) -> None:
    values = history(seed, 100, 103, 100, each=10)
    plain = change_points(values, test=test, permutations=99)
    moved = change_points(np.ldexp(values, exponent), test=test, permutations=99)
    assert [(c.index, c.p) for c in moved] == [(c.index, c.p) for c in plain]
    assert [c.before for c in moved] == [float(np.ldexp(c.before, exponent)) for c in plain]


@both
@settings(max_examples=7)
@given(seed=st.integers(0, 999), by=st.integers(-(2**20), 2**20))
def test_a_shift_moves_the_levels_alone(test: ChangeTest, seed: int, by: int) -> None:
    values = np.round(history(seed, 100, 130, 100, each=10, sd=10))
    plain = change_points(values, test=test, permutations=99)
    moved = change_points(values + by, test=test, permutations=99)
    assert [c.index for c in moved] == [c.index for c in plain]
    assert [c.p for c in moved] == pytest.approx([c.p for c in plain], rel=1e-6)
    assert [c.after for c in moved] == [c.after + by for c in plain]


@both
@settings(max_examples=7)
@given(seed=st.integers(0, 999))
def test_read_backwards_it_has_the_same_changes(test: ChangeTest, seed: int) -> None:
    values = history(seed, 100, 103, 101, each=12)
    forward = change_points(values, test=test, permutations=99)
    backward = change_points(values[::-1], test=test, permutations=99)[::-1]
    assert [len(values) - c.index for c in backward] == [c.index for c in forward]
    assert [(c.after, c.before) for c in backward] == [(c.before, c.after) for c in forward]
    assert [c.p for c in backward] == pytest.approx([c.p for c in forward], rel=1e-6)


def test_the_seed_decides_and_nothing_else() -> None:
    values = history(5, 100, 101)
    first = change_points(values, seed=1, alpha=0.5)
    assert change_points(values, seed=1, alpha=0.5) == first
    assert len({change_points(values, seed=seed, alpha=0.5) for seed in range(5)}) > 1


def test_permutations_end_when_it_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    scans: list[int] = []

    class CountingScan(EnergyScan):
        def best(self, values: np.ndarray) -> Any:  # noqa: ANN401 - as its parent's
            scans.append(len(values))
            return super().best(values)

    monkeypatch.setattr(changepoint, "EnergyScan", CountingScan)
    assert change_points(history(1, 100, 100), permutations=9999) == ()
    assert len(scans) < 2000
    scans.clear()
    assert len(change_points(history(1, 100, 110))) == 1
    # Once to find the change, once to place it, and once for every order.
    assert scans.count(40) == 2 + 199


@both
@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1e290, 2.0**990])
def test_huge_and_tiny_values(test: ChangeTest, unit: float) -> None:
    values = unit * np.repeat([100.0, 120.0, 100.0], 10)
    changes = change_points(values, test=test)
    assert [c.index for c in changes] == [10, 20]
    assert changes[0].before == pytest.approx(100 * unit)
    assert changes[0].after == pytest.approx(120 * unit)


@both
def test_hypotheses_of_any_size_hold(test: ChangeTest) -> None:
    values = np.array([1e300, -1e300] * 6 + [5e-324, 1.0] * 6 + [0.0] * 10)
    for change in change_points(values, test=test):
        assert 0 <= change.p <= 0.01
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


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"alpha": 0}, "alpha must lie between"),
        ({"min_segment": 1}, "min_segment must be at least 2"),
        ({"test": "f"}, "permutation or t, and is 'f'"),
        ({"permutations": 98}, "98 permutations cannot give a p of 0.01: at least 99"),
        ({"permutations": -1}, "at least 99"),
        ({"seed": -1}, "non-negative"),
    ],
)
def test_bad_settings_are_refused(settings_: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        change_points(history(1, 100, 110), **settings_)


def test_t_asks_for_no_permutations() -> None:
    assert indices(history(1, 100, 110), test="t", permutations=0, alpha=1e-6) == [20]

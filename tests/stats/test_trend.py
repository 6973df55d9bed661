from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats import trend
from benchgate.stats.midranks import rank_sum_ways
from benchgate.stats.trend import settled_index, trend_p

series = st.lists(st.integers(0, 3).map(lambda k: 100 + k), max_size=20, min_size=1) | st.lists(
    st.integers(0, 130), min_size=1, max_size=20
)
GOLDEN = np.array([5234, 3891, 2456, 1334, 1256, 1243, 1238] + [1241] * 43, dtype=np.float64)


def test_golden_series_settles_at_index_3() -> None:
    assert settled_index(GOLDEN) == 3


@pytest.mark.parametrize("step", [1.01, 0.99, 1.001])
def test_a_steady_ramp_is_not_settled_however_slow(step: float) -> None:
    ramp = 1000 * np.power(step, np.arange(100.0))
    assert np.std(ramp[:10], ddof=1) / np.mean(ramp[:10]) < 0.05
    assert settled_index(ramp) is None


def test_a_ramp_that_ends_is_settled_at_its_end() -> None:
    flat = 100 + np.tile([0.0, 0.5, -0.5, 0.2], 10)
    index = settled_index(np.concatenate([150 * np.power(0.99, np.arange(40.0)), flat]))
    assert index is not None
    assert 35 <= index <= 41


@pytest.mark.parametrize("value", [0.0, 1e-9, 1241.0])
def test_equal_values_are_settled_at_once(value: float) -> None:
    assert settled_index(np.full(10, value)) == 0


def test_fewer_values_than_a_window_are_not_settled() -> None:
    assert settled_index(np.full(9, 5.0)) is None
    assert settled_index(np.full(9, 5.0), window=5) == 0


def test_wide_scatter_is_not_settled() -> None:
    noise = np.random.default_rng(1).normal(100, 20, size=200)
    assert settled_index(noise) is None
    assert settled_index(noise, cv_limit=0.5) is not None


def test_steady_noise_settles_soon() -> None:
    rng = np.random.default_rng(2)
    starts = [settled_index(rng.normal(100, 1, size=30)) for _ in range(200)]
    assert np.mean([start == 0 for start in starts]) > 0.9
    assert None not in starts


@given(st.floats(1e-6, 1e6))
def test_the_unit_does_not_matter(scale: float) -> None:
    assert settled_index(GOLDEN * scale) == 3


@given(series, st.integers(-1000, 900))
def test_a_power_of_two_changes_nothing(values: list[int], exponent: int) -> None:
    plain = np.array(values, dtype=np.float64)
    assert settled_index(np.ldexp(plain, exponent), 5) == settled_index(plain, 5)


@given(series, series)
def test_what_comes_later_does_not_move_where_it_settled(
    values: list[int], later: list[int]
) -> None:
    before = settled_index(np.array(values, dtype=np.float64), 5)
    after = settled_index(np.array(values + later, dtype=np.float64), 5)
    if before is not None:
        assert after == before
    else:
        assert after is None or after > len(values) - 5


@given(series)
def test_where_it_settled_it_is_steady(values: list[int]) -> None:
    index = settled_index(np.array(values, dtype=np.float64), 5)
    if index is not None:
        steady = np.array(values[index : index + 5])
        assert np.ptp(steady) == 0 or np.std(steady, ddof=1) < 0.05 * np.mean(steady)
        assert trend_p(steady.astype(np.float64)) > 0.05
        assert settled_index(np.array(values[index:], dtype=np.float64), 5) == 0


@pytest.mark.parametrize("unit", [2.0**-1074, 2.0**-1030, 2.0**980])
def test_huge_and_tiny_values(unit: float) -> None:
    assert settled_index(unit * GOLDEN) == 3
    ramp = unit * np.round(1000 * np.power(1.01, np.arange(40.0)))
    assert settled_index(ramp) is None


def test_a_first_value_of_any_size_hides_no_scatter() -> None:
    scatter = np.tile([5e-324, 1e-300, 3e-300, 2e-300, 4e-300], 6)
    assert settled_index(np.concatenate([[1e300], scatter])) is None
    assert settled_index(np.concatenate([[1e300], np.full(10, 5e-324)])) == 1


def test_thousands_of_values_need_few_distributions(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []

    def counting(ranks: tuple[int, ...], k: int) -> np.ndarray:
        built.append(k)
        return rank_sum_ways(ranks, k)

    monkeypatch.setattr(trend, "rank_sum_ways", counting)
    ramp = np.floor(np.arange(4000.0) * 0.7) + 1e5
    assert settled_index(ramp) is None
    assert len(built) < 100


def test_where_the_approximation_begins_it_is_close() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = rng.normal(size=101) + np.arange(101) * rng.uniform(0, 0.01)
        exact = stats.kendalltau(np.arange(101), values, method="exact").pvalue
        assert trend_p(values) == pytest.approx(exact, abs=1e-3)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=130), st.integers(-900, 900))
def test_the_trend_is_the_same_backwards_upside_down_and_in_any_unit(
    values: list[int], exponent: int
) -> None:
    plain = np.array(values, dtype=np.float64)
    p = trend_p(plain)
    assert 0 < p <= 1
    assert trend_p(plain[::-1]) == pytest.approx(p, rel=1e-9)
    assert trend_p(-plain) == pytest.approx(p, rel=1e-9)
    assert trend_p(np.ldexp(plain, exponent)) == p


@pytest.mark.parametrize("n", [1, 2, 50, 100, 101, 500])
def test_equal_values_have_no_trend(n: int) -> None:
    assert trend_p(np.full(n, 7.0)) == 1


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6))
def test_the_trend_is_the_share_of_orders_at_least_as_extreme(values: list[int]) -> None:
    def inversions(order: tuple[int, ...]) -> int:
        return sum(later < earlier for earlier, later in itertools.combinations(order, 2))

    every = np.array([inversions(order) for order in itertools.permutations(values)])
    observed = inversions(tuple(values))
    sides = (every <= observed).mean(), (every >= observed).mean()
    expected = min(1.0, 2 * min(sides))
    assert trend_p(np.array(values, dtype=np.float64)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([]), "empty"),
        (np.ones((2, 10)), "shape"),
        (np.array([1.0, np.nan]), "nan"),
        (np.array([1.0, -1.0]), "negative"),
        (np.array([1.0, 2.0**1001]), "within 2"),
    ],
)
def test_bad_values_are_refused(values: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        settled_index(values)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="window must be at least 5"):
        settled_index(GOLDEN, window=4)
    for cv_limit in (0, -1, np.inf, np.nan):
        with pytest.raises(ValueError, match="cv_limit"):
            settled_index(GOLDEN, cv_limit=cv_limit)

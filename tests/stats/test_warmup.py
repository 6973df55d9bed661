from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.warmup import settled_index, trend_p

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


def test_the_trend_agrees_with_scipy_without_ties() -> None:
    rng = np.random.default_rng(3)
    for n in (2, 5, 10, 25):
        for _ in range(10):
            values = rng.normal(size=n)
            theirs = stats.kendalltau(np.arange(n), values, method="exact")
            assert trend_p(values) == pytest.approx(theirs.pvalue, rel=1e-9)


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
    ],
)
def test_bad_values_are_refused(values: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        settled_index(values)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="window must be at least 5"):
        settled_index(GOLDEN, window=4)
    with pytest.raises(ValueError, match="cv_limit"):
        settled_index(GOLDEN, cv_limit=0)

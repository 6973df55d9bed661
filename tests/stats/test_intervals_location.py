from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.bootstrap import bootstrap_interval
from benchgate.stats.intervals import location_interval, log_mean_interval

if TYPE_CHECKING:
    from benchgate.arrays import FloatArray
    from benchgate.interval import Interval

times = st.lists(st.floats(1e-9, 1e9), min_size=2, max_size=40)


def located(values: FloatArray, confidence: float = 0.95, seed: int = 1) -> Interval:
    interval = location_interval(values, confidence, seed=seed)
    assert interval is not None
    return interval


def lognormal(n: int, seed: int = 0) -> FloatArray:
    values: FloatArray = 100 * np.random.default_rng(seed).lognormal(0, 0.1, size=n)
    return values


@pytest.mark.parametrize(
    ("n", "method"),
    [(2, "t on logs"), (29, "t on logs"), (30, "BCa bootstrap"), (45, "BCa bootstrap")],
)
def test_the_method_follows_the_number_of_values_and_is_named(n: int, method: str) -> None:
    interval = located(lognormal(n))
    assert (interval.method, interval.confidence) == (method, 0.95)


def test_few_values_have_the_t_interval_of_their_logarithms() -> None:
    values = lognormal(7)
    expected = log_mean_interval(values, 0.9)
    assert expected is not None
    interval = located(values, 0.9)
    assert interval.low == pytest.approx(expected.low, rel=1e-14)
    assert interval.high == pytest.approx(expected.high, rel=1e-14)


def test_more_values_have_the_bootstrap_interval_of_their_geometric_mean() -> None:
    values = lognormal(30)
    interval = located(values, 0.9, seed=7)
    expected = bootstrap_interval(
        values, lambda x: np.asarray(stats.gmean(x, axis=-1)), 0.9, method="BCa", seed=7
    )
    assert expected is not None
    assert interval.low == pytest.approx(expected.low, rel=2e-3)
    assert interval.high == pytest.approx(expected.high, rel=2e-3)
    assert interval.low < stats.gmean(values) < interval.high


@given(times, st.integers(-400, 400))
def test_interval_follows_the_unit_to_the_last_bit(values: list[float], exponent: int) -> None:
    plain = located(np.array(values))
    scaled = located(np.ldexp(values, exponent))
    assert scaled.low == np.ldexp(plain.low, exponent)
    assert scaled.high == np.ldexp(plain.high, exponent)


@given(times, st.integers(0, 5))
def test_more_confidence_is_never_narrower(values: list[float], seed: int) -> None:
    array = np.array(values)
    intervals = [located(array, confidence, seed) for confidence in (0.1, 0.5, 0.9, 0.95)]
    lows, highs = [each.low for each in intervals], [each.high for each in intervals]
    assert lows == sorted(lows, reverse=True)
    assert highs == sorted(highs)


@pytest.mark.parametrize("n", [2, 29, 30, 45])
@pytest.mark.parametrize("value", [0.1, 1e300, 5e-324, 2.0**1000])
def test_equal_values_have_an_interval_without_width(n: int, value: float) -> None:
    interval = located(np.full(n, value))
    assert (interval.low, interval.high) == (value, value)


@pytest.mark.parametrize("n", [4, 32])
def test_huge_and_tiny_values_have_one(n: int) -> None:
    for unit in (2.0**990, 2.0**-1070):
        values = unit * np.arange(1.0, n + 1)
        interval = located(values)
        middle = unit * stats.gmean(np.arange(1.0, n + 1))
        assert 0 < interval.low < middle < interval.high


@pytest.mark.parametrize(
    "values",
    [[3.0], [1e300, 5e-324], [1e300, 5e-324] * 15, [2.0**900, 2.0**1000]],
)
def test_where_there_is_none(values: list[float]) -> None:
    """No interval: one value, values over 2**1000 apart, or an end beyond the largest float."""
    assert location_interval(np.array(values), 0.95, seed=1) is None


@pytest.mark.parametrize(("n", "covered"), [(3, 0.95), (10, 0.95), (29, 0.95), (30, 0.931)])
def test_it_covers_as_often_as_documented(n: int, covered: float) -> None:
    runs = 200
    intervals = [
        located(lognormal(n, seed), seed=seed) for seed in range(1000 * n, 1000 * n + runs)
    ]
    hits = sum(each.low <= 100 <= each.high for each in intervals)
    assert stats.binomtest(hits, runs, covered).pvalue > 0.01


@pytest.mark.parametrize(
    ("values", "confidence", "message"),
    [
        (np.array([]), 0.95, "empty"),
        (np.array([1.0, 0.0]), 0.95, "above 0"),
        (np.array([1.0, -1.0] * 6), 0.95, "above 0"),
        (np.array([1.0, np.nan]), 0.95, "nan"),
        (np.ones((2, 3)), 0.95, "shape"),
        (np.ones(3), 1.0, "confidence"),
        (np.ones(30), 0.0, "confidence"),
    ],
)
def test_bad_input_is_refused(values: FloatArray, confidence: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        location_interval(values, confidence, seed=1)

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.checks import LARGEST
from benchgate.stats.intervals import log_mean_interval, mean_interval, trimmed_mean_interval
from benchgate.stats.spread import moments, trim

if TYPE_CHECKING:
    from benchgate.interval import Interval

whole = st.lists(st.integers(-100, 100), min_size=2, max_size=30)
positive = st.lists(st.integers(1, 100), min_size=3, max_size=30)
confidences = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])


def ends(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    assert interval.low <= interval.high
    return interval.low, interval.high


@pytest.mark.parametrize(("df", "t"), [(9, 2.2622), (29, 2.0452), (199, 1.9720)])
def test_golden_t(df: int, t: float) -> None:
    values = np.random.default_rng(df).normal(50, 5, size=df + 1)
    low, high = ends(mean_interval(values, 0.95))
    assert (high - low) / 2 / stats.sem(values) == pytest.approx(t, abs=5e-5)
    assert (high + low) / 2 == pytest.approx(values.mean(), rel=1e-14)


def test_mean_interval_covers_as_often_as_it_says() -> None:
    m = 4_000
    rows = np.random.default_rng(5).normal(3, 1, size=(m, 5))
    intervals = [ends(mean_interval(row, 0.9)) for row in rows]
    covered = sum(low <= 3 <= high for low, high in intervals)
    band = stats.binomtest(covered, m).proportion_ci(0.999, method="exact")
    assert band.low <= 0.9 <= band.high


def test_golden_trimmed_interval() -> None:
    values = np.array([10, 12, 11, 13, 12, 14, 11, 12, 13, 40], dtype=np.float64)
    low, high = ends(trimmed_mean_interval(trim(values, "iqr"), 0.95))
    assert (low + high) / 2 == pytest.approx(12)
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 8) * 0.462592, rel=1e-6)


def test_trimmed_interval_covers_about_as_often_as_it_says_where_outliers_are_dropped() -> None:
    m = 2_000
    rng = np.random.default_rng(6)
    rows = rng.normal(3, 1, size=(m, 40)) + 30 * (rng.random((m, 40)) < 0.03)
    for mode in ("iqr", "mad"):
        intervals = [ends(trimmed_mean_interval(trim(row, mode), 0.95)) for row in rows]
        covered = sum(low <= 3 <= high for low, high in intervals)
        assert 0.93 <= covered / m <= 0.97


@given(whole, confidences)
def test_with_none_dropped_it_is_the_plain_interval(values: list[int], confidence: float) -> None:
    array = np.array(values, dtype=np.float64)
    trimmed = trimmed_mean_interval(trim(array, "none"), confidence)
    assert ends(trimmed) == ends(mean_interval(array, confidence))


@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_log_interval_is_the_t_interval_of_logarithms(n: int) -> None:
    values = np.random.default_rng(n).lognormal(2, 1, size=n)
    logs = np.log(values)
    reach = stats.t.ppf(0.975, n - 1) * stats.sem(logs)
    interval = log_mean_interval(values, 0.95)
    assert interval is not None
    assert interval.method == "t on logs"
    low, high = ends(interval)
    assert low == pytest.approx(np.exp(logs.mean() - reach), rel=1e-12)
    assert high == pytest.approx(np.exp(logs.mean() + reach), rel=1e-12)
    assert np.sqrt(low * high) == pytest.approx(stats.gmean(values), rel=1e-12)


@given(whole, confidences, st.integers(-1000, 900))
def test_mean_interval_follows_scale_and_sign(
    values: list[int], confidence: float, power: int
) -> None:
    array = np.array(values, dtype=np.float64)
    low, high = ends(mean_interval(array, confidence))
    assert ends(mean_interval(-array, confidence)) == (-high, -low)
    scaled = ends(mean_interval(np.ldexp(array, power), confidence))
    np.testing.assert_allclose(np.ldexp(scaled, -power), (low, high), rtol=1e-13)


@given(positive, confidences)
def test_log_interval_follows_scale_and_inversion(values: list[int], confidence: float) -> None:
    array = np.array(values, dtype=np.float64)
    low, high = ends(log_mean_interval(array, confidence))
    np.testing.assert_allclose(
        ends(log_mean_interval(3 * array, confidence)), (3 * low, 3 * high), rtol=1e-8
    )
    np.testing.assert_allclose(
        ends(log_mean_interval(1 / array, confidence)), (1 / high, 1 / low), rtol=1e-8
    )


@given(positive)
def test_more_confidence_is_never_narrower(values: list[int]) -> None:
    array = np.array(values, dtype=np.float64)
    for interval in (mean_interval, log_mean_interval):
        both = [ends(interval(array, confidence)) for confidence in (0.5, 0.9, 0.95, 0.999)]
        lows, highs = zip(*both, strict=True)
        assert list(lows) == sorted(lows, reverse=True)
        assert list(highs) == sorted(highs)


@given(st.floats(5e-324, LARGEST), st.integers(2, 40))
def test_equal_values_give_that_value(value: float, n: int) -> None:
    array = np.full(n, value)
    assert ends(mean_interval(array, 0.95)) == (value, value)
    assert ends(log_mean_interval(array, 0.95)) == (value, value)
    assert ends(trimmed_mean_interval(trim(array, "none"), 0.95)) == (value, value)


@given(st.lists(st.floats(5e-324, LARGEST), min_size=2, max_size=20), confidences)
def test_values_of_any_size_give_an_interval_around_their_mean(
    values: list[float], confidence: float
) -> None:
    array = np.array(values)
    mean = moments(array).mean
    low, high = ends(mean_interval(array, confidence))
    assert low <= mean <= high
    geometric = log_mean_interval(array, confidence)
    if geometric is not None:
        assert 0 <= geometric.low <= max(values)
        assert geometric.high >= min(values)


def test_what_has_no_spread_or_no_end_has_no_interval() -> None:
    one, widest = np.array([3.0]), np.array([5e-324, LARGEST])
    assert mean_interval(one, 0.95) is None
    assert log_mean_interval(one, 0.95) is None
    assert trimmed_mean_interval(trim(one, "none"), 0.95) is None
    assert trimmed_mean_interval(trim(np.array([1.0, 2.0]), "top5"), 0.95) is None
    assert log_mean_interval(widest, 0.95) is None
    assert log_mean_interval(np.array([LARGEST, LARGEST / 2**60]), 0.95) is None
    assert mean_interval(widest, 1 - 2**-53) is None


def test_bad_input_is_refused() -> None:
    good = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match="empty"):
        mean_interval(np.array([]), 0.95)
    with pytest.raises(ValueError, match="nan"):
        log_mean_interval(np.array([1.0, np.nan]), 0.95)
    with pytest.raises(ValueError, match=r"above 0 to have a logarithm, and one is 0\.0"):
        log_mean_interval(np.array([1.0, 0.0]), 0.95)
    for confidence in (0, 1, 95, np.nan):
        with pytest.raises(ValueError, match="confidence must lie between"):
            mean_interval(good, confidence)
        with pytest.raises(ValueError, match="confidence must lie between"):
            log_mean_interval(good, confidence)
        with pytest.raises(ValueError, match="confidence must lie between"):
            trimmed_mean_interval(trim(good, "none"), confidence)

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchgate.stats.autocorrelation import Weights, autocorrelation, corrected_sem
from benchgate.stats.checks import LARGEST

RAMP = np.arange(1.0, 101.0)
BOTH: tuple[Weights, ...] = ("plain", "bartlett")

whole = st.lists(st.integers(-100, 100), min_size=2, max_size=40)


def covariance(values: np.ndarray, k: int) -> float:
    centred = values - values.mean()
    products = (centred[i] * centred[i + k] for i in range(len(values) - k))
    return float(sum(products) / len(values))


def autoregressive(phi: float, n: int, seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=n)
    values = np.empty(n)
    values[0] = noise[0] / math.sqrt(1 - phi**2)
    for k in range(1, n):
        values[k] = phi * values[k - 1] + noise[k]
    return values


@pytest.mark.parametrize("n", [2, 3, 10, 64, 101])
def test_it_agrees_with_the_slow_formula(n: int) -> None:
    values = np.random.default_rng(n).lognormal(size=n)
    r = autocorrelation(values, n - 1)
    assert r is not None
    expected = [covariance(values, k) / covariance(values, 0) for k in range(1, n)]
    np.testing.assert_allclose(r, expected, atol=1e-14)


def test_it_agrees_with_numpy_on_many_values() -> None:
    values = autoregressive(0.7, 5000, 1)
    centred = values - values.mean()
    full = np.correlate(centred, centred, mode="full")[4999:]
    r = autocorrelation(values, 300)
    assert r is not None
    np.testing.assert_allclose(r, full[1:301] / full[0], atol=1e-13)
    assert r[0] == pytest.approx(0.7, abs=0.03)


def test_golden_ramp() -> None:
    error = corrected_sem(RAMP)
    assert error.sem == pytest.approx(11.846307, abs=5e-7)
    assert error.naive_sem == pytest.approx(2.901149, abs=5e-7)
    assert error.effective_n == pytest.approx(100 * (2.901149 / 11.846307) ** 2, rel=1e-6)
    assert error.lag_one == pytest.approx(0.97)
    assert error.notes == ()


@pytest.mark.parametrize("weights", BOTH)
def test_golden_alternation_is_floored_at_the_naive_error(weights: Weights) -> None:
    values = np.tile([1.0, 2.0], 50)
    error = corrected_sem(values, weights)
    assert error.sem == error.naive_sem == pytest.approx(values.std(ddof=1) / 10, rel=1e-13)
    assert error.effective_n == 100
    assert error.lag_one == pytest.approx(-0.99)
    assert error.notes == ("neighbors would lower the error, so the naive error is kept",)


@pytest.mark.parametrize("n", [4, 10, 50, 120])
def test_both_weights_agree_with_the_slow_formula(n: int) -> None:
    values = np.cumsum(np.random.default_rng(n).normal(size=n))
    lags = int(math.sqrt(n))
    for weights in BOTH:
        width = n if weights == "plain" else lags + 1
        terms = [(1 - k / width) * covariance(values, k) for k in range(1, lags + 1)]
        variance = (covariance(values, 0) + 2 * sum(terms)) / n
        error = corrected_sem(values, weights)
        assert error.naive_sem is not None
        expected = math.sqrt(max(variance, error.naive_sem**2))
        assert error.sem == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weights", BOTH)
def test_the_error_of_a_correlated_series_is_found(weights: Weights) -> None:
    """The true error is about sd / sqrt(n) times sqrt((1 + phi) / (1 - phi))."""
    phi, n = 0.6, 4000
    true = math.sqrt(1 / (1 - phi) ** 2 / n)
    errors = [corrected_sem(autoregressive(phi, n, seed), weights) for seed in range(30)]
    found = np.array([error.sem for error in errors], dtype=np.float64)
    naive = np.array([error.naive_sem for error in errors], dtype=np.float64)
    assert found.mean() == pytest.approx(true, rel=0.06)
    assert naive.mean() == pytest.approx(true / 2, rel=0.02)


@given(whole, st.sampled_from(BOTH))
def test_the_error_is_never_below_the_naive_one(values: list[int], weights: Weights) -> None:
    assume(len(set(values)) > 1)
    error = corrected_sem(np.array(values, dtype=np.float64), weights)
    assert error.sem is not None
    assert error.naive_sem is not None
    assert error.effective_n is not None
    assert error.lag_one is not None
    assert error.sem >= error.naive_sem > 0
    assert 1 <= error.effective_n <= len(values)
    assert -1 <= error.lag_one <= 1
    if error.notes:
        assert error.sem == error.naive_sem


@given(whole, st.integers(-50, 50), st.integers(-1050, 990))
def test_it_follows_shift_scale_sign_and_reversal(values: list[int], by: int, power: int) -> None:
    assume(len(set(values)) > 1)
    array = np.array(values, dtype=np.float64)
    plain = autocorrelation(array, len(array) - 1)
    assert plain is not None
    for other in (array + by, -array, array[::-1], np.ldexp(array, power)):
        moved = autocorrelation(other, len(array) - 1)
        assert moved is not None
        np.testing.assert_allclose(moved, plain, atol=1e-10)


@pytest.mark.parametrize("scale", [LARGEST, 1.0, 2.0**-1070])
def test_errors_follow_the_unit_however_huge_or_tiny(scale: float) -> None:
    values = np.array([0, 0.25, 0.25, 0.75, 0.5, 0.75, 1, 1])
    plain, scaled = corrected_sem(values), corrected_sem(values * scale)
    assert plain.sem is not None
    assert scaled.sem == pytest.approx(plain.sem * scale, rel=1e-14, abs=5e-324)
    assert scaled.effective_n == plain.effective_n
    assert scaled.lag_one == plain.lag_one


def test_what_does_not_vary_has_no_autocorrelation() -> None:
    for values in (np.array([7.0]), np.full(49, 0.1)):
        assert autocorrelation(values, 1) is None
        error = corrected_sem(values)
        assert error.sem is error.effective_n is error.lag_one is None
    assert corrected_sem(np.array([7.0])).naive_sem is None
    assert corrected_sem(np.array([7.0])).notes == ("one value: no autocorrelation",)
    assert corrected_sem(np.full(49, 0.1)).naive_sem == 0
    assert corrected_sem(np.full(49, 0.1)).notes == ("all values are equal: no autocorrelation",)


def test_two_values_differ_from_each_other_only() -> None:
    error = corrected_sem(np.array([1.0, 2.0]))
    assert error.lag_one == -0.5
    assert error.sem == error.naive_sem == 0.5


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        corrected_sem(np.array([]))
    with pytest.raises(ValueError, match="nan"):
        autocorrelation(np.array([1.0, np.nan]), 1)
    with pytest.raises(ValueError, match="shape"):
        autocorrelation(np.ones((2, 3)), 1)
    with pytest.raises(ValueError, match="max_lag must be from 1 to 99, and is 100"):
        autocorrelation(RAMP, 100)
    with pytest.raises(ValueError, match="max_lag must be from 1 to 1, and is 0"):
        autocorrelation(np.array([1.0]), 0)
    with pytest.raises(ValueError, match="plain or bartlett, and are 'parzen'"):
        corrected_sem(RAMP, "parzen")  # type: ignore[arg-type]

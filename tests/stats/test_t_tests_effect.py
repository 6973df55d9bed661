from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats.mann_whitney import mann_whitney
from benchgate.stats.t_tests import effect_size, two_sample_t

X = np.array([1000.0, 1020, 980, 1010, 990])
Y = np.array([980.0, 970, 990, 960, 985])
samples = st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=12).map(np.array)
spread = samples.filter(lambda x: np.ptp(x) > 0)


def test_golden_delta() -> None:
    found = effect_size(np.arange(100.0, 108), np.arange(110.0, 118))
    assert (found.cliffs_delta, found.vargha_delaney_a, found.magnitude) == (1, 1, "large")


def test_golden_d_and_g() -> None:
    found = effect_size(X, Y)
    assert found.cohens_d == pytest.approx(-1.636607, abs=5e-7)
    assert found.hedges_g == pytest.approx(-1.478225, abs=5e-7)
    assert found.notes == ()
    # -1.829782, which is also called d, has the variances of numpy's default, ddof = 0.
    with_n = (Y.mean() - X.mean()) / math.sqrt((X.var() + Y.var()) / 2)
    assert found.cohens_d == pytest.approx(with_n * math.sqrt(8 / 10), rel=1e-12)
    assert with_n == pytest.approx(-1.829782, abs=5e-7)


@pytest.mark.parametrize(
    ("above", "magnitude"),
    [
        (500, "negligible"),
        (573, "negligible"),
        (574, "small"),
        (427, "negligible"),
        (426, "small"),
        (664, "small"),
        (665, "medium"),
        (736, "medium"),
        (737, "large"),
        (263, "large"),
        (0, "large"),
    ],
)
def test_magnitudes_by_their_limits(above: int, magnitude: str) -> None:
    y = np.array([1.0] * above + [-1.0] * (1000 - above))
    found = effect_size(np.zeros(3), y)
    assert found.cliffs_delta == (2 * above - 1000) / 1000
    assert found.magnitude == magnitude


@given(samples, samples)
def test_delta_and_a_count_the_pairs(x: np.ndarray, y: np.ndarray) -> None:
    signs = np.sign(y[:, np.newaxis] - x)
    found = effect_size(x, y)
    assert found.cliffs_delta == pytest.approx(signs.mean(), abs=1e-15)
    assert found.vargha_delaney_a == pytest.approx((found.cliffs_delta + 1) / 2, abs=1e-15)
    u = mann_whitney(x[np.newaxis], y[np.newaxis]).u[0]
    assert found.vargha_delaney_a == pytest.approx(1 - u / (len(x) * len(y)), abs=1e-15)


def test_hedges_correction_is_the_one_that_gamma_functions_approximate() -> None:
    found = effect_size(X, Y)
    assert found.cohens_d is not None
    df = 8
    exact = math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)
    assert found.hedges_g == pytest.approx(found.cohens_d * exact, rel=1e-3)


@given(samples, samples)
def test_swapping_the_arms_turns_the_sign(x: np.ndarray, y: np.ndarray) -> None:
    forward, backward = effect_size(x, y), effect_size(y, x)
    assert forward.cliffs_delta == -backward.cliffs_delta
    assert forward.magnitude == backward.magnitude
    assert forward.notes == backward.notes
    if forward.cohens_d is not None and forward.hedges_g is not None:
        assert forward.cohens_d == -(backward.cohens_d or 0)
        assert abs(forward.hedges_g) <= abs(forward.cohens_d)


@given(spread, spread, st.integers(-900, 990), st.integers(-100, 100))
def test_neither_scale_nor_shift_matters(
    x: np.ndarray, y: np.ndarray, exponent: int, by: int
) -> None:
    plain = effect_size(x, y)
    scaled = effect_size(np.ldexp(x, exponent), np.ldexp(y, exponent))
    moved = effect_size(x + by, y + by)
    assert scaled.cliffs_delta == moved.cliffs_delta == plain.cliffs_delta
    assert plain.cohens_d is not None
    assert scaled.cohens_d == pytest.approx(plain.cohens_d, rel=1e-12, abs=1e-300)
    assert moved.cohens_d == pytest.approx(plain.cohens_d, rel=1e-9, abs=1e-12)


def test_d_is_t_without_the_sizes() -> None:
    t = two_sample_t(X, Y, 0.95, equal_variance=True).t
    assert t is not None
    assert effect_size(X, Y).cohens_d == pytest.approx(t * math.sqrt(2 / 5), rel=1e-12)


NO_SPREAD = ("no spread within the sides: d and g do not exist; delta shows the order",)


@pytest.mark.parametrize("value", [0.1, 1e300, 5e-324])
def test_without_spread_only_the_order_is_known(value: float) -> None:
    same, apart = np.full(4, value), np.zeros(3)
    for x, y, delta in ((same, same, 0), (apart, same, 1), (same, apart, -1)):
        found = effect_size(x, y)
        assert found.cliffs_delta == delta
        assert found.cohens_d is found.hedges_g is None
        assert found.notes == NO_SPREAD


def test_a_spread_that_is_nothing_beside_the_difference_is_none() -> None:
    found = effect_size(np.array([0.0, 5e-324]), np.array([1e300, 1e300]))
    assert (found.cliffs_delta, found.cohens_d, found.notes) == (1, None, NO_SPREAD)


def test_of_one_launch_only_the_order_is_known() -> None:
    one = np.array([985.0])
    for x, y, delta in ((one, X, 0.6), (X, one, -0.6), (one, one, 0)):
        found = effect_size(x, y)
        assert found.cliffs_delta == delta
        assert found.cohens_d is found.hedges_g is None
        assert found.notes == ("one launch: d and g need a spread; take at least 2 of each side",)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "is empty"),
        ([[1.0, 2.0]], "must have shape"),
        ([1.0, math.nan], "must be finite, and is nan"),
        ([1.0, math.inf], "must be finite, and is inf"),
        ([1.0, 1e302], "must be within"),
    ],
)
def test_bad_input_is_refused(values: list[float], message: str) -> None:
    bad = np.array(values)
    with pytest.raises(ValueError, match=f"x {message}"):
        effect_size(bad, X)
    with pytest.raises(ValueError, match=f"y {message}"):
        effect_size(X, bad)

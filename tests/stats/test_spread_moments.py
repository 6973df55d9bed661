from __future__ import annotations

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats.checks import LARGEST
from benchgate.stats.spread import deviations, moments

whole = st.lists(st.integers(-1000, 1000), min_size=2, max_size=40)
times = st.lists(st.floats(0, LARGEST), min_size=2, max_size=30)
TINIEST = 5e-324


@given(times)
def test_times_of_any_size_agree_with_exact_fractions(values: list[float]) -> None:
    described = moments(np.array(values))
    # Apart from that, only half of the last bit of a subnormal may be lost.
    assert described.mean == pytest.approx(statistics.mean(values), rel=1e-14, abs=TINIEST)
    assert described.sd == pytest.approx(statistics.stdev(values), rel=1e-13, abs=TINIEST)


@given(st.integers(0, 2**40), st.lists(st.integers(0, 9), min_size=2, max_size=30))
def test_scatter_in_the_last_bits_keeps_its_digits(offset: int, ulps: list[int]) -> None:
    values = 1 + np.array([offset + k for k in ulps]) * 2.0**-52
    expected = math.sqrt(statistics.variance(map(Fraction, ulps))) * 2.0**-52
    assert moments(values).sd == pytest.approx(expected, rel=1e-12)


@given(st.floats(-LARGEST, LARGEST), st.integers(2, 60))
def test_equal_values_have_no_spread_at_all(value: float, n: int) -> None:
    described = moments(np.full(n, value))
    assert described.mean == value
    assert described.sd == described.sem == 0
    assert described.cv == (0 if value else None)


@given(whole, st.integers(-50, 50), st.integers(-1000, 990))
def test_moments_follow_shift_scale_and_sign(values: list[int], by: int, power: int) -> None:
    array = np.array(values, dtype=np.float64)
    plain = moments(array)
    assert plain.sd is not None
    moved, turned = moments(array + by), moments(-array)
    assert moved.mean == pytest.approx(plain.mean + by, rel=1e-13, abs=1e-10)
    assert moved.sd == pytest.approx(plain.sd, rel=1e-12)
    assert (turned.mean, turned.sd, turned.sem) == (-plain.mean, plain.sd, plain.sem)
    scaled = moments(np.ldexp(array, power))
    assert scaled.mean == np.ldexp(plain.mean, power)
    assert scaled.sd == np.ldexp(plain.sd, power)
    assert scaled.cv == plain.cv


@given(times)
def test_the_mean_lies_within_the_values(values: list[float]) -> None:
    assert min(values) <= moments(np.array(values)).mean <= max(values)


def test_one_value_has_a_mean_only() -> None:
    described = moments(np.array([7.0]))
    assert (described.n, described.mean) == (1, 7)
    assert described.sd is described.sem is described.cv is None
    assert described.notes == ("one value: no spread; take at least 2",)


@pytest.mark.parametrize("values", [[0.0, 0.0, 0.0], [-1.0, 1.0], [1.0, -1.0, 1e-310]])
def test_a_mean_of_0_has_no_coefficient_of_variation(values: list[float]) -> None:
    described = moments(np.array(values))
    assert described.sd is not None
    assert described.cv is None
    assert described.notes == ("a mean of 0: no coefficient of variation",)


def test_the_widest_values_stay_finite() -> None:
    described = moments(np.array([-LARGEST, LARGEST]))
    assert described.sd == pytest.approx(math.sqrt(2) * LARGEST, rel=1e-15)
    assert moments(np.array([0, 4 * TINIEST])).sd == 3 * TINIEST


def test_deviations_of_equal_values_are_0() -> None:
    assert not deviations(np.full(49, 0.1)).any()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([]), "empty"),
        (np.ones((2, 2)), "shape"),
        (np.array([1.0, np.nan]), "nan"),
        (np.array([1.0, np.inf]), "inf"),
        (np.array([1e302]), r"2\*\*1000"),
    ],
)
def test_bad_input_is_refused(values: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        moments(values)

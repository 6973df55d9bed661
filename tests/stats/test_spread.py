from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats.spread import pooled_robust_spread, robust_spread


def row(*values: float) -> np.ndarray:
    return np.array([values], dtype=np.float64)


def test_the_spread_ignores_one_outlier() -> None:
    # Deviations from the median 3: 2, 1, 0, 1, 97; their median is 1, and 1.206 the factor of 5.
    assert robust_spread(row(1, 2, 3, 4, 100))[0] == pytest.approx(1.206 * 1.4826)


def test_the_spread_of_normal_values_is_their_standard_deviation() -> None:
    d = np.random.default_rng(1).normal(7, 3, size=(1, 100_000))
    assert robust_spread(d)[0] == pytest.approx(3, rel=0.02)


@pytest.mark.parametrize("n", [*range(2, 31), 60])
def test_the_spread_of_few_normal_values_is_right_on_average(n: int) -> None:
    d = np.random.default_rng(n).standard_normal((100_000, n))
    assert robust_spread(d).mean() == pytest.approx(1, abs=0.012)  # the factors are good to 0.009


@pytest.mark.parametrize(("n1", "n2"), [(2, 2), (2, 9), (3, 3), (5, 5), (5, 20), (12, 12)])
def test_the_pooled_spread_of_few_normal_values_is_right_on_average(n1: int, n2: int) -> None:
    rng = np.random.default_rng(100 * n1 + n2)
    x, y = rng.standard_normal((100_000, n1)), rng.normal(5, 1, (100_000, n2))
    assert pooled_robust_spread(x, y).mean() == pytest.approx(1, abs=0.012)


def test_more_than_half_equal_values_fall_back_to_the_standard_deviation() -> None:
    spread = robust_spread(np.array([[5, 5, 5, 5, 9], [5, 5, 5, 5, 5]], dtype=np.float64))
    assert spread.tolist() == [pytest.approx(math.sqrt(3.2)), 0]


@given(st.lists(st.integers(-100, 100), min_size=2, max_size=20), st.integers(-50, 50))
def test_the_spread_follows_shift_and_scale(values: list[int], by: int) -> None:
    d = row(*values)
    np.testing.assert_allclose(robust_spread(-4 * d + by), 4 * robust_spread(d), rtol=1e-12)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-200, 1e-100, 1e100, 1e200, 1e300])
def test_the_spread_of_the_tiny_and_the_huge(scale: float) -> None:
    x, y = scale * row(1, 2, 3, 4, 9), scale * row(5, 5, 5, 5, 9)
    of_x, of_y = 1.206 * 1.4826, math.sqrt(3.2)
    assert robust_spread(x)[0] == pytest.approx(scale * of_x, rel=1e-12, abs=5e-324)
    assert robust_spread(y)[0] == pytest.approx(scale * of_y, rel=1e-12, abs=5e-324)
    pooled = pooled_robust_spread(x, y)[0]
    assert pooled == pytest.approx(scale * (of_x + of_y) / 2, rel=1e-12, abs=5e-324)


def test_each_row_has_its_own_scale() -> None:
    d = np.array([[1e300], [1e-200], [0.0]]) * np.array([5, 5, 5, 5, 9])
    expected = [1e300 * math.sqrt(3.2), 1e-200 * math.sqrt(3.2), 0]
    assert robust_spread(d).tolist() == pytest.approx(expected, rel=1e-12, abs=0)


def test_the_pooled_spread_does_not_see_the_difference_between_the_arms() -> None:
    x, y = row(1, 2, 3, 4, 5), row(101, 102, 103)
    # The arms have median deviations of 1, factors of their own, and weights of 4 and 2.
    expected = 1.4826 * (4 * 1.206 + 2 * 1.495) / 6
    assert pooled_robust_spread(x, y)[0] == pytest.approx(expected)
    assert pooled_robust_spread(y, x)[0] == pytest.approx(expected)


def test_an_arm_of_equal_values_has_no_spread_to_pool() -> None:
    x, y = row(5, 5, 5, 5, 9), row(7, 7, 7)
    assert pooled_robust_spread(x, y)[0] == pytest.approx(4 * math.sqrt(3.2) / 6)
    assert pooled_robust_spread(y, y)[0] == 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 launches"):
        robust_spread(row(1))
    with pytest.raises(ValueError, match="nan"):
        robust_spread(row(1, np.nan))
    with pytest.raises(ValueError, match="must have shape"):
        robust_spread(np.ones(3))
    with pytest.raises(ValueError, match="at least 2 launches"):
        pooled_robust_spread(row(1, 2), row(1))
    with pytest.raises(ValueError, match="one row per benchmark"):
        pooled_robust_spread(np.ones((2, 3)), np.ones((1, 3)))

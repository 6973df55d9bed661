from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats.quantiles import nearest_rank, small_sample_note


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0, 1), (0.25, 5), (0.5, 10), (0.75, 15), (0.95, 19), (0.99, 20), (1, 20)],
)
def test_golden_quantiles_of_1_to_20(p: float, expected: float) -> None:
    assert nearest_rank(np.arange(20.0, 0.0, -1.0), p) == expected


@pytest.mark.parametrize("p", [0.999, 99.9 / 100])
def test_a_rounding_error_in_p_times_n_does_not_move_the_rank(p: float) -> None:
    assert nearest_rank(np.arange(1.0, 1001.0), p) == 999


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 20, 33, 100, 1000, 12345])
def test_every_rank_k_of_n_is_found_from_the_fraction_k_over_n(n: int) -> None:
    values = np.arange(1.0, n + 1)
    for k in sorted({1, n // 4, n // 3, n // 2, n - 1, n} - {0}):
        assert nearest_rank(values, k / n) == k
        assert nearest_rank(values, (100 * k / n) / 100) == k


def test_it_works_along_the_last_axis_of_any_shape() -> None:
    values = np.random.default_rng(5).normal(size=(3, 4, 21))
    result = nearest_rank(values, 0.95)
    assert result.shape == (3, 4)
    np.testing.assert_array_equal(result, np.quantile(values, 0.95, axis=-1, method="inverted_cdf"))


def test_the_input_is_left_as_it_was() -> None:
    values = np.array([3.0, 1.0, 2.0])
    nearest_rank(values, 0.5)
    assert values.tolist() == [3, 1, 2]


@given(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=60),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_quantile_is_a_measured_value_and_grows_with_p(
    values: list[int], p: float, q: float
) -> None:
    array = np.array(values, dtype=np.float64)
    lower, upper = nearest_rank(array, min(p, q)), nearest_rank(array, max(p, q))
    assert lower in values
    assert lower <= upper
    assert nearest_rank(2 * array + 3, p) == 2 * nearest_rank(array, p) + 3


@pytest.mark.parametrize(
    ("n", "p", "noted"),
    [
        (19, 0.95, True),
        (20, 0.95, False),
        (99, 0.99, True),
        (100, 0.99, False),
        (999, 0.999, True),
        (1000, 0.999, False),
        (1, 0.5, True),
        (2, 0.5, False),
    ],
)
def test_a_percentile_too_high_for_the_sample_is_noted(n: int, p: float, noted: bool) -> None:  # noqa: FBT001 - a table
    assert small_sample_note(n, p) == ("equals the maximum" if noted else None)


@pytest.mark.parametrize(
    ("values", "p", "message"),
    [
        (np.array([]), 0.5, "empty"),
        (np.empty((3, 0)), 0.5, "empty"),
        (np.array(1.0), 0.5, "at least one axis"),
        (np.array([[1.0, 2.0], [3.0, np.nan]]), 0.5, r"nan at \(1, 1\)"),
        (np.array([1.0, np.inf]), 0.5, r"inf at \(1,\)"),
        (np.array([1.0]), 95, "fraction from 0 to 1, and is 95"),
        (np.array([1.0]), np.nan, "fraction"),
    ],
)
def test_bad_input_is_refused(values: np.ndarray, p: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nearest_rank(values, p)

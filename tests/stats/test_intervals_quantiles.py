from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.intervals import quantile_interval
from benchgate.stats.spread import nearest_rank, quantile_rank, small_sample_note


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


# Ranks of the 95 % interval of the median, as printed in textbooks.
@pytest.mark.parametrize(
    ("n", "ranks"), [(6, (1, 6)), (10, (2, 9)), (15, (4, 12)), (20, (6, 15)), (25, (8, 18))]
)
def test_published_ranks_of_the_interval_of_the_median(n: int, ranks: tuple[int, int]) -> None:
    interval = quantile_interval(np.arange(float(n), 0.0, -1.0), 0.5, 0.95)
    assert interval is not None
    assert [interval.low, interval.high] == list(ranks)
    assert (interval.confidence, interval.method) == (0.95, "order statistics")


@pytest.mark.parametrize(("p", "least"), [(0.5, 6), (0.95, 72), (0.99, 368), (0.999, 3688)])
def test_too_few_values_have_no_interval(p: float, least: int) -> None:
    assert quantile_interval(np.arange(float(least)), p, 0.95) is not None
    assert quantile_interval(np.arange(least - 1.0), p, 0.95) is None
    assert quantile_interval(np.array([1.0]), p, 0.95) is None


@pytest.mark.parametrize("n", [20, 30, 101])
@pytest.mark.parametrize("p", [0.3, 0.5, 0.8])
def test_it_is_exact_at_both_ends(n: int, p: float) -> None:
    """The ends miss with at most the allowed chance, and the next ones inside with more."""
    interval = quantile_interval(np.arange(1.0, n + 1), p, 0.9)
    assert interval is not None
    below = stats.binom(n, p)
    assert below.cdf(interval.low - 1) <= 0.05 < below.cdf(interval.low)
    assert below.sf(interval.high - 1) <= 0.05 < below.sf(interval.high - 2)


def test_a_level_met_but_for_a_rounding_error_is_met() -> None:
    # All are at or below the quantile with a chance of 0.8**4 = 0.4096 = (1 - 0.1808) / 2.
    assert stats.binom.sf(3, 4, 0.8) > (1 - 0.1808) / 2
    assert quantile_interval(np.arange(4.0), 0.8, 0.1808) is not None
    assert quantile_interval(np.arange(4.0), 0.8, 0.1809) is None


@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=60),
    st.floats(0.01, 0.99),
    st.sampled_from([0.1, 0.5, 0.9, 0.95]),
)
def test_the_interval_holds_the_quantile_and_follows_shift_scale_and_sign(
    values: list[int], p: float, confidence: float
) -> None:
    array = np.array(values, dtype=np.float64)
    plain = quantile_interval(array, p, confidence)
    moved = quantile_interval(4 * array + 3, p, confidence)
    if plain is None:
        assert moved is None
        return
    assert moved is not None
    assert plain.low <= nearest_rank(array, p) <= plain.high
    assert plain.low in values
    assert plain.high in values
    assert (moved.low, moved.high) == (4 * plain.low + 3, 4 * plain.high + 3)
    median, turned = (quantile_interval(sign * array, 0.5, confidence) for sign in (1, -1))
    assert (median is None) == (turned is None)
    if median is not None and turned is not None:
        assert (turned.low, turned.high) == (-median.high, -median.low)


@given(st.lists(st.integers(-99, 99), min_size=20, max_size=60))
def test_more_confidence_never_makes_it_narrower(values: list[int]) -> None:
    array = np.array(values, dtype=np.float64)
    found = [quantile_interval(array, 0.5, confidence) for confidence in (0.3, 0.8, 0.95, 0.999)]
    lows = [interval.low for interval in found if interval is not None]
    highs = [interval.high for interval in found if interval is not None]
    assert len(lows) == 4
    assert lows == sorted(lows, reverse=True)
    assert highs == sorted(highs)


@pytest.mark.parametrize("value", [0.0, 5e-324, -1e300])
def test_equal_values_give_that_value(value: float) -> None:
    interval = quantile_interval(np.full(10, value), 0.5, 0.95)
    assert interval is not None
    assert interval.low == interval.high == value


def test_bad_input_of_an_interval_is_refused() -> None:
    good = np.arange(10.0)
    with pytest.raises(ValueError, match="empty"):
        quantile_interval(np.array([]), 0.5, 0.95)
    with pytest.raises(ValueError, match="shape"):
        quantile_interval(np.ones((2, 3)), 0.5, 0.95)
    with pytest.raises(ValueError, match="nan"):
        quantile_interval(np.array([np.nan]), 0.5, 0.95)
    with pytest.raises(ValueError, match="p must lie between"):
        quantile_interval(good, 1.0, 0.95)
    with pytest.raises(ValueError, match="confidence must lie between"):
        quantile_interval(good, 0.5, 95)


@pytest.mark.parametrize("n", [1, 2, 19, 20, 540, 1000])
@pytest.mark.parametrize("p", [0.0, 0.001, 0.5, 0.95, 0.999, 1.0])
def test_the_rank_is_the_place_of_the_quantile(n: int, p: float) -> None:
    values = np.arange(100.0, 100.0 + n)
    assert values[quantile_rank(n, p) - 1] == nearest_rank(values, p)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.mann_whitney import mann_whitney, two_sample_shift
from benchgate.stats.signed_rank import paired_shift, signed_rank

CONFIDENCES = (0.5, 0.8, 0.9, 0.9375, 0.95, 0.98, 0.99)
confidences = st.sampled_from(CONFIDENCES)
# There are no ties between sizes and no zeros.
untied_differences = st.lists(
    st.integers(-200, 200).filter(bool), min_size=1, max_size=15, unique_by=abs
)
untied_pool = st.lists(st.integers(-200, 200), min_size=2, max_size=24, unique=True)


def row(*values: float) -> np.ndarray:
    return np.array([values], dtype=np.float64)


def reached(p: float, confidence: float) -> bool:
    """Whether p <= 1 - confidence, apart from the rounding error of the subtraction."""
    return p <= (1 - confidence) * (1 + 1e-12)


def test_golden_shift_of_two_samples() -> None:
    shift = two_sample_shift(row(*range(100, 108)), row(*range(110, 118)), 0.95)
    assert (shift.estimate[0], shift.low[0], shift.high[0]) == (10, 7, 13)


def test_paired_shift_by_hand() -> None:
    # Walsh averages of 1, 2, 4: 1, 1.5, 2, 2.5, 3, 4. P(W+ <= 0) = 1/8.
    shift = paired_shift(row(4, 1, 2), 0.75)
    assert (shift.estimate[0], shift.low[0], shift.high[0]) == (2.25, 1, 4)


@pytest.mark.parametrize(("n", "attainable"), [(1, False), (5, False), (6, True), (12, True)])
def test_paired_interval_is_infinite_where_n_is_too_small(
    n: int,
    attainable: bool,  # noqa: FBT001 - a table
) -> None:
    shift = paired_shift(row(*range(1, n + 1)), 0.95)
    assert np.isfinite(shift.estimate[0])
    assert bool(np.isfinite(shift.low[0])) is attainable
    assert bool(np.isfinite(shift.high[0])) is attainable


def test_a_level_met_exactly_is_met() -> None:
    # 3 v 3 reaches 2/20 two-sided, and 1 - 0.9 is a rounding error below 0.1.
    shift = two_sample_shift(row(1, 2, 3), row(11, 12, 13), 0.9)
    assert (shift.low[0], shift.high[0]) == (8, 12)
    wider = two_sample_shift(row(1, 2, 3), row(11, 12, 13), 0.91)
    assert (wider.low[0], wider.high[0]) == (-np.inf, np.inf)


@given(untied_differences, confidences)
def test_paired_test_estimate_and_interval_agree(values: list[int], confidence: float) -> None:
    d = row(*values)
    test, shift = signed_rank(d), paired_shift(d, confidence)
    low, estimate, high = shift.low[0], shift.estimate[0], shift.high[0]
    assert low <= estimate <= high
    assert (low > 0 or high < 0) == reached(test.p_two_sided[0], confidence)
    assert (low > 0) == reached(2 * test.p_greater[0], confidence)
    assert (high < 0) == reached(2 * test.p_less[0], confidence)


@given(untied_pool, st.floats(0, 1), confidences)
def test_two_sample_test_estimate_and_interval_agree(
    pool: list[int], share: float, confidence: float
) -> None:
    n1 = 1 + round(share * (len(pool) - 2))
    x, y = row(*pool[:n1]), row(*pool[n1:])
    test, shift = mann_whitney(x, y), two_sample_shift(x, y, confidence)
    low, estimate, high = shift.low[0], shift.estimate[0], shift.high[0]
    assert low <= estimate <= high
    assert (low > 0 or high < 0) == reached(test.p_two_sided[0], confidence)
    assert (low > 0) == reached(2 * test.p_greater[0], confidence)
    assert (high < 0) == reached(2 * test.p_less[0], confidence)


def test_they_agree_beyond_the_exact_sizes_too() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(200, 40)), rng.normal(0.45, 1, size=(200, 35))
    test, shift = mann_whitney(x, y), two_sample_shift(x, y, 0.95)
    rejected = test.p_two_sided <= 0.05
    assert 20 < rejected.sum() < 180
    np.testing.assert_array_equal((shift.low > 0) | (shift.high < 0), rejected)


@given(untied_differences, confidences, st.integers(-64, 64))
def test_paired_shift_follows_shift_scale_and_sign(
    values: list[int], confidence: float, by: int
) -> None:
    d = row(*values)
    plain = paired_shift(d, confidence)
    moved = paired_shift(4 * d + by, confidence)
    turned = paired_shift(-d, confidence)
    assert moved.estimate == 4 * plain.estimate + by
    assert moved.low == 4 * plain.low + by
    assert moved.high == 4 * plain.high + by
    assert (turned.low, turned.estimate, turned.high) == (
        -plain.high,
        -plain.estimate,
        -plain.low,
    )


@given(untied_pool, confidences, st.integers(-64, 64))
def test_two_sample_shift_follows_shift_scale_and_swap(
    pool: list[int], confidence: float, by: int
) -> None:
    x, y = row(*pool[: len(pool) // 2]), row(*pool[len(pool) // 2 :])
    plain = two_sample_shift(x, y, confidence)
    moved = two_sample_shift(4 * x, 4 * y + by, confidence)
    swapped = two_sample_shift(y, x, confidence)
    assert moved.estimate == 4 * plain.estimate + by
    assert moved.low == 4 * plain.low + by
    assert (swapped.low, swapped.estimate, swapped.high) == (
        -plain.high,
        -plain.estimate,
        -plain.low,
    )


@given(untied_differences)
def test_more_confidence_is_never_narrower(values: list[int]) -> None:
    shifts = [paired_shift(row(*values), confidence) for confidence in CONFIDENCES]
    lows = [shift.low[0] for shift in shifts]
    highs = [shift.high[0] for shift in shifts]
    assert lows == sorted(lows, reverse=True)
    assert highs == sorted(highs)


@pytest.mark.parametrize("step", [0.0, 1.0])
def test_intervals_cover_the_truth_as_often_as_they_say(step: float) -> None:
    """Even if a coarse clock (`step`) ties most values."""
    m, n = 10_000, 10
    d = np.random.default_rng(9).standard_t(4, size=(m, n))
    d = np.round(d / step) * step if step else d
    shift = paired_shift(d, 0.95)
    covered = int(np.count_nonzero((shift.low <= 0) & (shift.high >= 0)))
    assert stats.binomtest(covered, m).proportion_ci(0.999, method="exact").high >= 0.95


def test_many_rows_are_the_same_as_each_alone() -> None:
    rng = np.random.default_rng(6)
    d = rng.normal(size=(300, 200))
    together = paired_shift(d, 0.95)
    for k in (0, 98, 99, 100, 299):
        alone = paired_shift(d[k : k + 1], 0.95)
        assert together.estimate[k] == alone.estimate[0]
        assert (together.low[k], together.high[k]) == (alone.low[0], alone.high[0])


@pytest.mark.parametrize(
    ("d", "confidence", "message"),
    [
        (np.empty((1, 0)), 0.95, "empty"),
        (np.zeros(4), 0.95, "shape"),
        (row(1, np.nan), 0.95, "nan"),
        (row(1, 2), 1.0, "confidence must lie between 0 and 1"),
        (row(1, 2), np.nan, "confidence"),
        (row(1, 2), 95, "confidence"),
        (np.ones((1, 1001)), 0.95, "up to 1000 pairs"),
    ],
)
def test_bad_input_is_refused(d: np.ndarray, confidence: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paired_shift(d, confidence)


def test_bad_input_of_two_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="one row per benchmark"):
        two_sample_shift(np.ones((2, 3)), np.ones((1, 3)), 0.95)
    with pytest.raises(ValueError, match="confidence"):
        two_sample_shift(row(1), row(2), 0.0)

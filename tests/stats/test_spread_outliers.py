from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.checks import LARGEST
from benchgate.stats.spread import OUTLIER_MODES, OutlierMode, moments, trim, winsorized_sem

GOLDEN = np.array([10, 12, 11, 13, 12, 14, 11, 12, 13, 40], dtype=np.float64)

modes = st.sampled_from(OUTLIER_MODES)
whole = st.lists(st.integers(-100, 100), min_size=1, max_size=80)
anything = st.lists(st.floats(-LARGEST, LARGEST), min_size=1, max_size=60)


@pytest.mark.parametrize(("n", "top5", "both5"), [(200, 190, 180), (19, 18, 19), (20, 19, 18)])
def test_golden_counts(n: int, top5: int, both5: int) -> None:
    values = np.random.default_rng(n).normal(size=n)
    top, both = trim(values, "top5"), trim(values, "both5")
    assert (len(top.kept), top.dropped_low, top.dropped_high) == (top5, 0, n - top5)
    assert len(both.kept) == both5
    assert both.dropped_low == both.dropped_high == (n - both5) // 2
    ascending = np.sort(values)
    assert sorted(top.kept) == ascending[:top5].tolist()
    assert sorted(both.kept) == ascending[both.dropped_low : n - both.dropped_high].tolist()


def test_golden_fences() -> None:
    trimmed = trim(GOLDEN, "iqr")
    assert (trimmed.low_fence, trimmed.high_fence) == (8, 16)
    assert (trimmed.dropped_low, trimmed.dropped_high) == (0, 1)
    assert trimmed.kept.tolist() == GOLDEN[:9].tolist()
    assert trimmed.notes == ()


def test_golden_winsorized_error() -> None:
    trimmed = trim(GOLDEN, "iqr")
    kept = moments(trimmed.kept)
    assert kept.sd == pytest.approx(1.224745, abs=5e-7)
    assert kept.sem == pytest.approx(0.408248, abs=5e-7)
    assert winsorized_sem(trimmed) == pytest.approx(0.462592, abs=5e-7)


def test_mad_fences_lie_three_robust_deviations_out() -> None:
    # Median 12, deviations 2 0 1 1 0 2 1 0 1 28: MAD 1.
    trimmed = trim(GOLDEN, "mad")
    mad = float(stats.median_abs_deviation(GOLDEN))
    assert mad == 1
    assert trimmed.low_fence == pytest.approx(12 - 3 * 1.4826 * mad, rel=1e-14)
    assert trimmed.high_fence == pytest.approx(12 + 3 * 1.4826 * mad, rel=1e-14)
    assert trimmed.kept.tolist() == GOLDEN[:9].tolist()


@pytest.mark.parametrize("n", [5, 40, 333])
def test_normal_values_lose_the_share_that_the_rules_foresee(n: int) -> None:
    rows = np.random.default_rng(n).normal(size=(20_000 // n, n))
    iqr, mad = (
        sum(len(row) - len(trim(row, mode).kept) for row in rows) / rows.size
        for mode in ("iqr", "mad")
    )
    if n > 300:
        assert iqr == pytest.approx(0.007, abs=0.003)
        assert mad == pytest.approx(0.0027, abs=0.0015)
    assert max(iqr, mad) < 0.15


def test_more_than_half_equal_values_make_the_standard_deviation_take_the_place_of_mad() -> None:
    ticks = np.array([100.0] * 80 + [101.0] * 10 + [99.0] * 9 + [900.0])
    trimmed = trim(ticks, "mad")
    assert trimmed.notes == (
        "more than half of the values are equal: MAD is 0, and sd takes its place",
    )
    assert trimmed.high_fence == pytest.approx(100 + 3 * ticks.std(ddof=1), rel=1e-12)
    assert trimmed.kept.tolist() == ticks[:99].tolist()


def test_equal_quartiles_drop_every_other_value_and_say_so() -> None:
    trimmed = trim(np.array([5.0, 5, 5, 6, 5, 5, 4, 5]), "iqr")
    assert trimmed.kept.tolist() == [5] * 6
    assert (trimmed.dropped_low, trimmed.dropped_high) == (1, 1)
    assert trimmed.low_fence == trimmed.high_fence == 5
    assert trimmed.notes == (
        "the quartiles are equal: every other value counts as an outlier; mad is milder",
    )


def test_of_tied_values_the_earliest_go_below_and_the_latest_above() -> None:
    # -0.0 and 0.0 are equal and can be told apart.
    values = np.array([-0.0] + [0.0] * 18 + [-0.0])
    assert np.signbit(trim(values, "top5").kept).tolist() == [True] + [False] * 18
    assert not np.signbit(trim(values, "both5").kept).any()


@pytest.mark.parametrize("mode", OUTLIER_MODES)
def test_one_value_is_kept(mode: OutlierMode) -> None:
    trimmed = trim(np.array([3.0]), mode)
    assert trimmed.kept.tolist() == [3]
    assert trimmed.dropped_low == trimmed.dropped_high == 0
    assert winsorized_sem(trimmed) is None


def test_a_rule_that_can_drop_nothing_says_so() -> None:
    assert trim(np.array([3.0]), "top5").notes == ("one value: it is always kept",)
    assert trim(np.arange(19.0), "both5").notes == (
        "fewer than 20 values: 5 % per end is less than one, and none is dropped",
    )
    assert trim(np.arange(20.0), "both5").notes == ()


@given(anything, modes)
def test_kept_and_dropped_are_the_sample_in_its_order(
    values: list[float], mode: OutlierMode
) -> None:
    trimmed = trim(np.array(values), mode)
    kept = trimmed.kept.tolist()
    assert len(kept) >= 1
    assert len(kept) + trimmed.dropped_low + trimmed.dropped_high == len(values)
    remaining = iter(values)
    assert all(value in remaining for value in kept)
    ascending = sorted(values)
    assert sorted(kept) == ascending[trimmed.dropped_low : len(values) - trimmed.dropped_high]
    if trimmed.low_fence is not None and trimmed.high_fence is not None:
        assert math.isfinite(trimmed.high_fence - trimmed.low_fence)


@given(whole, modes, st.integers(-50, 50))
def test_trimming_follows_shift_and_scale(values: list[int], mode: OutlierMode, by: int) -> None:
    array = np.array(values, dtype=np.float64)
    plain, scaled = trim(array, mode), trim(np.ldexp(array, -1000), mode)
    assert np.ldexp(scaled.kept, 1000).tolist() == plain.kept.tolist()
    if mode != "mad":  # If a value is exactly at such a fence, rounding decides.
        assert trim(array + by, mode).kept.tolist() == (plain.kept + by).tolist()


@given(whole, st.sampled_from(["none", "both5", "mad"]))
def test_a_symmetric_rule_treats_both_ends_alike(values: list[int], mode: OutlierMode) -> None:
    array = np.array(values, dtype=np.float64)
    plain, turned = trim(array, mode), trim(-array, mode)
    assert sorted(-turned.kept) == sorted(plain.kept)
    assert (turned.dropped_low, turned.dropped_high) == (plain.dropped_high, plain.dropped_low)


@given(st.floats(-LARGEST, LARGEST), st.integers(1, 50), st.sampled_from(["none", "iqr", "mad"]))
def test_equal_values_are_all_kept(value: float, n: int, mode: OutlierMode) -> None:
    trimmed = trim(np.full(n, value), mode)
    assert trimmed.kept.tolist() == [value] * n
    assert trimmed.notes == ()


@given(st.lists(st.integers(-100, 100), min_size=2, max_size=60))
def test_with_none_dropped_it_is_the_plain_error(values: list[int]) -> None:
    array = np.array(values, dtype=np.float64)
    assert winsorized_sem(trim(array, "none")) == moments(array).sem


def test_one_kept_of_two_has_no_error() -> None:
    assert winsorized_sem(trim(np.array([1.0, 2.0]), "top5")) is None


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        trim(np.array([]), "iqr")
    with pytest.raises(ValueError, match="nan"):
        trim(np.array([np.nan]), "none")
    with pytest.raises(ValueError, match="shape"):
        trim(np.ones((2, 3)), "mad")
    with pytest.raises(ValueError, match="none, top5, both5, iqr, mad, and is 'sigma'"):
        trim(GOLDEN, "sigma")  # type: ignore[arg-type]

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.power import (
    Test,
    detectable_ratio,
    detectable_ratio_two_sample,
    launches_needed,
    least_launches,
    pooled_robust_spread,
    robust_spread,
)
from benchgate.stats.signedrank import signed_rank


def row(*values: float) -> np.ndarray:
    return np.array([values], dtype=np.float64)


def test_the_spread_ignores_one_outlier() -> None:
    # Deviations from the median 3: 2, 1, 0, 1, 97; their median is 1.
    assert robust_spread(row(1, 2, 3, 4, 100))[0] == pytest.approx(1.4826)


def test_the_spread_of_normal_values_is_their_standard_deviation() -> None:
    d = np.random.default_rng(1).normal(7, 3, size=(1, 100_000))
    assert robust_spread(d)[0] == pytest.approx(3, rel=0.02)


def test_more_than_half_equal_values_fall_back_to_the_standard_deviation() -> None:
    spread = robust_spread(np.array([[5, 5, 5, 5, 9], [5, 5, 5, 5, 5]], dtype=np.float64))
    assert spread.tolist() == [pytest.approx(math.sqrt(3.2)), 0]


@given(st.lists(st.integers(-100, 100), min_size=2, max_size=20), st.integers(-50, 50))
def test_the_spread_follows_shift_and_scale(values: list[int], by: int) -> None:
    d = row(*values)
    np.testing.assert_allclose(robust_spread(-4 * d + by), 4 * robust_spread(d), rtol=1e-12)


def test_the_pooled_spread_does_not_see_the_difference_between_the_arms() -> None:
    x, y = row(1, 2, 3, 4, 5), row(101, 102, 103)
    # Deviations: 2, 1, 0, 1, 2 and 1, 0, 1.
    assert pooled_robust_spread(x, y)[0] == pytest.approx(1.4826)
    x, y = row(5, 5, 5, 5, 9), row(7, 7, 7)
    assert pooled_robust_spread(x, y)[0] == pytest.approx(math.sqrt((4 * 3.2 + 0) / 6))


def test_detectable_ratio_is_the_formula_of_the_gate() -> None:
    spread = np.array([0.0, 0.011, 0.05])
    t = stats.t.ppf(1 - 0.001, 11) + stats.t.ppf(0.9, 11)
    expected = 1 + np.expm1(t * spread / math.sqrt(12))
    np.testing.assert_allclose(detectable_ratio(spread, 12, 0.001), expected, rtol=1e-12)


def test_detectable_ratio_of_two_samples() -> None:
    t = stats.t.ppf(0.99, 13) + stats.t.ppf(0.8, 13)
    expected = math.exp(t * 0.03 * math.sqrt(1 / 5 + 1 / 10))
    ratio = detectable_ratio_two_sample(np.array([0.03]), 5, 10, 0.01, power=0.8)
    assert ratio[0] == pytest.approx(expected, rel=1e-12)


def test_a_detectable_change_is_detected() -> None:
    n, alpha = 15, 0.01
    ratio = detectable_ratio(np.array([0.02]), n, alpha, power=0.9)[0]
    d = np.random.default_rng(7).normal(math.log(ratio), 0.02, size=(4_000, n))
    found = np.count_nonzero(signed_rank(d).p_greater <= alpha) / len(d)
    assert 0.85 <= found <= 0.97


def test_launches_needed_is_the_least_that_is_narrow_enough() -> None:
    spread, wanted = np.array([0.01, 0.05, 0.02]), 0.02
    needed = launches_needed(spread, wanted, 0.95, 100)
    for s, n in zip(spread, needed.tolist(), strict=True):
        width = {k: stats.t.ppf(0.975, k - 1) * s / math.sqrt(k) for k in (n - 1, n) if k > 1}
        assert width[n] <= wanted
        assert n == 2 or width[n - 1] > wanted


def test_launches_needed_at_the_ends_of_its_range() -> None:
    spread = np.array([0.0, 0.5, 0.01, 0.01])
    wanted = np.array([0.001, 0.001, 0.0, -1.0])
    assert launches_needed(spread, wanted, 0.95, 30).tolist() == [2, 31, 31, 31]


@given(st.floats(0, 0.5), st.floats(0, 0.5), st.floats(0.001, 0.1))
def test_more_spread_never_needs_fewer_launches(a: float, b: float, wanted: float) -> None:
    few, many = launches_needed(np.array(sorted([a, b])), wanted, 0.95, 60).tolist()
    assert few <= many


@pytest.mark.parametrize(
    ("alpha", "test", "n"),
    [
        (0.1, "wilcoxon", 4),
        (0.05, "wilcoxon", 5),
        (0.03125, "wilcoxon", 5),
        (0.025, "wilcoxon", 6),
        (0.01, "wilcoxon", 7),
        (0.001, "wilcoxon", 10),
        (0.05, "mann-whitney", 3),
        (0.01, "mann-whitney", 5),
        (0.001, "mann-whitney", 7),
        (0.6, "wilcoxon", 1),
    ],
)
def test_least_launches(alpha: float, test: Test, n: int) -> None:
    assert least_launches(alpha, test) == n


ONE = np.array([0.1])


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 launches"):
        robust_spread(row(1))
    with pytest.raises(ValueError, match="nan"):
        robust_spread(row(1, np.nan))
    with pytest.raises(ValueError, match="at least 2 launches"):
        pooled_robust_spread(row(1, 2), row(1))
    with pytest.raises(ValueError, match="at least 2 launches"):
        detectable_ratio(ONE, 1, 0.01)
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
        detectable_ratio(ONE, 5, 0)
    with pytest.raises(ValueError, match="power"):
        detectable_ratio_two_sample(ONE, 5, 5, 0.01, power=1)
    with pytest.raises(ValueError, match="no negative value"):
        detectable_ratio(-ONE, 5, 0.01)
    with pytest.raises(ValueError, match="half_width must be a number or"):
        launches_needed(ONE, np.array([1.0, 2.0]), 0.95, 30)
    with pytest.raises(ValueError, match="half_width must be finite"):
        launches_needed(ONE, math.nan, 0.95, 30)
    with pytest.raises(ValueError, match="at least 2 launches"):
        launches_needed(ONE, 0.1, 0.95, 1)
    with pytest.raises(ValueError, match="alpha"):
        least_launches(0, "wilcoxon")
    with pytest.raises(ValueError, match="wilcoxon or mann-whitney"):
        least_launches(0.05, "t")  # type: ignore[arg-type]

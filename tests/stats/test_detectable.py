from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.detectable import (
    Test,
    detectable_ratio,
    detectable_ratio_two_sample,
    launches_needed,
    launches_to_detect,
    least_launches,
)
from benchgate.stats.mann_whitney import mann_whitney
from benchgate.stats.signed_rank import signed_rank

TESTS: tuple[Test, ...] = ("wilcoxon", "mann-whitney")


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


def test_a_giant_spread_detects_nothing_and_says_so_without_a_warning() -> None:
    giant = np.array([1e300, 800.0, 0.0])
    assert detectable_ratio(giant, 2, 0.001).tolist() == [math.inf, math.inf, 1]
    assert detectable_ratio_two_sample(giant, 2, 2, 1e-300).tolist() == [math.inf, math.inf, 1]
    assert launches_needed(giant, 0.1, 1 - 1e-16, 30).tolist() == [31, 31, 2]
    assert launches_to_detect(giant, 2.0, 0.001, 0.8, 30).tolist() == [31, 31, 10]


def test_the_tiniest_level_asks_for_a_larger_change_not_for_an_infinite_one() -> None:
    levels = (0.01, 1e-20, 1e-100, 1e-200, 5e-324)
    ratios = [detectable_ratio(np.array([0.01]), 100, alpha)[0] for alpha in levels]
    assert ratios == sorted(ratios)
    assert ratios[-2] == ratios[-1] < 3


@given(st.floats(0.005, 0.1), st.integers(2, 60), st.floats(1e-4, 0.2), st.floats(0.5, 0.99))
def test_launches_to_detect_are_the_fewest_whose_detectable_ratio_is_small_enough(
    spread: float, limit: int, alpha: float, power: float
) -> None:
    s = np.array([spread])
    for test in TESTS:
        ratios = {
            n: detectable_ratio(s, n, alpha, power)[0]
            if test == "wilcoxon"
            else detectable_ratio_two_sample(s, n, n, alpha, power)[0]
            for n in range(2, limit + 1)
        }
        possible = {n: r for n, r in ratios.items() if n >= least_launches(alpha, test)}
        for wanted in (1.05, 1.5, ratios[2], ratios[limit]):
            expected = min((n for n, r in possible.items() if r <= wanted), default=limit + 1)
            found = launches_to_detect(s, wanted, alpha, power, limit, test=test)
            assert found.tolist() == [expected]


def test_launches_to_detect_are_never_fewer_than_the_rank_test_needs() -> None:
    quiet = np.array([0.0, 1e-9])
    assert launches_to_detect(quiet, 1.5, 0.001, 0.8, 30).tolist() == [10, 10]
    assert launches_to_detect(quiet, 1.5, 0.001, 0.8, 9).tolist() == [10, 10]
    assert launches_to_detect(quiet, 1.5, 0.001, 0.8, 30, test="mann-whitney").tolist() == [7, 7]


def test_launches_to_detect_take_improvements_and_a_ratio_for_each_row() -> None:
    spread = np.full(5, 0.02)
    ratios = np.array([1.03, 1 / 1.03, 1.5, 1.0001, 1.0])
    up, down, large, small, none = launches_to_detect(spread, ratios, 0.01, 0.8, 100).tolist()
    assert up == down
    assert 7 == large < up < 100
    assert small == none == 101


@pytest.mark.parametrize("test", TESTS)
def test_so_many_launches_do_detect_the_change(test: Test) -> None:
    spread, ratio, alpha, m = 0.02, 1.03, 0.01, 4_000
    (n,) = launches_to_detect(np.array([spread]), ratio, alpha, 0.8, 100, test=test).tolist()
    rng = np.random.default_rng(11)
    if test == "wilcoxon":
        p = signed_rank(rng.normal(math.log(ratio), spread, size=(m, n))).p_greater
    else:
        x, y = rng.normal(0, spread, size=(2, m, n))
        p = mann_whitney(x, y + math.log(ratio)).p_greater
    assert 0.75 <= np.count_nonzero(p <= alpha) / m <= 0.9


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
    with pytest.raises(ValueError, match="ratio must be above 0"):
        launches_to_detect(ONE, 0, 0.01, 0.8, 30)
    with pytest.raises(ValueError, match="ratio must be a number or"):
        launches_to_detect(ONE, np.array([1.1, 1.2]), 0.01, 0.8, 30)
    with pytest.raises(ValueError, match="no negative value"):
        launches_to_detect(-ONE, 1.1, 0.01, 0.8, 30)
    with pytest.raises(ValueError, match="power"):
        launches_to_detect(ONE, 1.1, 0.01, 0, 30)
    with pytest.raises(ValueError, match="at least 2 launches"):
        launches_to_detect(ONE, 1.1, 0.01, 0.8, 1)
    with pytest.raises(ValueError, match="alpha"):
        least_launches(0, "wilcoxon")
    with pytest.raises(ValueError, match="wilcoxon or mann-whitney"):
        least_launches(0.05, "t")  # type: ignore[arg-type]

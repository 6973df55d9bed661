from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats.t_tests import TTest, paired_t, pooled_sd, two_sample_t

X = np.array([1000.0, 1020, 980, 1010, 990])
Y = np.array([980.0, 970, 990, 960, 985])
samples = st.lists(st.integers(-50, 50).map(float), min_size=2, max_size=12).map(np.array)
spread = samples.filter(lambda x: np.ptp(x) > 0)
NO_SPREAD = ("no spread between launches: the difference cannot be tested",)
ONE_LAUNCH = ("one launch: no spread between launches; take at least 2 of each side",)


def numbers(found: TTest) -> tuple[float, float, float, float, float]:
    """What exists if there is a spread."""
    assert found.t is not None
    assert found.df is not None
    assert found.p_two_sided is not None
    assert found.p_greater is not None
    assert found.p_less is not None
    return (found.t, found.df, found.p_two_sided, found.p_greater, found.p_less)


def every(x: np.ndarray, y: np.ndarray, confidence: float = 0.95) -> list[TTest]:
    return [two_sample_t(x, y, confidence, equal_variance=equal) for equal in (True, False)]


def test_golden_pairs() -> None:
    d = np.log(np.array([108.0, 111, 109, 112, 110]) / np.array([100.0, 101, 99, 102, 100]))
    found = paired_t(d, 0.95)
    assert math.exp(found.estimate) == pytest.approx(1.095583, abs=5e-7)
    assert found.interval is not None
    assert math.exp(found.interval.low) == pytest.approx(1.084658, abs=5e-7)
    assert math.exp(found.interval.high) == pytest.approx(1.106619, abs=5e-7)
    assert (found.interval.confidence, found.interval.method) == (0.95, "t")
    assert found.df == 4
    assert found.notes == ()


def test_golden_samples() -> None:
    student, welch = every(X, Y)
    assert student.p_two_sided == pytest.approx(0.032228, abs=5e-7)
    assert welch.p_two_sided == pytest.approx(0.034112, abs=5e-7)
    assert student.estimate == welch.estimate == -23
    # The head is below the base.
    assert student.p_less == pytest.approx(0.032228 / 2, abs=5e-7)
    assert student.interval is not None
    assert welch.interval is not None
    assert (student.interval.method, welch.interval.method) == ("t", "Welch t")


def test_greater_is_a_head_above_the_base() -> None:
    for found in (*every(np.arange(5.0), np.arange(5.0) + 9), paired_t(np.arange(5.0) + 9, 0.95)):
        t, _, two_sided, greater, less = numbers(found)
        assert found.estimate == pytest.approx(9, abs=2)
        assert t > 0
        assert greater < 0.01
        assert less == pytest.approx(1 - greater)
        assert two_sided == 2 * greater


@given(samples, samples)
def test_swapping_the_arms_swaps_the_sides(x: np.ndarray, y: np.ndarray) -> None:
    for forward, backward in zip(every(x, y), every(y, x), strict=True):
        assert forward.estimate == -backward.estimate
        assert forward.p_greater == backward.p_less
        assert forward.p_two_sided == backward.p_two_sided
        if forward.interval and backward.interval:
            assert forward.interval.low == -backward.interval.high


@given(spread, spread, st.integers(-900, 990))
def test_scale_changes_the_unit_only(x: np.ndarray, y: np.ndarray, exponent: int) -> None:
    small, large = np.ldexp(x, exponent), np.ldexp(y, exponent)
    plain = [*every(x, y), paired_t(x, 0.95)]
    scaled = [*every(small, large), paired_t(small, 0.95)]
    for one, other in zip(plain, scaled, strict=True):
        assert numbers(other) == pytest.approx(numbers(one), rel=1e-12, abs=1e-300)
        assert other.estimate == math.ldexp(one.estimate, exponent)
        assert one.interval is not None
        assert other.interval is not None
        ends = math.ldexp(one.interval.low, exponent), math.ldexp(one.interval.high, exponent)
        width = math.ldexp(one.interval.high - one.interval.low, exponent)
        found = (other.interval.low, other.interval.high)
        assert found == pytest.approx(ends, rel=0, abs=1e-12 * width)


@given(spread, spread, st.integers(-1074, -1060))
def test_subnormal_values_are_tested_as_well_as_they_are_told_apart(
    x: np.ndarray, y: np.ndarray, exponent: int
) -> None:
    for found in every(np.ldexp(x, exponent), np.ldexp(y, exponent)):
        assert (found.notes == NO_SPREAD) == (found.t is None)
        assert found.p_greater is None or 0 <= found.p_greater <= 1


@given(spread, spread, st.integers(-1000, 1000))
def test_a_common_shift_leaves_the_difference(x: np.ndarray, y: np.ndarray, by: int) -> None:
    for plain, moved in zip(every(x, y), every(x + by, y + by), strict=True):
        assert moved.estimate == pytest.approx(plain.estimate, abs=1e-9)
        assert numbers(moved) == pytest.approx(numbers(plain), rel=1e-6, abs=1e-9)


@given(spread, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_interval_excludes_0_where_the_test_rejects(d: np.ndarray, confidence: float) -> None:
    found = paired_t(d, confidence)
    two_sided = numbers(found)[2]
    interval, wider = found.interval, paired_t(d, 0.999).interval
    assert interval is not None
    assert wider is not None
    # If the level is met to the last digit, rounding decides.
    if abs(two_sided - (1 - confidence)) > 1e-12:
        assert (interval.low > 0 or interval.high < 0) == (two_sided < 1 - confidence)
    assert wider.low < interval.low < found.estimate < interval.high < wider.high


@pytest.mark.parametrize("value", [0.1, -3.0, 1e300, 5e-324])
@pytest.mark.parametrize("n", [2, 3, 7])
def test_no_spread_is_told_not_divided_by(value: float, n: int) -> None:
    d = np.full(n, value)
    assert paired_t(d, 0.95) == TTest(value, notes=NO_SPREAD)
    for found in every(np.zeros(3), d):
        assert found == TTest(value, notes=NO_SPREAD)
    for found in (paired_t(d - d, 0.95), *every(d, d)):
        assert found == TTest(0, p_two_sided=1, p_greater=1, p_less=1, notes=NO_SPREAD)


def test_a_spread_that_is_nothing_beside_the_difference_is_none() -> None:
    for found in every(np.array([0.0, 5e-324]), np.array([1e300, 1e300])):
        assert found == TTest(1e300, notes=NO_SPREAD)


def test_spread_in_one_arm_is_enough() -> None:
    x, y = np.array([1.0, 2, 3]), np.full(4, 5.0)
    student, welch = every(x, y)
    assert student.df == 5
    assert welch.df == pytest.approx(2)
    for exponent in (-600, 600):
        tiny = two_sample_t(np.ldexp(x, exponent), y * 0, 0.95, equal_variance=False)
        assert tiny.df == pytest.approx(2)


def test_one_launch_is_told() -> None:
    one = np.array([4.0])
    assert paired_t(one, 0.95) == TTest(4, notes=ONE_LAUNCH)
    for found in (*every(one, X), *every(X, one + 996), *every(one, one)):
        assert found.notes == ONE_LAUNCH
        assert found == TTest(found.estimate, notes=ONE_LAUNCH)


def test_an_interval_beyond_the_largest_float_is_none() -> None:
    found = paired_t(np.array([-1e301, 1e301]), 1 - 1e-16)
    assert found.interval is None
    assert (found.t, found.p_two_sided) == (0, 1)
    assert found.notes == ()


def test_the_pooled_spread_weighs_the_arms_by_their_degrees_of_freedom() -> None:
    assert pooled_sd(3, 2, 4, 2) == pytest.approx(math.sqrt(12.5))
    assert pooled_sd(3, 11, 0, 2) == pytest.approx(math.sqrt(90 / 11))
    assert pooled_sd(1e300, 5, 1e300, 5) == pytest.approx(1e300)


@pytest.mark.parametrize(
    ("values", "confidence", "message"),
    [
        ([], 0.95, "is empty"),
        ([[1.0, 2.0]], 0.95, "must have shape"),
        ([1.0, math.nan], 0.95, "must be finite, and is nan"),
        ([1.0, math.inf], 0.95, "must be finite, and is inf"),
        ([1.0, 1e302], 0.95, "must be within"),
        ([1.0, 2.0], 1.0, "confidence must lie between 0 and 1"),
        ([1.0, 2.0], 95, "confidence must lie between 0 and 1"),
    ],
)
def test_bad_input_is_refused(values: list[float], confidence: float, message: str) -> None:
    bad = np.array(values)
    with pytest.raises(ValueError, match=message):
        paired_t(bad, confidence)
    for x, y in ((bad, X), (X, bad)):
        with pytest.raises(ValueError, match=message):
            two_sample_t(x, y, confidence, equal_variance=False)

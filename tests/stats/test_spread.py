from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.stats.checks import LARGEST
from benchgate.stats.spread import pooled_robust_spread, robust_spread, variance_components


def row(*values: float) -> np.ndarray:
    return np.array([values], dtype=np.float64)


def test_the_spread_ignores_one_outlier() -> None:
    # Deviations from the median 3: 2, 1, 0, 1, 97; their median is 1; 1.206 is the factor for 5.
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
    # Both arms have a median deviation of 1. Their factors differ, and their weights are 4 and 2.
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


launches_of_any_size = st.lists(
    st.lists(st.integers(-100, 100), min_size=1, max_size=6), min_size=1, max_size=8
)


def arrays(launches: list[list[int]]) -> list[np.ndarray]:
    return [np.array(launch, dtype=np.float64) for launch in launches]


def simulated(
    seed: int, sizes: list[int], between: float, within: float, mean: float = 100
) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(mean + rng.normal(0, between), within, size=n) for n in sizes]


def test_a_small_case_by_hand() -> None:
    # Means 1.5 and 4, grand mean 3; MSB 2 (1.5)^2 + 3 (1)^2 = 7.5, MSW (0.5 + 2) / 3,
    # n0 = 5 - 13/5 = 2.4; between^2 = (7.5 - 0.8333) / 2.4 = 2.7778.
    parts = variance_components([np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])])
    assert (parts.launches, parts.samples) == (2, 5)
    assert parts.within_sd == pytest.approx((2.5 / 3) ** 0.5)
    assert parts.between_sd == pytest.approx((25 / 9) ** 0.5)
    assert parts.intraclass_correlation == pytest.approx((25 / 9) / (25 / 9 + 2.5 / 3))
    assert parts.pooled_sem == pytest.approx((2.5 / 5) ** 0.5)
    assert parts.launch_sem == pytest.approx(1.25)
    assert parts.notes == ()


def test_unequal_launches_give_back_the_components_they_were_made_of() -> None:
    runs = [variance_components(simulated(s, [3, 10, 5, 20] * 10, 2, 3)) for s in range(60)]
    between = np.mean([(run.between_sd or 0) ** 2 for run in runs])
    within = np.mean([(run.within_sd or 0) ** 2 for run in runs])
    assert between == pytest.approx(4, rel=0.1)
    assert within == pytest.approx(9, rel=0.05)


def test_pooled_samples_state_too_small_an_error_where_launches_differ() -> None:
    parts = variance_components(simulated(3, [100] * 20, between=2, within=1))
    assert parts.pooled_sem is not None
    assert parts.launch_sem is not None
    assert parts.launch_sem > 5 * parts.pooled_sem
    assert parts.launch_sem == pytest.approx(2 / 20**0.5, rel=0.5)


def test_launches_that_are_too_much_alike_put_between_at_0() -> None:
    parts = variance_components([np.array([1.0, 9.0]), np.array([9.0, 1.0])])
    assert parts.between_sd == parts.intraclass_correlation == parts.launch_sem == 0
    assert parts.within_sd == pytest.approx(32**0.5)
    assert parts.notes == (
        "launches differ no more than their samples: spread between them set to 0",
    )


def test_steady_launches_that_differ_have_all_their_spread_between() -> None:
    parts = variance_components([np.full(3, 0.1), np.full(5, 0.7), np.full(2, 0.4)])
    assert parts.within_sd == 0
    assert parts.between_sd == pytest.approx(0.3, rel=0.3)
    assert parts.intraclass_correlation == 1


def test_one_launch_shows_nothing_between() -> None:
    parts = variance_components([np.array([1.0, 2.0, 3.0])])
    assert parts.between_sd is parts.intraclass_correlation is parts.launch_sem is None
    assert parts.within_sd == pytest.approx(1)
    assert parts.pooled_sem == pytest.approx(3**-0.5)
    assert parts.notes == ("one launch: no spread between launches; take at least 2",)


def test_one_sample_per_launch_does_not_tell_the_two_apart() -> None:
    parts = variance_components([np.array([1.0]), np.array([2.0]), np.array([3.0])])
    assert parts.between_sd is parts.within_sd is parts.intraclass_correlation is None
    assert parts.pooled_sem == parts.launch_sem == pytest.approx(3**-0.5)
    assert parts.notes == ("one sample per launch: no spread within launches; take at least 2",)


def test_one_sample_in_all_shows_nothing() -> None:
    parts = variance_components([np.array([1.0])])
    assert (parts.launches, parts.samples) == (1, 1)
    assert parts.between_sd is parts.within_sd is parts.pooled_sem is parts.launch_sem is None
    assert len(parts.notes) == 2


@given(
    st.floats(-LARGEST, LARGEST),
    st.lists(st.integers(1, 9), min_size=2, max_size=9).filter(
        lambda sizes: sum(sizes) > len(sizes)
    ),
)
def test_equal_values_have_no_spread_and_no_correlation(value: float, sizes: list[int]) -> None:
    parts = variance_components([np.full(n, value) for n in sizes])
    assert parts.between_sd == parts.within_sd == parts.pooled_sem == parts.launch_sem == 0
    assert parts.intraclass_correlation is None
    assert parts.notes == ("all values are equal: no intraclass correlation",)


@given(launches_of_any_size, st.integers(-1000, 990))
def test_it_follows_scale_and_sign(launches: list[list[int]], power: int) -> None:
    plain = variance_components(arrays(launches))
    turned = variance_components([-launch for launch in arrays(launches)])
    assert turned == plain
    scaled = variance_components([np.ldexp(launch, power) for launch in arrays(launches)])
    assert scaled.intraclass_correlation == plain.intraclass_correlation
    assert scaled.notes == plain.notes
    for name in ("between_sd", "within_sd", "pooled_sem", "launch_sem"):
        before, after = getattr(plain, name), getattr(scaled, name)
        assert after == (None if before is None else np.ldexp(before, power))


@given(
    launches_of_any_size.flatmap(lambda found: st.tuples(st.just(found), st.permutations(found)))
)
def test_the_order_of_launches_does_not_matter(
    both: tuple[list[list[int]], list[list[int]]],
) -> None:
    one, other = (variance_components(arrays(launches)) for launches in both)
    assert (one.launches, one.samples) == (other.launches, other.samples)
    for name in ("within_sd", "pooled_sem", "launch_sem", "intraclass_correlation"):
        expected = getattr(one, name)
        found = getattr(other, name)
        assert found == (None if expected is None else pytest.approx(expected, abs=1e-6))


@given(launches_of_any_size)
def test_the_correlation_is_a_share(launches: list[list[int]]) -> None:
    parts = variance_components(arrays(launches))
    if parts.intraclass_correlation is not None:
        assert 0 <= parts.intraclass_correlation <= 1
    if parts.launches > 1 and parts.samples == parts.launches:
        assert parts.pooled_sem == pytest.approx(parts.launch_sem)


def test_launches_without_components_are_refused() -> None:
    good = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match="launches is empty"):
        variance_components([])
    with pytest.raises(ValueError, match=r"launches\[1\] is empty"):
        variance_components([good, np.array([])])
    with pytest.raises(ValueError, match=r"launches\[1\] must be finite, and is nan"):
        variance_components([good, np.array([np.nan])])
    with pytest.raises(ValueError, match=r"launches\[0\] must have shape"):
        variance_components([np.ones((2, 2))])

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchgate.stats.checks import LARGEST
from benchgate.stats.components import variance_components

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


@pytest.mark.parametrize("sizes", [[5] * 6, [2, 9, 30, 4], [1, 1, 7], [200, 100]])
@pytest.mark.parametrize("seed", [1, 2])
def test_it_agrees_with_scipys_analysis_of_variance(sizes: list[int], seed: int) -> None:
    launches = simulated(seed, sizes, between=4, within=1)
    parts = variance_components(launches)
    assert parts.within_sd is not None
    assert parts.between_sd is not None
    n = sum(sizes)
    n0 = (n - sum(size**2 for size in sizes) / n) / (len(sizes) - 1)
    f = 1 + n0 * (parts.between_sd / parts.within_sd) ** 2
    assert f == pytest.approx(stats.f_oneway(*launches).statistic, rel=1e-10)
    assert parts.pooled_sem == pytest.approx(stats.sem(np.concatenate(launches)), rel=1e-12)
    means = [launch.mean() for launch in launches]
    assert parts.launch_sem == pytest.approx(stats.sem(means), rel=1e-12)


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


def test_bad_input_is_refused() -> None:
    good = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match="launches is empty"):
        variance_components([])
    with pytest.raises(ValueError, match=r"launches\[1\] is empty"):
        variance_components([good, np.array([])])
    with pytest.raises(ValueError, match=r"launches\[1\] must be finite, and is nan"):
        variance_components([good, np.array([np.nan])])
    with pytest.raises(ValueError, match=r"launches\[0\] must have shape"):
        variance_components([np.ones((2, 2))])

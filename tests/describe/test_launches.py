from __future__ import annotations

import numpy as np
import pytest
from tests.describe.conftest import noisy_launches

from benchgate.describe.launches import between_launches, reach, within_launch


def test_spreads_between_and_within_launches_are_told_apart() -> None:
    launches = noisy_launches(5, 400, 45, between=0.02, within=0.03)

    found = between_launches(launches, 0.95, seed=1)

    assert found is not None
    assert found.between_ratio == pytest.approx(0.02, rel=0.1)
    assert found.within_ratio == pytest.approx(0.03, rel=0.05)
    assert found.intraclass_correlation == pytest.approx(4 / 13, rel=0.15)
    # Each launch counts once: sqrt((4 + 9/45) / (13/45)) = 3.8 times the pooled error.
    assert found.understatement == pytest.approx(3.8, rel=0.1)


def test_independent_samples_are_not_understated() -> None:
    launches = noisy_launches(6, 400, 45, between=0, within=0.03)

    found = between_launches(launches, 0.95, seed=1)

    assert found is not None
    assert found.intraclass_correlation == pytest.approx(0, abs=0.01)
    assert found.understatement == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize(("launches", "method"), [(29, "t on logs"), (30, "BCa bootstrap")])
def test_few_launches_get_another_interval_than_many(launches: int, method: str) -> None:
    values = noisy_launches(7, launches, 45, between=0.02, within=0.03)

    found = between_launches(values, 0.95, seed=1)

    assert found is not None
    assert found.mean.interval is not None
    assert found.mean.interval.method == method
    assert found.mean.interval.low < found.mean.mean < found.mean.interval.high


def test_a_drift_is_seen_in_the_order_of_the_launches() -> None:
    launches = noisy_launches(8, 20, 45, between=0.001, within=0.01)
    drifting = [launch * (1 + 0.01 * k) for k, launch in enumerate(launches)]

    steady, drift = (between_launches(x, 0.95, seed=1) for x in (launches, drifting))

    assert steady is not None
    assert steady.trend_p is not None
    assert steady.trend_p > 0.01
    assert drift is not None
    assert drift.trend_p is not None
    assert drift.trend_p < 1e-6


def test_one_launch_says_nothing_of_others() -> None:
    launch = noisy_launches(9, 1, 45, between=0.02, within=0.03)

    assert between_launches(launch, 0.95, seed=1) is None
    assert reach(launch, 0.01, 0.8) is None


def test_neighbours_that_depend_on_each_other_are_worth_less() -> None:
    rng = np.random.default_rng(10)
    noise = rng.normal(0, 1e-6, (20, 400))
    correlated = np.empty_like(noise)
    correlated[:, 0] = noise[:, 0]
    for k in range(1, 400):
        correlated[:, k] = 0.6 * correlated[:, k - 1] + noise[:, k]

    free, bound = within_launch(list(1e-3 + noise)), within_launch(list(1e-3 + correlated))

    assert free is not None
    assert free.lag_one == pytest.approx(0, abs=0.05)
    assert free.effective_n > 300
    assert bound is not None
    assert bound.lag_one == pytest.approx(0.6, abs=0.05)
    # The share of AR(1) is (1 - 0.6) / (1 + 0.6).
    assert bound.effective_n == pytest.approx(100, rel=0.3)
    assert bound.samples == 400


@pytest.mark.parametrize("launches", [[[1.0] * 9], [[2.0] * 50], [[1.0]]])
def test_too_few_or_equal_samples_do_not_correlate(launches: list[list[float]]) -> None:
    assert within_launch([np.array(launch) for launch in launches]) is None


def test_smaller_changes_need_more_launches() -> None:
    found = reach(noisy_launches(11, 12, 45, between=0.02, within=0.03), 0.01, 0.8)

    assert found is not None
    assert found.spread_ratio == pytest.approx(0.02, rel=0.6)
    assert [n.change_ratio for n in found.needed] == [0.01, 0.02, 0.05, 0.1]
    counts = [n.launches for n in found.needed if n.launches is not None]
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) > 1
    assert found.detectable_ratio is not None
    # What twelve launches see lies between the changes that need more and those that need fewer.
    for needed in found.needed:
        enough = needed.launches is not None and needed.launches <= 12
        assert enough == (1 + needed.change_ratio >= found.detectable_ratio)


def test_too_few_launches_see_nothing() -> None:
    # 1 / C(6, 3) = 0.05 is the least p of 3 against 3.
    found = reach(noisy_launches(12, 3, 45, between=0.02, within=0.03), 0.01, 0.8)

    assert found is not None
    assert found.detectable_ratio is None


def test_what_has_no_logarithm_has_no_reach() -> None:
    assert reach([np.array([0.0]), np.array([1.0])], 0.01, 0.8) is None

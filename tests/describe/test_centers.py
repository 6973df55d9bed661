from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.describe.conftest import noisy_launches

from benchgate.describe.centers import full_mean, quantiles, trimmed_mean


def test_quantiles_are_values_that_were_measured() -> None:
    found = quantiles([np.arange(1.0, 21.0)], 0.95, seed=1, resampled=False)[0]

    assert {q.name: q.value for q in found} == {
        "min": 1.0,
        "p25": 5.0,
        "median": 10.0,
        "p75": 15.0,
        "p95": 19.0,
        "p99": 20.0,
        "p99.9": 20.0,
        "max": 20.0,
    }
    assert {q.name for q in found if q.note == "equals the maximum"} == {"p99", "p99.9"}
    assert all(q.interval is None for q in found)


def test_intervals_come_from_launches_where_there_are_several() -> None:
    launches = noisy_launches(3, 12, 45, between=0.05, within=0.01)

    by_name = {q.name: q for q in quantiles(launches, 0.95, seed=1, resampled=True)[0]}

    assert by_name["min"].interval is None
    assert by_name["max"].interval is None
    median = by_name["median"]
    assert median.interval is not None
    assert median.interval.method == "hierarchical bootstrap"
    assert median.interval.low < median.value < median.interval.high
    # 540 independent samples would give about 0.5 % in all; twelve launches 5 % apart cannot.
    assert (median.interval.high - median.interval.low) / median.value > 0.02


@pytest.mark.parametrize("count", [9, 10])
def test_few_launches_are_a_doubt_about_the_quantiles(count: int) -> None:
    launches = noisy_launches(3, count, 45, between=0.05, within=0.01)

    notes = quantiles(launches, 0.95, seed=1, resampled=True)[1]

    few = "quantiles: 9 launches: intervals may be too short; 10 or more are better"
    assert notes == ((few,) if count == 9 else ())


def test_of_one_launch_the_interval_is_that_of_its_own_samples() -> None:
    launches = noisy_launches(3, 1, 45, between=0, within=0.01)

    by_name = {q.name: q for q in quantiles(launches, 0.95, seed=1, resampled=True)[0]}

    assert by_name["median"].interval is not None
    assert by_name["median"].interval.method == "order statistics"
    # 45 samples show no 95 % interval of p95: that takes 72.
    assert (by_name["p95"].interval, by_name["p99"].interval) == (None, None)
    assert by_name["p95"].note == "too few samples for an interval"
    assert by_name["p99"].note == "equals the maximum"
    assert (by_name["median"].note, by_name["max"].note) == ("", "")


def test_a_quantile_that_is_the_least_sample_has_no_interval_and_says_so() -> None:
    found = quantiles([np.array([1.0]), np.array([2.0])], 0.95, seed=1, resampled=True)[0]

    assert {q.name: (q.interval, q.note) for q in found} == {
        "min": (None, ""),
        "p25": (None, "too few samples for an interval"),
        "median": (None, "too few samples for an interval"),
        **dict.fromkeys(("p75", "p95", "p99", "p99.9"), (None, "equals the maximum")),
        "max": (None, ""),
    }


def test_the_mean_has_the_interval_of_scipy() -> None:
    values = np.array([10.0, 12, 11, 13, 12, 14, 11, 12, 13])

    found = full_mean(values, 0.95)

    low, high = stats.t.interval(0.95, 8, loc=values.mean(), scale=stats.sem(values))
    assert found.interval is not None
    assert found.interval.low == pytest.approx(low, rel=1e-12)
    assert found.interval.high == pytest.approx(high, rel=1e-12)
    assert (found.n, found.mean) == (9, 12.0)
    assert found.cv == pytest.approx(found.sd / 12.0 if found.sd else 0)


def test_what_is_left_without_outliers_remembers_them() -> None:
    values = np.array([10.0, 12, 11, 13, 12, 14, 11, 12, 13, 40])

    found, notes = trimmed_mean(values, "iqr", 0.95)

    assert notes == ()
    assert (found.mode, found.dropped_low, found.dropped_high) == ("iqr", 0, 1)
    assert (found.mean.n, found.mean.mean) == (9, 12.0)
    assert found.mean.sd == pytest.approx(1.224745, abs=5e-7)
    assert found.mean.sem == pytest.approx(0.462592, abs=5e-7)
    assert found.mean.interval is not None
    assert found.mean.interval.method == "Winsorized t"


def test_what_a_rule_could_not_do_as_it_is_meant_is_told() -> None:
    values = np.array([1.0] * 9 + [2.0])

    found, notes = trimmed_mean(values, "iqr", 0.95)

    assert found.dropped_high == 1
    (note,) = notes
    assert note.startswith("outliers by iqr: the quartiles are equal")


def test_one_value_has_a_mean_and_nothing_else() -> None:
    found = full_mean(np.array([3.0]), 0.95)

    assert (found.n, found.mean) == (1, 3.0)
    assert (found.sd, found.cv, found.sem, found.interval) == (None, None, None, None)

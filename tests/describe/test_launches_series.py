from __future__ import annotations

import pytest
from tests.describe.conftest import COUNT
from tests.results import of_series, series_of

from benchgate.describe.launches import summarize
from benchgate.model.metrics import CPU_TIME


def test_a_line_holds_medians_over_the_launches() -> None:
    launches = [[1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0], [10.0, 20.0, 30.0, 40.0]]
    series = series_of(launches, loops=7)

    found = summarize(of_series("a", series), series)

    assert (found.benchmark, found.metric, found.unit) == ("a", "time", "s")
    assert (found.launches, found.samples, found.loops) == (3, 4, 7)
    assert (found.p25, found.median) == (2.0, 4.0)
    # The p25 are 1, 2 and 10: their median absolute deviation is 1, and 1.495 the factor of 3.
    assert found.spread_ratio == pytest.approx(1.495 * 1.4826 / 2)


@pytest.mark.parametrize(("samples", "has_tail"), [(39, False), (40, True)])
def test_a_tail_needs_samples(samples: int, *, has_tail: bool) -> None:
    series = series_of([[float(k) for k in range(1, samples + 1)]])

    assert summarize(of_series("a", series), series).p95 == (38.0 if has_tail else None)


@pytest.mark.parametrize(
    ("samples", "tails"),
    [
        (39, (None, None, None)),
        (40, (None, None, 40.0)),
        (200, (198.0, None, 200.0)),
        (2000, (1980.0, 1998.0, 2000.0)),
    ],
)
def test_a_longer_tail_needs_more_samples(
    samples: int, tails: tuple[float | None, float | None, float | None]
) -> None:
    series = series_of([[float(k) for k in range(1, samples + 1)]])

    found = summarize(of_series("a", series), series)

    assert (found.p99, found.p999, found.max) == tails


def test_the_cpu_time_is_a_share_of_the_wall_clock_time() -> None:
    time = series_of([[2.0, 4.0], [2.0, 4.0], [20.0, 40.0]])
    cpu = series_of([[0.5], [0.6], [7.0]], metric=CPU_TIME)
    both = of_series("a", time, cpu)

    assert summarize(both, time).cpu_ratio == pytest.approx(0.3)
    assert summarize(both, cpu).cpu_ratio is None
    assert summarize(of_series("a", time), time).cpu_ratio is None
    stopped = series_of([[0.0]])
    assert summarize(of_series("a", stopped, cpu), stopped).cpu_ratio is None


def test_one_launch_and_exact_values_have_no_spread() -> None:
    one = series_of([[1.0, 2.0]])
    exact = series_of([[9.0], [10.0]], metric=COUNT)

    assert summarize(of_series("a", one), one).spread_ratio is None
    assert summarize(of_series("a", exact), exact).spread_ratio is None


def test_a_median_of_zero_has_no_relative_spread() -> None:
    series = series_of([[0.0], [0.0], [1.0]])

    assert summarize(of_series("a", series), series).spread_ratio is None

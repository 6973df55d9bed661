"""What `show --plot` draws, as shares of values for each column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.describe.conftest import COUNT, benchmark_of, noisy_launches, result_of, series_of
from tests.loads import measured_step

from benchgate.describe.figures import distributions
from benchgate.errors import FormatError
from benchgate.model.figures import ColumnRange, Distribution, Shape
from benchgate.model.run import Kind, Metric

LAUNCHES = noisy_launches(1, 10, 40, between=0.01, within=0.03)
POOLED = np.concatenate(LAUNCHES)


def found(*launches: list[float], shape: Shape = Shape.ECDF, columns: int = 50) -> Distribution:
    """The distribution of a benchmark of these launches."""
    result = result_of(benchmark_of("sort", series_of(launches)))
    (one,) = distributions(result, shape, columns)
    return one


def test_a_curve_is_the_share_of_samples_up_to_the_right_end_of_each_column() -> None:
    one = found(*[list(launch) for launch in LAUNCHES])
    (curve,) = one.curves
    ends = np.linspace(one.axis.low, one.axis.high, 51)[1:]

    assert curve.shares == pytest.approx([(end >= POOLED).mean() for end in ends])
    assert (curve.arm, curve.launches, curve.values) == ("head", 10, 400)
    assert (one.benchmark, one.metric, one.unit, one.what) == ("sort", "time", "s", "samples")


def test_bins_hold_each_sample_of_the_axis_once() -> None:
    one = found(*[list(launch) for launch in LAUNCHES], shape=Shape.HISTOGRAM, columns=10)
    shares = one.curves[0].shares
    counts, _ = np.histogram(POOLED, bins=5, range=(one.axis.low, one.axis.high))

    assert shares[::2] == shares[1::2] == pytest.approx(counts / 400)
    assert sum(shares[::2]) == pytest.approx(1 - (one.below + one.above) / 400)


def test_more_samples_have_narrower_bins() -> None:
    few, many = (
        found(list(np.random.default_rng(1).normal(9, 1, n)), shape=Shape.HISTOGRAM, columns=100)
        for n in (20, 2000)
    )

    assert len(set(few.curves[0].shares)) < len(set(many.curves[0].shares)) <= 50


def test_few_outliers_do_not_squeeze_the_rest() -> None:
    one = found([*np.linspace(1, 2, 998), 1e3, 2e3])

    assert one.axis.high < 2.01
    assert (one.below, one.above) == (9, 10)
    assert one.curves[0].shares[-1] == pytest.approx(0.99)


def test_few_samples_are_all_drawn() -> None:
    one = found([1.0, 2.0, 4.0])

    assert one.axis == ColumnRange(1.0, 4.0)
    assert (one.below, one.above, one.curves[0].shares[-1]) == (0, 0, 1)


def test_the_axis_is_logarithmic_where_it_spans_a_decade() -> None:
    one = found([1.0, 10.0, 100.0], columns=4)

    assert one.axis == ColumnRange(1.0, 100.0, log=True)
    assert one.curves[0].shares == pytest.approx([1 / 3, 2 / 3, 2 / 3, 1])
    assert not found([0.0, 100.0]).axis.log


@pytest.mark.parametrize("shape", Shape)
@pytest.mark.parametrize("value", [0.0, 3e-6, 1.7e308])
def test_equal_samples_are_one_step(value: float, shape: Shape) -> None:
    one = found([value] * 5, shape=shape)

    assert one.axis.low < value < one.axis.high
    assert (one.below, one.above) == (0, 0)
    assert max(one.curves[0].shares) == 1


@pytest.mark.parametrize("shape", Shape)
def test_extreme_samples_are_drawn(shape: Shape) -> None:
    points = replace(COUNT, name="points", kind=Kind.SAMPLED)
    series = series_of([[-1.7e308, 0.0, 1.7e308]], metric=points)
    (one,) = distributions(result_of(benchmark_of("sort", series)), shape, 30)

    assert np.isfinite(one.curves[0].shares).all()
    assert max(one.curves[0].shares) <= 1


def test_both_arms_share_an_axis_and_the_base_comes_first() -> None:
    head = result_of(
        benchmark_of("sort", series_of([[2.0, 4.0]])), benchmark_of("new", series_of([[1.0]]))
    )
    base = result_of(
        benchmark_of("sort", series_of([[1.0, 2.0]])), benchmark_of("old", series_of([[1.0]]))
    )
    drawn = distributions(replace(head, base=base.head), Shape.ECDF, 30)

    assert [one.benchmark for one in drawn] == ["sort", "new", "old"]
    assert [curve.arm for curve in drawn[0].curves] == ["base", "head"]
    assert drawn[0].axis == ColumnRange(1.0, 4.0)
    assert [[curve.arm for curve in one.curves] for one in drawn[1:]] == [["head"], ["base"]]


def test_time_is_drawn_unless_other_metrics_are_asked_for() -> None:
    rss = series_of([[1.0], [2.0]], metric=Metric("peak_rss", "B"))
    exact = series_of([[7.0]], metric=COUNT)
    summary = series_of([[7.0]], metric=Metric("mean", "s", kind=Kind.SUMMARY))
    result = result_of(
        benchmark_of("sort", series_of([[1.0]]), rss, exact),
        benchmark_of("imported", summary),
        benchmark_of("memory", rss),
    )

    def drawn(*metrics: str) -> list[tuple[str, str]]:
        return [(o.benchmark, o.metric) for o in distributions(result, Shape.ECDF, 30, metrics)]

    assert drawn() == [("sort", "time"), ("memory", "peak_rss")]
    assert drawn("peak_rss") == [("sort", "peak_rss"), ("memory", "peak_rss")]
    assert drawn("alloc_blocks") == drawn("mean") == []


@pytest.mark.parametrize("shape", Shape)
def test_a_step_has_the_latencies_of_all_its_operations(shape: Shape) -> None:
    step = measured_step(np.random.default_rng(1), rounds=6)
    (one,) = distributions(result_of(step), shape, 60)
    (curve,) = one.curves

    assert step.load is not None
    assert (one.metric, one.unit, one.what) == ("latency", "s", "operations")
    assert curve.values == sum(launch.ops for launch in step.load.launches)
    assert one.above + one.below <= 0.003 * curve.values
    (asked,) = distributions(result_of(step), shape, 60, ("throughput",))
    assert (asked.metric, asked.what, asked.curves[0].values) == ("throughput", "samples", 6)


def test_a_damaged_histogram_is_an_error() -> None:
    step = measured_step(np.random.default_rng(1), rounds=2)
    assert step.load is not None
    launches = tuple(replace(launch, histogram="?") for launch in step.load.launches)
    damaged = replace(step, load=replace(step.load, launches=launches))

    with pytest.raises(FormatError, match="cannot be read"):
        distributions(result_of(damaged), Shape.ECDF, 30)

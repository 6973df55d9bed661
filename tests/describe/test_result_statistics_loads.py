"""The statistics of steps of scenarios."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.loads import GENERATOR, measured_step, step

from benchgate.describe.result_statistics import describe
from benchgate.describe.steps import describe_load, histogram_of
from benchgate.errors import FormatError
from benchgate.model.environment import Environment
from benchgate.model.result import Result
from benchgate.model.run import Run, Source
from benchgate.model.statistics import STATISTICS
from benchgate.stats.intervals import location_interval

if TYPE_CHECKING:
    from benchgate.model.run import BenchmarkResult
    from benchgate.model.statistics import LoadStatistics


def described(one: BenchmarkResult, *, detailed: bool = False) -> LoadStatistics:
    assert one.load is not None
    return describe_load(one, one.load, seed=1, confidence=0.95, detailed=detailed)


@pytest.fixture
def lookup() -> BenchmarkResult:
    return measured_step(np.random.default_rng(1), rounds=6, stall=True, failing=2)


def test_each_metric_is_described_over_the_launches() -> None:
    values = [100.0, 110.0, 90.0, 105.0]
    found = described(step({"throughput": values, "error_ratio": [0.0, 0.1, 0.0, 0.1]}))
    ops, throughput, errors = found.metrics
    assert (throughput.metric, throughput.unit, throughput.mean.n) == ("throughput", "1/s", 4)
    assert (throughput.least, throughput.greatest) == (90, 110)
    assert throughput.mean.mean == pytest.approx(np.prod(values) ** 0.25)
    assert throughput.mean.sd == pytest.approx(np.std(values, ddof=1))
    assert throughput.mean.cv == pytest.approx(np.std(values, ddof=1) / np.mean(values))
    assert throughput.mean.interval == location_interval(np.array(values), 0.95, seed=1)
    assert (errors.mean.geometric, errors.mean.mean) == (False, 0.05)
    assert errors.mean.interval is not None
    assert (errors.mean.interval.method, ops.metric, ops.mean.mean) == ("t", "ops", 3)


def test_a_single_launch_has_no_spread() -> None:
    (ops, throughput) = described(step({"throughput": [100.0]})).metrics
    assert throughput.mean.mean == pytest.approx(100)
    assert (throughput.mean.sd, throughput.mean.cv, throughput.mean.interval) == (None, None, None)
    assert ops.mean.n == 1


def test_stalls_and_errors_are_counted(lookup: BenchmarkResult) -> None:
    found = described(lookup)
    assert (found.windows, found.window_s, found.launches) == (30, 1, 6)
    assert found.errors == 12
    assert found.error_texts[0].text == "the database is locked"
    assert found.error_texts[0].count == 12
    assert lookup.load is not None
    quiet = [not launch.windows.errors[2] for launch in lookup.load.launches]
    assert found.empty_windows == sum(quiet)
    assert found.detail is None


def test_details_come_from_the_histograms(lookup: BenchmarkResult) -> None:
    found = described(lookup, detailed=True)
    assert found.detail is not None
    by_name = {one.name: one.value_s for one in found.detail.percentiles}
    assert next(iter(by_name)) == "min"
    assert by_name["p50"] == pytest.approx(0.00092, rel=0.1)
    assert by_name["p50"] < by_name["p95"] < by_name["p99"] <= by_name["max"]
    assert lookup.load is not None
    assert [one.round for one in found.detail.courses] == list(range(6))
    first, launch = found.detail.courses[0], lookup.load.launches[0]
    assert (first.ops, first.window_ops) == (launch.ops, launch.windows.ops)
    assert first.generator_cpu_ratio == GENERATOR.groups[0].cpu_ratio
    assert first.late_p99_s is None


def test_a_histogram_that_counts_other_operations_is_refused(lookup: BenchmarkResult) -> None:
    assert lookup.load is not None
    launch = lookup.load.launches[3]
    assert histogram_of("x", launch).count == launch.ops
    with pytest.raises(FormatError, match=r"in round 3 has \d+ latencies, but \d+ operations"):
        histogram_of("x", replace(launch, ops=launch.ops + 1))


@pytest.mark.parametrize("outliers", [None, "iqr"])
def test_they_are_part_of_the_statistics_of_a_result(
    lookup: BenchmarkResult, outliers: None
) -> None:
    run = Run(Source(), "2025-01-31T09:30:00Z", Environment(), (lookup,))
    found = describe(Result(run, run), outliers)
    again = STATISTICS.read(STATISTICS.write(found, str), "x")
    assert again == found
    assert [len(one.loads) for one in again.runs] == [1, 1]
    assert (again.runs[0].loads[0].detail is not None) is (outliers is not None)
    assert {one.metric for one in again.runs[0].series} >= {"throughput", "time_p99.9"}


def test_nothing_at_all_can_be_described() -> None:
    one = step({})
    found = described(one, detailed=True)
    assert (found.launches, found.metrics, found.duration_s) == (0, (), 0.0)
    assert found.detail is not None
    assert found.detail.percentiles == ()

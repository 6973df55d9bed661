from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.formats.benchmarkdotnet import benchmarkdotnet
from benchgate.formats.contents import ForeignFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.formats.rows import Reading

RESULT = {
    "IterationMode": "Workload",
    "IterationStage": "Result",
    "LaunchIndex": 1,
    "IterationIndex": 1,
    "Operations": 2,
    "Nanoseconds": 5.0,
}
LIKES = {"Id": "Likes", "Unit": "likes", "TheGreaterTheBetter": True}


def parse(measurements: list[dict[str, Any]], metrics: Sequence[dict[str, Any]] = ()) -> Reading:
    host = {"BenchmarkDotNetVersion": "0.14.0"}
    row = {"FullName": "A.B", "Measurements": measurements, "Metrics": metrics}
    data = {"HostEnvironmentInfo": host, "Benchmarks": [row]}
    return benchmarkdotnet.parse(ForeignFile("r.json", json.dumps(data).encode()))


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"Operations": 0}, "launch 1[0]: inf is not a possible value"),
        ({"Nanoseconds": -1}, "launch 1[0]: -5e-10 is negative, which a time cannot be"),
        ({"Nanoseconds": None}, "the key 'Nanoseconds' is missing"),
    ],
)
def test_a_bad_measurement_fails_the_row(changed: dict[str, Any], error: str) -> None:
    (row,) = parse([{**RESULT, **changed}]).benchmarks
    assert row.error is not None
    assert row.error.endswith(error)


def test_a_metric_that_has_no_value_is_told() -> None:
    metrics = [{"Value": "NaN", "Descriptor": LIKES}]
    reading = parse([RESULT], metrics)
    assert [row.error for row in reading.benchmarks] == [None]
    assert reading.skipped == (
        "a metric of A.B: Benchmarks[0].Metrics[0].Value: 'NaN' is not a number",
    )


def test_a_metric_that_is_there_twice_fails_the_row() -> None:
    metrics = [{"Value": 1, "Descriptor": LIKES}] * 2
    (row,) = parse([RESULT], metrics).benchmarks
    assert row.error == "the metric 'Likes' is there twice"

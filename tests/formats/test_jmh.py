from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.formats.test_conformance import described

from benchgate.formats.contents import ForeignFile
from benchgate.formats.jmh import jmh

if TYPE_CHECKING:
    from benchgate.model.run import BenchmarkResult


def read(primary: dict[str, Any]) -> BenchmarkResult:
    data = [{"benchmark": "a.B.c", "mode": "avgt", "primaryMetric": primary}]
    (row,) = jmh.parse(ForeignFile("out.json", json.dumps(data).encode())).benchmarks
    return row


@pytest.mark.parametrize(
    ("unit", "series"),
    [
        ("ops/min", "throughput ops/s higher sampled 1x1 loops=1 0.5"),
        ("ops/sec", "throughput ops/s higher sampled 1x1 loops=1 30"),
        ("min/op", "time s lower sampled 1x1 loops=1 1800"),
        ("#/op", "#/op #/op lower sampled 1x1 loops=1 30"),
    ],
)
def test_the_unit_tells_metric_and_direction(unit: str, series: str) -> None:
    assert described(read({"scoreUnit": unit, "rawData": [[30.0]]})) == (series,)


def test_a_unit_without_a_direction_fails_the_row() -> None:
    row = read({"scoreUnit": "widgets", "rawData": [[30.0]]})
    assert row.error == "JMH does not say which direction of 'widgets' is better"


def test_without_raw_data_the_score_is_a_summary() -> None:
    row = read({"scoreUnit": "us/op", "score": 2.0, "rawData": []})
    assert described(row) == ("time s lower summary 1x1 loops=1 2e-06",)


def test_a_large_histogram_keeps_its_shape_in_bounded_memory() -> None:
    pairs = [[2.0, 10**12], [1.0, 3 * 10**12]]
    row = read({"scoreUnit": "s/op", "rawDataHistogram": [[pairs]]})
    samples = row.series[0].launches[0].samples
    assert len(samples) == 40
    assert np.mean(samples == 1.0) == 0.75


@pytest.mark.parametrize("pair", [[1.0, -1], [1.0, 0], [1.0, 1e300], [1.0], [1.0, float("nan")]])
def test_what_is_no_histogram_fails_the_row(pair: list[float]) -> None:
    row = read({"scoreUnit": "s/op", "rawDataHistogram": [[[pair]]]})
    assert row.error is not None
    assert row.error.startswith("[0].primaryMetric.rawDataHistogram[0]: is not a ")

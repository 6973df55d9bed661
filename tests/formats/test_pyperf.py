from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.formats.test_conformance import described

from benchgate.errors import FormatError
from benchgate.formats.contents import ForeignFile
from benchgate.formats.pyperf import pyperf

if TYPE_CHECKING:
    from benchgate.model.run import BenchmarkResult


def read(*runs: dict[str, Any], **metadata: object) -> BenchmarkResult:
    rows = [{"metadata": {"name": "a", **metadata}, "runs": runs}]
    document = {"benchmarks": rows, "version": "1.0"}
    (row,) = pyperf.parse(ForeignFile("p.json", json.dumps(document).encode())).benchmarks
    return row


def test_what_a_run_says_itself_comes_first() -> None:
    row = read({"values": [1.0], "metadata": {"loops": 8, "inner_loops": 4}}, loops=2)
    assert described(row) == ("time s lower sampled 1x1 loops=32 1",)


def test_a_peak_that_only_some_runs_have_is_no_metric() -> None:
    row = read({"values": [1.0], "metadata": {"mem_max_rss": 100}}, {"values": [2.0]})
    assert described(row) == ("time s lower sampled 2x1 loops=1 1",)


def test_an_error_names_the_run() -> None:
    row = read({"warmups": [[1, 1.0]]}, {"values": [1.0]}, {"values": [1.0, float("inf")]})
    assert row.error == "benchmarks[0].runs[2].values[1]: inf is not a possible value"


def test_a_benchmark_that_was_only_calibrated_failed() -> None:
    assert read({"warmups": [[1, 1.0]]}).error == "it was only calibrated: no run has values"


def test_an_unknown_unit_fails_the_row() -> None:
    assert read({"values": [1.0]}, unit="apples").error == "the unit 'apples' is unknown"


def test_another_version_is_an_error() -> None:
    with pytest.raises(FormatError, match=r"^p.json: benchgate does not read version 5$"):
        pyperf.parse(ForeignFile("p.json", b'{"benchmarks": [], "version": 5}'))

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.formats.test_conformance import described

from benchgate.errors import FormatError
from benchgate.formats.contents import ForeignFile
from benchgate.formats.haskell_criterion import haskell_criterion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.formats.rows import Reading

KEYS = ("time", "iters", "allocated", "numGcs")


def parse(*measured: Sequence[float | None], keys: Sequence[str] = KEYS) -> Reading:
    report = {"reportName": "a", "reportKeys": keys, "reportMeasured": measured}
    return read(json.dumps(["criterion", "1.6.3.0", [report]]))


def read(text: str) -> Reading:
    return haskell_criterion.parse(ForeignFile("out", text.encode()))


def test_what_the_runtime_counted_is_read_per_iteration_or_told() -> None:
    reading = parse([0.06, 2, 64, 1], [0.09, 3, 96, 1])
    assert described(reading.benchmarks[0]) == (
        "time s lower sampled 1x2 loops=2 0.03",
        "allocated B lower exact 1x2 loops=2 32",
    )
    assert reading.skipped == ("the column numGcs: benchgate reads only time, cpuTime, allocated",)


def test_short_samples_count_only_if_there_are_no_others() -> None:
    short, long = [0.01, 1, None, None], [0.04, 1, None, None]
    (row,) = parse(short, long).benchmarks
    assert described(row) == ("time s lower sampled 1x1 loops=1 0.04",)
    (row,) = parse(short, short).benchmarks
    assert described(row) == ("time s lower sampled 1x2 loops=1 0.01",)


@pytest.mark.parametrize(
    ("measured", "error"),
    [
        ([], "has 0 values, not 4"),
        ([0.1, 0, None, None], "inf is not a possible value"),
        ([0.1, None, None, None], "is not a list of numbers"),
        ([None, 1, None, None], "is not a list of numbers"),
    ],
)
def test_a_bad_sample_fails_the_row(measured: list[float | None], error: str) -> None:
    (row,) = parse(measured).benchmarks
    assert row.error is not None
    assert row.error.endswith(error)


def test_a_report_without_iterations_fails() -> None:
    (row,) = parse([0.1], keys=["time"]).benchmarks
    assert row.error == "[2][0].reportMeasured: the key 'iters' is missing"


def test_a_bad_line_of_csv_fails_the_row() -> None:
    reading = read("Name,Mean,MeanLB,MeanUB,Stddev\na,x,1,1,1\nb,1e-3,1,1,1\n")
    assert [(row.id, described(row)) for row in reading.benchmarks] == [
        ("a", "line 2: Mean: 'x' is not a number"),
        ("b", ("time s lower summary 1x1 loops=1 0.001",)),
    ]


@pytest.mark.parametrize("text", ["{}", '["criterion", "1"]', '["criterion", "1", {}]'])
def test_what_is_no_list_of_reports_is_an_error(text: str) -> None:
    with pytest.raises(FormatError, match=r"^out: "):
        read(text)

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchgate.errors import FormatError
from benchgate.formats.contents import ForeignFile
from benchgate.formats.google_benchmark import google_benchmark

if TYPE_CHECKING:
    from benchgate.formats.rows import Reading

ROW = {
    "name": "X",
    "run_name": "X",
    "run_type": "iteration",
    "iterations": 10,
    "real_time": 2.0,
    "cpu_time": 1.0,
    "time_unit": "us",
}


def parse(*rows: dict[str, Any]) -> Reading:
    data = {"context": {"num_cpus": 1}, "benchmarks": rows}
    return google_benchmark.parse(ForeignFile("out.json", json.dumps(data).encode()))


def test_a_repetition_that_failed_fails_the_benchmark() -> None:
    reading = parse(ROW, {**ROW, "error_occurred": True, "error_message": "no device"})
    assert [(row.id, row.error) for row in reading.benchmarks] == [("X", "it failed: no device")]


def test_a_benchmark_that_skipped_itself_is_told() -> None:
    reading = parse({**ROW, "skipped": True, "skip_message": "too few processors"})
    assert not reading.benchmarks
    assert reading.skipped == ("X: it skipped itself: too few processors",)


def test_two_benchmarks_of_one_name_are_not_mixed() -> None:
    reading = parse({**ROW, "family_index": 0}, {**ROW, "family_index": 1})
    assert [row.error for row in reading.benchmarks] == ["the file has 2 benchmarks of this name"]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"time_unit": "h"}, "benchmarks[0].time_unit: 'h' is unknown"),
        ({"real_time": -1.0}, "real_time[0]: -1e-06 is negative, which a time cannot be"),
        ({"cpu_time": None}, "benchmarks[0]: the key 'cpu_time' is missing"),
        ({"cpu_time": float("nan")}, "cpu_time[0]: nan is not a possible value"),
    ],
)
def test_a_bad_value_fails_the_row(changed: dict[str, Any], error: str) -> None:
    broken, other = parse({**ROW, **changed}, {**ROW, "run_name": "Y"}).benchmarks
    assert (broken.error, other.error) == (error, None)


def test_csv_without_its_columns_is_an_error() -> None:
    with pytest.raises(FormatError, match=r"^a.csv: line 2: is not CSV: "):
        google_benchmark.parse(
            ForeignFile("a.csv", b'name,iterations,real_time,cpu_time,time_unit\n"X"Y,1,1,1,ns\n')
        )

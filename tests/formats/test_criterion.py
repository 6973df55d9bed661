from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.formats.test_conformance import described

from benchgate.errors import FormatError
from benchgate.formats.contents import ForeignFile
from benchgate.formats.criterion import criterion

if TYPE_CHECKING:
    from benchgate.formats.rows import Reading

NAMED = {"a/new/benchmark.json": {"full_id": "A"}}


def parse(files: dict[str, Any]) -> Reading:
    data = {path: json.dumps(value).encode() for path, value in files.items()}
    return criterion.parse(ForeignFile("target/criterion", files=data))


@pytest.mark.parametrize(
    ("sample", "error"),
    [
        ({"times": [1.0, 2.0], "iters": [1.0]}, "times: has 2 values but 1 numbers of iterations"),
        ({"times": [1.0], "iters": [0.0]}, "times[0]: inf is not a possible value"),
        ({"times": ["1"], "iters": [1.0]}, "times: is not a list of numbers"),
        ({"times": [], "iters": []}, "times: there are no samples"),
    ],
)
def test_a_bad_sample_fails_the_row(sample: dict[str, Any], error: str) -> None:
    reading = parse({**NAMED, "a/new/sample.json": sample})
    assert [(row.id, row.error) for row in reading.benchmarks] == [("A", error)]


def test_a_file_that_is_missing_fails_the_row() -> None:
    assert [row.error for row in parse(NAMED).benchmarks] == ["a/new/sample.json: is missing"]
    reading = parse({"a/b/new/sample.json": {"times": [1.0], "iters": [1.0]}})
    assert [(row.id, row.error) for row in reading.benchmarks] == [
        ("a/b", "a/b/new/benchmark.json: is missing")
    ]


def test_runs_that_were_saved_under_a_name_are_told() -> None:
    sample = {"times": [5.0], "iters": [1.0]}
    runs = {f"a/{run}/sample.json": sample for run in ("base", "main", "new")}
    reading = parse({**NAMED, **runs})
    assert [row.id for row in reading.benchmarks] == ["A"]
    assert reading.skipped == ("the saved run main: benchgate reads only the latest run",)


def test_a_measurement_of_its_own_has_the_unit_of_its_csv() -> None:
    files = {
        "new/benchmark.json": b'{"full_id": "A"}',
        "new/sample.json": b'{"times": [6.0], "iters": [2.0]}',
        "new/raw.csv": b"group,sample_measured_value,unit\nA,6.0,cycles\n",
    }
    (row,) = criterion.parse(ForeignFile("a", files=files)).benchmarks
    assert described(row) == ("measurement cycles lower sampled 1x1 loops=2 3",)


def test_a_folder_without_a_run_is_an_error() -> None:
    with pytest.raises(FormatError, match=r"^target/criterion: has no new/sample.json"):
        parse({"report/index.html": ""})

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.formats.test_conformance import described

from benchgate.errors import FormatError
from benchgate.formats.asv import asv
from benchgate.formats.contents import ForeignFile

if TYPE_CHECKING:
    from benchgate.formats.rows import Reading

COLUMNS = ["result", "params", "version", "stats_number", "samples"]


def content(results: dict[str, Any], version: int = 2) -> bytes:
    document = {"result_columns": COLUMNS, "results": results, "version": version}
    return json.dumps(document).encode()


def parse(row: list[Any]) -> Reading:
    return asv.parse(ForeignFile("r.json", content({"a.time_b": row})))


def test_the_hash_of_the_code_is_the_workload() -> None:
    (row,) = parse([[0.5], [], "abc", [1], [[0.5]]]).benchmarks
    assert row.workload == "asv:a.time_b@abc"


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ([[1, 2], [["1"]]], "results.a.time_b.result: has 2 results, not 1"),
        ([[-1.0], [], None, [1]], "results.a.time_b.result[0][0]: -1.0 is negative"),
        ([["x"], []], "results.a.time_b.result[0]: 'x' is not a number"),
        (
            [[0.5], [], None, [1], [[0.5, None]]],
            "results.a.time_b.samples[0]: is not a list",
        ),
        ([None, [["1"] * 100] * 4], "results.a.time_b.params: has too many combinations"),
        ([None, [["1"]] * 101], "results.a.time_b.params: has too many combinations"),
        ([None, [["1" * 10_000_000]]], "results.a.time_b.params: has too many combinations"),
    ],
)
def test_a_bad_row_fails(row: list[Any], error: str) -> None:
    (found,) = parse(row).benchmarks
    assert found.error is not None
    assert found.error.startswith(error)


def test_combinations_without_results_cannot_fill_the_memory() -> None:
    row = [None, [["1"] * 100] * 2]
    with pytest.raises(FormatError, match="has more than 100000 combinations"):
        asv.parse(ForeignFile("r.json", content({f"b{index}": row for index in range(1000)})))


def test_a_time_without_statistics_is_a_summary() -> None:
    known = {"a.time_b": {"type": "time", "unit": "seconds"}}
    files = {"m/c.json": content({"a.time_b": [[0.5], []]})}
    files["benchmarks.json"] = json.dumps(known).encode()
    (row,) = asv.parse(ForeignFile("results", files=files)).benchmarks
    assert described(row) == ("time s lower summary 1x1 loops=1 0.5",)


def test_results_of_another_version_are_an_error() -> None:
    with pytest.raises(FormatError, match=r"^r.json: benchgate does not read version 3"):
        asv.parse(ForeignFile("r.json", content({}, version=3)))


def test_a_folder_with_several_results_is_an_error_that_names_the_command() -> None:
    files = {}
    for month, name in enumerate("abc", start=1):
        document = json.loads(content({}))
        document |= {"commit_hash": name * 40, "date": 1_700_000_000_000 + month * 2_600_000_000}
        files[f"m/{name}.json"] = json.dumps(document).encode()
    with pytest.raises(FormatError) as caught:
        asv.parse(ForeignFile("my results/", files=files))
    assert caught.value.message == (
        "my results/: has 3 result files of asv: m/c.json (cccccccc of 2024-02-13 04:53), "
        "m/b.json (bbbbbbbb of 2024-01-14 02:40), m/a.json (aaaaaaaa of 2023-12-15 00:26)"
    )
    assert caught.value.hint == (
        "Name one file of each side, for example: "
        "benchgate compare 'my results/m/b.json' 'my results/m/c.json'"
    )

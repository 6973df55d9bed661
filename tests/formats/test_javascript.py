"""What the tools of JavaScript do not write, and what benchgate makes of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchgate.formats.contents import ForeignFile
from benchgate.formats.javascript import benchmark_js, mitata, tinybench
from benchgate.formats.rows import SORTED

if TYPE_CHECKING:
    from benchgate.model.run import BenchmarkResult


def task(result: object) -> BenchmarkResult:
    (row,) = tinybench.parse(
        ForeignFile("it", json.dumps([{"name": "sort", "result": result}]).encode())
    ).benchmarks
    return row


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (None, "it did not run"),
        ({"state": "aborted"}, "its state is 'aborted'"),
        ({"state": "aborted-with-statistics", "latency": {"p50": 1}}, "its state is 'abor"),
        ({"error": {"message": "boom"}}, "it failed: 'boom'"),
        ({"latency": {"samples": []}}, "[0].result.latency.samples: there are no samples"),
        ({"latency": {"samples": [1, None]}}, "[0].result.latency.samples: is not a list"),
        ({"latency": {"samples": [1, -2.0]}}, "[0].result.latency.samples[1]: -2.0 is negative"),
        ({"latency": {"p50": float("nan")}}, "[0].result.latency.p50[0]: nan is not a possible"),
        ({"latency": {}}, "[0].result.latency: the key 'p50' is missing"),
    ],
)
def test_a_task_without_a_complete_result_is_a_failed_row(result: object, error: str) -> None:
    assert (task(result).error or "").startswith(error)


def test_samples_that_the_tool_sorted_bring_a_note() -> None:
    assert task({"latency": {"samples": [1, 2]}}).notes == (SORTED,)
    assert task({"latency": {"p50": 1}}).notes == ()


def test_old_files_of_mitata_have_no_groups() -> None:
    trial = {"alias": "add", "runs": [{"name": "add", "args": {}, "stats": {"p50": 3.5}}]}
    source = ForeignFile("it", json.dumps({"benchmarks": [trial], "context": {}}).encode())
    (row,) = mitata.parse(source).benchmarks
    assert row.id == "add"
    assert row.series[0].launches[0].samples[0] == pytest.approx(3.5e-9)


@pytest.mark.parametrize("rate", ["0.00", "Infinity", "NaN", "1.2.3"])
def test_an_impossible_rate_of_benchmark_js_is_a_failed_row(rate: str) -> None:
    text = f"sort x {rate} ops/sec \u00b11.00% (9 runs sampled)\n"
    (row,) = benchmark_js.parse(ForeignFile("it", text.encode())).benchmarks
    assert (row.id, row.error is not None) == ("sort", True)


def test_a_line_of_benchmark_js_that_cannot_be_read_is_not_lost() -> None:
    text = (
        "sort x 5 ops/sec \u00b11.00% (9 runs samp\nmap x 5 ops/sec\n5 ops/sec\n"
        "ok x 5 ops/sec \u00b11.00% (9 runs sampled)\n"
    )
    reading = benchmark_js.parse(ForeignFile("it", text.encode()))
    assert [(row.id, bool(row.error)) for row in reading.benchmarks] == [
        ("sort", True),
        ("map", True),
        ("ok", False),
    ]
    assert reading.skipped == ("line 3: the result cannot be read: '5 ops/sec'",)

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.formats.test_conformance import described

from benchgate.errors import FormatError
from benchgate.formats.contents import ForeignFile
from benchgate.formats.libtest import libtest

if TYPE_CHECKING:
    from benchgate.formats.rows import Reading


def parse(text: str) -> Reading:
    return libtest.parse(ForeignFile("out.txt", text.encode()))


def rows(text: str) -> list[tuple[str, tuple[str, ...] | str]]:
    return [(row.id, described(row)) for row in parse(text).benchmarks]


def test_a_benchmark_that_prints_before_its_result_is_read() -> None:
    assert rows("test a ... noise\nmore bench:  1,234,567 ns/iter (+/- 3)\n") == [
        ("a", ("time s lower summary 1x1 loops=1 0.001235",))
    ]


def test_a_process_that_died_fails_its_benchmark() -> None:
    assert rows("test a ... error: aborted\n") == [("a", "it printed no result")]
    assert rows('{ "type": "test", "event": "started", "name": "a" }\n{ "type": "ben') == [
        ("a", "it printed no result")
    ]


def test_a_result_that_is_no_number_fails_the_row() -> None:
    assert rows("test a ... bench: 1.2.3 ns/iter\ntest b ... bench: slow\n") == [
        ("a", "line 1.median: '1.2.3' is not a number"),
        ("b", "line 2: the result cannot be read: 'test b ... bench: slow'"),
    ]


@pytest.mark.parametrize(
    ("result", "time_s", "rate"),
    [
        ("1,234.56 ns/iter (+/- 7.26)", "1.235e-06", ""),
        ("12.5 us/iter (+/- 1)", "1.25e-05", ""),
        ("12.5 \u00b5s/iter", "1.25e-05", ""),
        ("3 ms/iter (+/- 0.1) = 2 GB/s", "0.003", "2e+09"),
        ("0.25 s/iter = 512 KB/s", "0.25", "5.12e+05"),
    ],
)
def test_a_result_may_be_in_any_unit_of_time(result: str, time_s: str, rate: str) -> None:
    expected = [f"time s lower summary 1x1 loops=1 {time_s}"]
    expected += [f"throughput B/s higher summary 1x1 loops=1 {rate}"] if rate else []
    assert rows(f"test a ... bench: {result}\n") == [("a", tuple(expected))]


@pytest.mark.parametrize("noise", ["noise", "see bench: all\n", "12 ns/iter of "])
def test_a_log_line_without_an_end_does_not_hide_a_result(noise: str) -> None:
    five = ("time s lower summary 1x1 loops=1 5e-09",)
    for text in (f"{noise}test a ... bench: 5 ns/iter\n", f"test a ... {noise}bench: 5 ns/iter\n"):
        assert rows(text) == [("a", five)]


@pytest.mark.parametrize("result", ["12,5 ns/iter", "5 ns/iterlog", "5 parsecs/iter", "x ns/iter"])
def test_a_result_that_cannot_be_read_fails_its_row(result: str) -> None:
    reading = parse(f"test a ... noise\nbench: {result}\ntest b ... bench: 5 ns/iter\n")
    assert [(row.id, bool(row.error)) for row in reading.benchmarks] == [("a", True), ("b", False)]


def test_a_result_without_a_name_is_told() -> None:
    reading = parse("bench: 7 ns/iter\ntest a ... bench: 5 ns/iter\n")
    assert [row.id for row in reading.benchmarks] == ["a"]
    assert reading.skipped == ("line 1: the result cannot be read: 'bench: 7 ns/iter'",)
    cut = '{ "type": "bench", "name": "a", "median": 5 }\n{ "type": "bench", "name"\n'
    assert parse(cut).skipped == (
        """line 2: the result cannot be read: '{ "type": "bench", "name"'""",
    )


def test_an_event_after_what_was_printed_is_read() -> None:
    assert rows('{ "type": "test" }\na {b} c{ "type": "bench", "name": "a", "median": 5 }\n') == [
        ("a", ("time s lower summary 1x1 loops=1 5e-09",))
    ]


def test_tests_without_a_benchmark_are_an_error() -> None:
    with pytest.raises(FormatError, match=r"^out.txt: has no result of a benchmark"):
        parse("running 1 test\ntest a ... ok\n")

from __future__ import annotations

import pytest
from tests.formats.test_conformance import described

from benchgate.errors import FormatError
from benchgate.formats import libtest
from benchgate.formats.parsed import Reading, Source


def parse(text: str) -> Reading:
    return libtest.parse(Source("out.txt", text.encode()))


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
        ("b", "line 2: the result is not a time in ns/iter"),
    ]


def test_tests_without_a_benchmark_are_an_error() -> None:
    with pytest.raises(FormatError, match=r"^out.txt: has no result of a benchmark"):
        parse("running 1 test\ntest a ... ok\n")

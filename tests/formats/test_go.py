from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.formats.test_conformance import described

from benchgate.errors import FormatError
from benchgate.formats.contents import ForeignFile
from benchgate.formats.go import go
from benchgate.model.metrics import Better

if TYPE_CHECKING:
    from benchgate.formats.rows import Reading


def parse(text: str) -> Reading:
    return go.parse(ForeignFile("out.txt", text.encode()))


def test_a_unit_line_states_the_direction() -> None:
    row = parse("Unit hits better=higher assume=exact\nBenchmarkX 5 2 hits 3 misses\n").benchmarks[
        0
    ]
    assert [(s.metric.name, s.metric.better) for s in row.series] == [
        ("hits", Better.HIGHER),
        ("misses", Better.LOWER),
    ]
    assert [note.partition(":")[0] for note in row.notes] == ["misses"]


def test_a_benchmark_that_ended_the_process_failed() -> None:
    reading = parse(
        "pkg: a.b/c\nBenchmarkX-2 \t 5\t 2 ns/op\nBenchmarkY-2 \tpanic: no\n\ngoroutine 1\n"
        "exit status 2\nFAIL\ta.b/c\t0.1s\n"
    )
    assert [(row.id, row.error) for row in reading.benchmarks] == [
        ("a.b/c.BenchmarkX", None),
        ("a.b/c.BenchmarkY", "it printed no result"),
    ]
    assert reading.skipped == ()


def test_a_package_that_was_not_built_is_told() -> None:
    reading = parse("BenchmarkX 5 2 ns/op\nFAIL\ta.b/d [build failed]\n")
    assert reading.skipped == (
        "a.b/d: go test failed [build failed], so benchmarks may be missing",
    )


def test_colors_and_line_ends_of_windows_are_no_part_of_a_name() -> None:
    reading = parse("\x1b[32mBenchmarkX-8\x1b[0m\t5\t2.5 ns/op\r\n")
    assert [(row.id, *described(row)) for row in reading.benchmarks] == [
        ("BenchmarkX", "time s lower sampled 1x1 loops=5 2.5e-09")
    ]


def test_a_failure_of_a_later_repetition_is_a_failure() -> None:
    reading = parse("BenchmarkX-2 \t5\t2 ns/op\n--- FAIL: BenchmarkX\n    x_test.go:1: no\n")
    assert [(row.id, row.error) for row in reading.benchmarks] == [
        ("BenchmarkX", "it failed under go test\nx_test.go:1: no")
    ]


def test_words_that_begin_like_a_benchmark_are_noise() -> None:
    reading = parse("Benchmarking \tall\nBenchmarkX 5 2 ns/op\n")
    assert [row.id for row in reading.benchmarks] == ["BenchmarkX"]


def test_output_without_a_benchmark_is_an_error() -> None:
    with pytest.raises(FormatError, match=r"^out.txt: has no result of a benchmark"):
        parse("goos: linux\ngoarch: amd64\nPASS\nok  \ta.b/c\t0.1s\n")


def test_a_build_that_failed_is_named() -> None:
    why = r"benchmark; a\.b/c: go test failed \[build failed\]$"
    with pytest.raises(FormatError, match=why):
        parse(
            "# a.b/c [a.b/c.test]\n./c_test.go:1:9: undefined: Split\nFAIL\ta.b/c [build failed]\n"
        )


def test_lines_between_the_events_are_told() -> None:
    event = '{"Action":"output","Package":"a.b/c","Output":"BenchmarkX-2 5 2 ns/op\\n"}'
    reading = parse(f"{event}\nwarning: slow\n7\n[]\n")
    assert [row.id for row in reading.benchmarks] == ["a.b/c.BenchmarkX"]
    assert reading.skipped == ("line 2 and 2 later lines are not events of go test -json",)


@pytest.mark.parametrize(
    "text",
    [
        "I2025 conn closedBenchmarkX-8   \tstarting up\nI2025 conn closed  256\t 5 ns/op\nPASS\n",
        "BenchmarkX-8  \tsome log text     256\t 5 ns/op\n",
        "BenchmarkX-8  \tsome log at 5 x25600000\t 5 ns/op\n",
        "BenchmarkX-8  \tabout 3 ns/op, they say\n     256\t 5 ns/op\nPASS\n",
    ],
)
def test_a_log_line_without_an_end_does_not_hide_a_result(text: str) -> None:
    (row,) = parse(text).benchmarks
    assert (row.id, row.series[0].launches[0].samples.tolist()) == ("BenchmarkX", [5e-9])


@pytest.mark.parametrize(
    "text",
    [
        "BenchmarkX-8 \t 1000\t 1,234 ns/op\n",
        "BenchmarkX-8 \t 1000\t 1234,5 ns/op\n",
        "BenchmarkX-8 \t 1000\t 12.5ns/op\n",
        "BenchmarkX-8 \t 1000\t 5 ns/opI2025 closed\n",
        "BenchmarkX-8 \t 1000\t 5 ns/op\t x B/op\n",
        "BenchmarkX-8 \t 1000\t 5 ns/op\t 6 ns/op\n",
        "BenchmarkX-8 \t 1,000\t 5 ns/op\n",
        "BenchmarkX-8 \t 1e3\t 5 ns/op\n",
        "BenchmarkX-8 \t 0\t 5 ns/op\n",
        "BenchmarkX-8 \t 1000\t 5\t 6 B/op\n",
        "BenchmarkX-8 \t 5 ns/op\n",
        "BenchmarkX-8 \tat 10:11:1212345678\t 5 ns/op\n",
        "BenchmarkX-8 \tport 808012345678\t 5 ns/op\n",
        "BenchmarkX 1000 1,234 ns/op\n",
    ],
)
def test_a_result_that_cannot_be_read_fails_its_row_with_the_line(text: str) -> None:
    reading = parse(f"BenchmarkX-8 \t 9\t 5 ns/op\n{text}BenchmarkY-8 \t 5\t 2 ns/op\n")
    assert {row.id.removesuffix("-8"): row.error for row in reading.benchmarks}.items() >= {
        ("BenchmarkX", f"line 2: the result cannot be read: {text.strip()!r}"),
        ("BenchmarkY", None),
    }


def test_a_benchmark_without_a_result_fails_also_if_others_follow() -> None:
    text = "BenchmarkX-8 \tlogBenchmarkY-8 \tlog\nBenchmarkZ-8 \t 5\t 2 ns/op\n"
    assert [(row.id, row.error) for row in parse(text).benchmarks] == [
        ("BenchmarkX", "it printed no result"),
        ("BenchmarkY", "it printed no result"),
        ("BenchmarkZ", None),
    ]


def test_a_result_without_a_name_is_told() -> None:
    reading = parse("closed 5\t 7 ns/op\nBenchmarkX-8 \t 5\t 2 ns/op\n")
    assert [row.id for row in reading.benchmarks] == ["BenchmarkX"]
    assert reading.skipped == (r"line 1: the result cannot be read: 'closed 5\t 7 ns/op'",)


def test_what_a_benchmark_logs_about_times_is_no_result() -> None:
    text = "BenchmarkX-8 \t 5\t 2 ns/op\n--- BENCH: BenchmarkX-8\n    x_test.go:7: 5 ns/op\n"
    reading = parse(f"Benchmark\tTime\n{text}    more: 5 ns/op\nPASS\n")
    assert [(row.id, row.error) for row in reading.benchmarks] == [("BenchmarkX", None)]
    assert reading.skipped == ()


def test_a_program_that_prints_before_its_first_line_is_a_process_of_its_own() -> None:
    text = "loading...goos: linux\ngoarch: amd64\npkg: a\nBenchmarkX-8 \t 5\t 2 ns/op\nPASS\n"
    assert go.sniff(ForeignFile("out.txt", text.encode()))
    (row,) = parse(text * 2).benchmarks
    assert [len(series.launches) for series in row.series] == [2]


def test_a_benchmark_that_began_before_one_is_skipped_is_not_lost() -> None:
    text = "BenchmarkX-8 \tlog\n--- SKIP: BenchmarkY-8\nBenchmarkZ-8 \t 5\t 2 ns/op\n"
    assert [(row.id, row.error) for row in parse(text).benchmarks] == [
        ("BenchmarkX", "it printed no result"),
        ("BenchmarkZ", None),
    ]

"""What tools for Rust print that is not as simple as in their genuine samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.formats.cases import SAMPLES
from tests.formats.test_conformance import described

from benchgate.errors import FormatError
from benchgate.formats import find_format
from benchgate.formats.contents import ForeignFile
from benchgate.formats.criterion import criterion
from benchgate.formats.divan import divan
from benchgate.formats.gungraun import gungraun
from benchgate.formats.libtest import libtest

if TYPE_CHECKING:
    from benchgate.formats.rows import ForeignFormat, Reading

HEADER = "top  fastest │ slowest │ median │ mean │ samples │ iters\n"


def parse(known: ForeignFormat, text: str) -> Reading:
    return known.parse(ForeignFile("out.txt", text.encode()))


def rows(known: ForeignFormat, text: str) -> dict[str, object]:
    return {row.id: described(row) for row in parse(known, text).benchmarks}


def errors(known: ForeignFormat, text: str) -> dict[str, str | None]:
    return {row.id: row.error for row in parse(known, text).benchmarks}


def sample(path: str) -> str:
    return (SAMPLES / path).read_text()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("divan/rates.txt", "divan"),
        ("gungraun/first.txt", "gungraun"),
        ("criterion/first.txt", "criterion"),
    ],
)
def test_the_tests_beside_the_benchmarks_do_not_matter(path: str, name: str) -> None:
    tests = "\nrunning 2 tests\ntest tests::a ... ignored\n\ntest result: ok. 0 passed\n\n"
    source = ForeignFile("out.txt", f"{tests}{sample(path)}".encode())
    known = find_format(source)
    assert known is not None
    assert name == known.name
    assert len(known.parse(source).benchmarks) == len(parse(known, sample(path)).benchmarks)


@pytest.mark.parametrize("log", ["log", "log\n", "a log\nof │ two lines", "12 ns/iter "])
def test_what_a_benchmark_of_divan_prints_does_not_hide_its_times(log: str) -> None:
    text = f"{HEADER}├─ a    {log}1 ns │ 3 ns │ 2 ns │ 2 ns │ 100 │ 100\n╰─ b  1 ns │ 3 ns │ 2 ns"
    found = rows(divan, f"{text} │ 2 ns │ 100 │ 100\n")
    two = ("time s lower summary 1x1 loops=1 2e-09",)
    assert found == {"top::a": two, "top::b": two}


def test_allocations_of_divan_are_read_if_less_of_them_is_better() -> None:
    text = HEADER + (
        "╰─ a       1 ns   │ 3 ns    │ 2 µs   │ 2 ns │ 100     │ 100\n"
        "           1 GB/s │ 1 GB/s  │ 2 GB/s │ 1 B/s │         │\n"
        "           max alloc:  │   │        │      │         │\n"
        "             3    │ 3       │ 4      │ 3    │         │\n"
        "             1 KB │ 1 KB    │ 2 KiB  │ 1 B  │         │\n"
        "           dealloc:    │   │        │      │         │\n"
        "             3    │ 3       │ 9      │ 3    │         │\n"
        "             3 B  │ 3 B     │ 9 B    │ 3 B  │         │\n"
    )
    assert rows(divan, text) == {
        "top::a": (
            "time s lower summary 1x1 loops=1 2e-06",
            "throughput B/s higher summary 1x1 loops=1 2e+09",
            "max_alloc_count  lower exact 1x1 loops=1 4",
            "max_alloc_bytes B lower exact 1x1 loops=1 2048",
        )
    }


def test_what_divan_did_not_measure_is_told() -> None:
    text = (
        f"{HEADER}├─ a  (ignored) │ │ │ │ │\n├─ b  boom\n├─ c  1 ns │ 3 ns │ x ns │ 2 ns │ 1 │ 1\n"
        "╰─ d  1 ns │ 3 ns │ 2 ns │ 2 ns │ 1 │ 1\n"
    )
    assert errors(divan, text) == {
        "top::b": "line 3: it printed no result",
        "top::c": (
            "line 4: 'x ns' is not a number with a unit: '├─ c  1 ns │ 3 ns │ x ns │ 2 ns │ 1 │ 1'"
        ),
        "top::d": None,
    }
    assert parse(divan, text).skipped == ("top::a: divan ignored it",)
    with pytest.raises(FormatError, match="has no row of a benchmark"):
        parse(divan, HEADER)


def test_two_benchmarks_of_one_name_in_two_programs_are_not_joined() -> None:
    text = f"{HEADER}╰─ a  1 ns │ 3 ns │ 2 ns │ 2 ns │ 1 │ 1\n\n"
    assert errors(divan, text * 2) == {"top::a": "the file has 2 benchmarks of this name"}


@pytest.mark.parametrize("log", ["a::b\n", "a::b x:1\nInstructions are many\n", "1999000\n"])
def test_what_a_program_prints_is_no_name_of_gungraun(log: str) -> None:
    text = f"x::g::f id:(1) -> y\n{log}- end of stdout/stderr\n  Instructions:  5|N/A (***)\n"
    assert rows(gungraun, text) == {"x::g::f id": ("instructions  lower exact 1x1 loops=1 5",)}


def test_counts_of_gungraun_that_cannot_be_read_are_failures() -> None:
    text = (
        "x::g::a 1\n"
        "x::g::b id\n  Instructions:     1,234|N/A (***)\n"
        "x::g::c\n  Instructions:          |5 (***)\n"
        "x::g::d\nx::g::e\n  Instructions:     7|5 (***)\n"
        "x::g::f\n  ## pid: 1 thread: 1 part: 1  |N/A\n  Instructions:   7|5 (***)\n"
        "  ## pid: 1 thread: 2 part: 1  |N/A\n  Instructions:   8|5 (***)\n"
        "x::g::h\n  ======= DHAT ====\n  Total bytes:   7|5 (***)\n"
    )
    reading = parse(gungraun, text)
    assert {row.id: bool(row.error) for row in reading.benchmarks} == {
        "x::g::b id": True,
        "x::g::c": True,
        "x::g::d": True,
        "x::g::e": False,
        "x::g::f": True,
    }
    assert reading.skipped == ("x::g::h: has neither Instructions nor Estimated Cycles",)


def test_only_the_first_tool_and_the_new_run_of_gungraun_are_read() -> None:
    text = (
        "x::g::a\n  ======= CALLGRIND ====\n  Instructions:  7|N/A\n"
        "  ======= CACHEGRIND ====\n  Instructions:  9|N/A\n"
    )
    assert rows(gungraun, text) == {"x::g::a": ("instructions  lower exact 1x1 loops=1 7",)}


def test_a_long_name_of_criterion_has_a_line_of_its_own() -> None:
    line = " " * 24 + "time:   [1.0 ms 2.0 ms 3.0 ms]\n"
    assert rows(criterion, f"a/very/long/name/of/a/benchmark\n{line}") == {
        "a/very/long/name/of/a/benchmark": ("time s lower summary 1x1 loops=1 0.002",)
    }


def test_a_log_line_before_a_result_of_criterion_does_not_change_its_name() -> None:
    text = "Benchmarking fib 10\nlogfib 10       time:   [1.0 ms 2.0 ms 3.0 ms]\n"
    assert list(rows(criterion, text)) == ["fib 10"]


def test_the_change_since_the_last_run_of_criterion_is_no_result() -> None:
    text = (
        "a                       time:   [1.0 s 2.0 s 3.0 s]\n"
        "                        thrpt:  [1.0 Kelem/s 2.0 Kelem/s 3.0 Kelem/s]\n"
        "                 change:\n"
        "                        time:   [-1.0% +2.0% +3.0%] (p = 0.50 > 0.05)\n"
        "                        thrpt:  [-1.0% +2.0% +3.0%]\n"
        "                        No change in performance detected.\n"
    )
    assert rows(criterion, text) == {
        "a": (
            "time s lower summary 1x1 loops=1 2",
            "throughput elem/s higher summary 1x1 loops=1 2000",
        )
    }


def test_a_result_of_criterion_that_cannot_be_read_is_not_lost() -> None:
    text = (
        "a                       time:   [1.0 s 2.0\n"
        "b                       time:   [1.0 x 2.0 x 3.0 x]\n"
        "c                       time:   [1.0 s 2,5 s 3.0 s]\n"
        "Benchmarking d: Collecting 100 samples in estimated 5.0 s (188100 iterations)\n"
    )
    assert {id_: bool(error) for id_, error in errors(criterion, text).items()} == dict.fromkeys(
        "abcd", True
    )
    nameless = parse(criterion, "\n   time:   [1.0 s 2.0 s 3.0 s]\na  time:   [1 s 2 s 3 s]\n")
    assert [row.id for row in nameless.benchmarks] == ["a"]
    assert nameless.skipped == ("line 2: the result cannot be read: 'time:   [1.0 s 2.0 s 3.0 s]'",)


def test_two_results_on_one_line_are_never_mixed_up() -> None:
    two = "test a ... bench: 5 ns/iter (+/- 1)test b ... bench: 7 ns/iter (+/- 1)\n"
    assert {id_: bool(error) for id_, error in errors(libtest, two).items()} == {
        "a": True,
        "b": True,
    }
    row = "1 ns │ 3 ns │ {} ns │ 2 ns │ 1 │ 1"
    glued = f"├─ a  {row.format(5)}├─ b  {row.format(7)}"
    reading = parse(divan, f"{HEADER}{glued}\n╰─ c  {row.format(2)}\n")
    assert [one.id for one in reading.benchmarks] == ["top::c"]
    assert reading.skipped == (f"line 2: the result cannot be read: {glued!r}",)
    counts = "  Instructions:   7|5 (***)\n"
    lost = parse(gungraun, f"x::g::a\n{counts}log x::g::b\n{counts.replace('7', '9')}")
    assert rows(gungraun, f"x::g::a\n{counts}") == {
        row.id: described(row) for row in lost.benchmarks
    }
    assert lost.skipped == ("line 4: the result cannot be read: 'Instructions:   9|5 (***)'",)


def test_a_failure_after_a_log_line_without_an_end_is_one() -> None:
    text = "logtest a ... FAILED\ntest b ... bench: 5 ns/iter\n\nfailures:\n\n---- c stdout ----\n"
    assert errors(libtest, f"{text}boom\n\nfailures:\n    a\n    c\n") == {
        "a": "it failed under cargo bench",
        "b": None,
        "c": "it failed under cargo bench\nboom",
    }

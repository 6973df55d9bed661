"""Filters of other tools; the tools themselves decide in tests/e2e/test_suites.py."""

from __future__ import annotations

import re

import pytest

from benchgate.config import SuiteBenchmark
from benchgate.formats import NAMES
from benchgate.measure.suites.tool_filter import FILTERS, filter_of, why_no_filter


def suite(command: str, **keys: object) -> SuiteBenchmark:
    return SuiteBenchmark.model_validate({"suite": command, **keys})


@pytest.mark.parametrize(
    ("format_name", "ids", "expected"),
    [
        ("go", [], "."),
        (
            "go",
            ["example.org/x.y.BenchmarkSort", "p.BenchmarkFind"],
            "^(BenchmarkSort|BenchmarkFind)$",
        ),
        ("go", ["p.BenchmarkA/n=1.5/x", "p.BenchmarkA/n=1.5/y"], r"^BenchmarkA$/^n=1\.5$/^(x|y)$"),
        ("go", ["BenchmarkA", "q.BenchmarkB/x"], "^(BenchmarkA)$|^BenchmarkB$/^(x)$"),
        ("go", ["p.BenchmarkA/n-10"], "^BenchmarkA$/^(n(-10)?)$"),
        ("go", ["p.BenchmarkA/(a|b)[0]"], r"^BenchmarkA$/^(\(a\|b\)\[0])$"),
        ("google-benchmark", ["Count/1", "Count/{10}"], r"^(Count/1|Count/\{10})$"),
        ("criterion", [], "."),
        ("criterion", ["sizes/count/8", "a.b"], r"^(sizes/count/8|a\.b)$"),
        (
            "vitest",
            ["x.bench.js > words > count", "x.bench.js > top"],
            "(^| )(words( >)? count|top)$",
        ),
        ("mitata", ["count", "sizes > count[n=8]"], "(count)"),
        ("pytest-benchmark", [], ""),
        (
            "pytest-benchmark",
            ["a/test_x.py::T::test_a", "a/test_x.py::test_b[1-x]"],
            "test_a or test_b[1-x]",
        ),
        ("pytest-benchmark", ["test_x.py::test_b[a b]"], "test_b"),
        ("pytest-benchmark", ["test_x.txt::a b"], ""),
        ("catch2", [], ""),
        ("catch2", ["words/count", "a, b/count"], r"words,a\, b"),
        ("catch2", ["words/long/count"], "words,words/long"),
    ],
)
def test_ids_become_a_filter_of_the_tool(format_name: str, ids: list[str], expected: str) -> None:
    assert filter_of(format_name, ids) == expected


def test_a_filter_that_is_too_long_selects_everything() -> None:
    assert filter_of("go", [f"p.Benchmark{number}" for number in range(20_000)]) == "."


@pytest.mark.parametrize("format_name", ["go", "google-benchmark", "criterion"])
def test_a_name_selects_itself_whatever_is_in_it(format_name: str) -> None:
    name = "Benchmark" + "".join(map(chr, range(33, 127))).replace("/", "")
    assert re.search(filter_of(format_name, [name]), name)
    assert not re.search(filter_of(format_name, [name]), f"{name}x")


def test_every_filter_is_that_of_a_format() -> None:
    assert set(FILTERS) <= set(NAMES)


def test_a_filter_needs_a_format_that_has_one() -> None:
    assert why_no_filter(suite("x -bench={filter}", format="go")) == ""
    assert why_no_filter(suite("x", format="jmh")) == ""
    assert "does not know how jmh filters" in why_no_filter(suite("x {filter}", format="jmh"))
    assert "{filter} needs `format`" in why_no_filter(suite("x {filter}"))


def test_a_shell_gets_no_filter() -> None:
    with pytest.raises(ValueError, match="into a script"):
        suite("x {filter}", shell=True, format="go")  # noqa: S604 - that is refused

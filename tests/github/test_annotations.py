from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchgate.github.annotations import ANNOTATIONS_PER_STEP, Annotation, Level, annotate, stopped

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT = st.text(st.sampled_from("%:,=\r\n 0ADac#[]x") | st.characters(), max_size=30)


def read(line: str) -> tuple[str, Mapping[str, str], str] | None:
    """A line as the runner reads it: name, properties and data; None where it is no command."""
    parts = re.match(r"\s*::([^ ]*?)(?: (.*?))?::(.*)\Z", line, flags=re.DOTALL)
    if parts is None:
        return None
    properties = {}
    for pair in filter(None, (parts[2] or "").strip().split(",")):
        key, _, value = pair.partition("=")
        properties[key] = unescaped(value, {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ","})
    return parts[1], properties, unescaped(parts[3], {"%0D": "\r", "%0A": "\n"})


def unescaped(text: str, codes: Mapping[str, str]) -> str:
    for code, character in codes.items():
        text = text.replace(code, character)
    return text.replace("%25", "%")


class Runner:
    """What the runner obeys of an output, and what it takes for text."""

    def __init__(self, output: str) -> None:
        self.obeyed: list[str] = []
        token = None
        for line in output.split("\n"):
            command = read(line)
            if command is None:
                continue
            name, _, data = command
            if token is None and name == "stop-commands":
                token = data
            elif token is None:
                self.obeyed.append(name)
            elif name.lower() == token.lower():
                token = None
        self.listens = token is None


def test_annotations_are_what_the_runner_expects() -> None:
    here = Annotation("it is slower", "parse/large slower", "benchmarks/bench_parse.py:12")
    assert annotate(Level.ERROR, [here]) == [
        "::error file=benchmarks/bench_parse.py,line=12,title=parse/large slower::it is slower"
    ]
    assert annotate(Level.WARNING, [Annotation("no comment: 100 %\nreally")]) == [
        "::warning::no comment: 100 %25%0Areally"
    ]
    assert annotate(Level.NOTICE, []) == []


@given(TEXT, TEXT.filter(lambda text: text == text.strip()))
def test_the_runner_reads_what_was_said(message: str, title: str) -> None:
    (line,) = annotate(Level.ERROR, [Annotation(message, title, "a b,c.py:3")])

    assert "\n" not in line
    assert "\r" not in line
    properties = {"file": "a b,c.py", "line": "3"} | ({"title": title} if title else {})
    assert read(line) == ("error", properties, message)


@pytest.mark.parametrize(
    "location",
    [
        "",
        "bench.py",
        "bench.py:",
        "bench.py:0",
        "bench.py:-3",
        "bench.py:1e3",
        "bench.py:12:7",
        "bench.py:99999999999",
        "/etc/passwd:1",
        "//host/share:1",
        "../bench.py:1",
        "a/../../bench.py:1",
        "C:/bench.py:1",
        "a\\b.py:1",
        "a\nb.py:1",
        "a\x00b.py:1",
        "x" * 2000 + ":1",
    ],
)
def test_a_place_that_is_none_in_the_checkout_is_left_out(location: str) -> None:
    assert annotate(Level.ERROR, [Annotation("slow", "", location)]) == ["::error::slow"]


def test_a_place_is_written_plainly() -> None:
    (line,) = annotate(Level.ERROR, [Annotation("slow", "", "./a//b.py:3")])
    assert line == "::error file=a/b.py,line=3::slow"


def test_as_many_as_are_shown_are_all_said() -> None:
    lines = annotate(Level.ERROR, [Annotation(str(i)) for i in range(ANNOTATIONS_PER_STEP)])
    assert lines == [f"::error::{i}" for i in range(10)]


def test_of_more_the_last_one_says_how_many() -> None:
    lines = annotate(Level.WARNING, [Annotation(str(i)) for i in range(25)])
    assert lines[:-1] == [f"::warning::{i}" for i in range(9)]
    assert lines[-1] == "::warning::and 16 more: see the summary of the run"


def test_nothing_that_is_printed_inside_is_obeyed() -> None:
    stream = io.StringIO()
    print("::notice::before", file=stream)
    with stopped(stream, lambda: "f00d"):
        print("  ::add-mask::e", file=stream)
        print("::stop-commands::other\n::other::\n::error::x", file=stream)
        print("::set-env name=x::no newline", file=stream, end="")
    print("::warning::after", file=stream)

    runner = Runner(stream.getvalue())

    assert runner.obeyed == ["notice", "warning"]
    assert runner.listens


def test_the_runner_listens_again_after_an_error() -> None:
    stream = io.StringIO()

    def interrupted() -> None:
        with stopped(stream, lambda: "f00d"):
            stream.write("::error::half a line")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    assert Runner(stream.getvalue()).obeyed == []
    assert Runner(stream.getvalue()).listens
    assert stream.getvalue().endswith("\n::f00d::\n")


@given(st.lists(TEXT, max_size=5))
def test_no_text_ends_the_silence(printed: list[str]) -> None:
    stream = io.StringIO()
    with stopped(stream, lambda: "5e2b0c9a41"):
        stream.write("\n".join(printed))
    assert Runner(stream.getvalue()).obeyed == []


def test_each_silence_has_a_word_of_its_own() -> None:
    stream, words = io.StringIO(), iter(("one", "two"))
    for _ in range(2):
        with stopped(stream, lambda: next(words)):
            pass
    assert stream.getvalue() == (
        "::stop-commands::one\n\n::one::\n::stop-commands::two\n\n::two::\n"
    )

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchgate.errors import FormatError
from benchgate.formats.catch2 import catch2
from benchgate.formats.contents import ForeignFile

if TYPE_CHECKING:
    from benchgate.formats.rows import Reading

LAUGHS = '<!DOCTYPE a [<!ENTITY b "bbb"><!ENTITY c "&b;&b;">]>'


def parse(text: str) -> Reading:
    return catch2.parse(ForeignFile("out.xml", text.encode()))


def test_version_3_has_sections_and_names_itself() -> None:
    reading = parse(
        '<Catch2TestRun name="c" catch2-version="3.5.2"><TestCase name="T"><Section name="s">'
        '<BenchmarkResults name="b"><mean value="1e3"/></BenchmarkResults>'
        "</Section></TestCase></Catch2TestRun>"
    )
    assert reading.tool == "catch2 3.5.2"
    assert [row.id for row in reading.benchmarks] == ["T/s/b"]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ('<mean value="nan"/>', "line 1[0]: nan is not a possible value"),
        ('<mean value="1,5"/>', "line 1: value: '1,5' is not a number"),
        ("<mean/>", "line 1: <mean> has no value"),
        ("", "line 1: <BenchmarkResults> has no <mean>"),
    ],
)
def test_a_bad_mean_fails_the_row(content: str, error: str) -> None:
    results = f'<BenchmarkResults name="b">{content}</BenchmarkResults>'
    reading = parse(f'<Catch name="c">{results}</Catch>')
    assert [(row.id, row.error) for row in reading.benchmarks] == [("b", error)]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (f'{LAUGHS}<Catch name="&c;"/>', "line 1: declares a document type"),
        ('<Catch name="c">\n<TestCase', "line 2, column 1: is not XML: unclosed token"),
        ("<Catch>" * 1000, "line 1: is nested too deeply"),
        ("<testsuites/>", "line 1: begins with <testsuites>, not <Catch> or <Catch2TestRun>"),
        ('<?xml version="1.0" encoding="no-such"?><Catch/>', "is not XML: unknown encoding"),
    ],
)
def test_a_document_that_is_no_report_is_an_error(text: str, error: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse(text)
    assert caught.value.message.startswith(f"out.xml: {error}")

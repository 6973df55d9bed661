"""The rows of a verdict as CSV."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import results
from tests.report.conftest import SAMPLES, golden
from tests.report.page import STATES

from benchgate.escape import spreadsheet_cell
from benchgate.model.policy import Outcome
from benchgate.model.redact import Redactor
from benchgate.model.row import Row
from benchgate.model.run import Source
from benchgate.report.verdict_files import render_csv

if TYPE_CHECKING:
    from benchgate.model.verdict import Verdict

RUNS = "=+-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"


def lines_of(verdict: Verdict) -> list[dict[str, str]]:
    text = render_csv(verdict, str).decode()
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


verdict_of = partial(results.verdict_of, base=Source("ab34"), head=Source("5d1c"))


@pytest.mark.parametrize("state", STATES)
def test_every_line_has_every_column(state: str) -> None:
    text = render_csv(SAMPLES[state], str).decode()
    names, *lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert len(set(names)) == len(names)
    assert [len(line) for line in lines] == [len(names)] * len(SAMPLES[state].rows)
    assert text.count("\n") == text.count("\r\n") == len(lines) + 1


def test_looks() -> None:
    golden("fail.csv", render_csv(SAMPLES["fail"], str).decode().replace("\r\n", "\n"))


def test_numbers_are_plain() -> None:
    row = Row(
        "parse/large",
        Outcome.REGRESSED,
        metric="time",
        statistic="p25",
        unit="s",
        base=0.0123,
        head=0.0140958,
        ratio=1.146,
        interval=(1.121, float("inf")),
        margin=0.02,
        p_adjusted=1e-7,
        launches=(12, 5),
        detectable=1.016,
        location="bench_parse.py:12",
    )
    (line,) = lines_of(verdict_of(row))
    assert line == {
        "benchmark": "parse/large",
        "metric": "time",
        "statistic": "p25",
        "outcome": "regressed",
        "fails": "true",
        "decides": "true",
        "advisory": "false",
        "unit": "s",
        "better": "lower",
        "base": "0.0123",
        "head": "0.0140958",
        "change_ratio": "0.146",
        "change_low_ratio": "0.121",
        "change_high_ratio": "",
        "confidence_ratio": "0.95",
        "margin_ratio": "0.02",
        "detectable_ratio": "0.016",
        "p": "",
        "p_adjusted": "1e-07",
        "base_launches": "12",
        "head_launches": "5",
        "test": "",
        "location": "bench_parse.py:12",
        "note": "",
        "decision": "fail",
        "base_commit": "ab34",
        "head_commit": "5d1c",
        "uncommitted": "false",
    }


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("parse/large[n=-1]", "parse/large[n=-1]"),
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
        ("@SUM(1;2)", "'@SUM(1;2)"),
        ("\N{FULLWIDTH EQUALS SIGN}1", "'\N{FULLWIDTH EQUALS SIGN}1"),
        ("x;=1+1", "x;'=1+1"),
        ("'x", "''x"),
        ("it's; fine", "it's; fine"),
        ("", ""),
    ],
)
def test_no_text_is_a_formula(text: str, cell: str) -> None:
    assert spreadsheet_cell(text) == cell


@settings(deadline=None)
@given(st.text(st.sampled_from(f"{RUNS}';,\"\t\r\n x") | st.characters(), max_size=12))
def test_no_cell_runs_wherever_a_line_is_split(name: str) -> None:
    row = Row(name, Outcome.FAILED, metric=name, notes=(name,), error=name, location=name)
    (line,) = lines_of(replace(verdict_of(row), base=Source(sha=name)))
    for cell in line.values():
        assert cell.isprintable()
        for part in cell.split(";"):
            assert part[:1] not in set(RUNS)
    undone = re.sub("(^|;)'", r"\1", line["metric"])
    assert spreadsheet_cell(undone) == line["metric"]


def test_long_ids_stay_apart() -> None:
    rows = [Row(f"{'x' * 4000}{i}{'y' * 4000}", Outcome.NEW) for i in range(2)]
    assert [line["benchmark"] for line in lines_of(verdict_of(*rows))] == [
        row.benchmark for row in rows
    ]


def test_secrets_are_removed() -> None:
    row = Row("x", Outcome.FAILED, error="password is hunter22!")
    written = render_csv(verdict_of(row), Redactor({"DB_PASSWORD": "hunter22!"})).decode()
    assert "hunter22" not in written
    assert "password is [removed]" in written


def test_every_column_is_described() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    table = page.partition("\n## CSV\n")[2].partition("\n## ")[0]
    described = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| .*$", table, re.MULTILINE)))
    names = render_csv(verdict_of(), str).decode().strip().split(",")
    assert [name for name in names if name not in described] == []


def test_what_was_not_measured_has_a_line_without_numbers() -> None:
    *_, line = lines_of(SAMPLES["same-code"])
    told = {name: text for name, text in line.items() if text}
    assert told["benchmark"] == "template"
    assert told["outcome"] == "same code"
    assert told["fails"] == "false"
    assert not {"base", "head", "p", "change_ratio"} & told.keys()

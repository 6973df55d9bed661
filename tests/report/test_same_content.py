"""Terminal, Markdown, HTML, JSON, JUnit and CSV say the same about a verdict."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console
from tests.page.html_page import HtmlPage
from tests.report.conftest import SAMPLES
from tests.report.page import STATES

from benchgate.model.notes import change as shown_change
from benchgate.model.policy import Outcome
from benchgate.model.verdict import VERDICT
from benchgate.page.report import render_report
from benchgate.report import words
from benchgate.report.markdown import render_markdown
from benchgate.report.terminal import render_verdict
from benchgate.report.verdict_files import render_csv, render_junit
from benchgate.report.view import view_verdict
from benchgate.units import change_digits, format_change

if TYPE_CHECKING:
    from benchgate.model.row import Row
    from benchgate.model.verdict import Verdict
    from benchgate.report.row_view import RowView

# Names of the others are shown without what could do harm, and shortened.
PLAIN = [state for state in STATES if state not in {"hostile", "detailed"}]
STATISTICS = {
    "p25": "typical (p25)",
    "p95": "tail (p95)",
    "median limit": "median limit",
    "exact": "exact",
    "": "",
}


class Said(NamedTuple):
    """What a reader takes from a row."""

    benchmark: str
    statistic: str
    outcome: str
    change: str


@pytest.fixture(params=PLAIN)
def verdict(request: pytest.FixtureRequest) -> Verdict:
    return SAMPLES[str(request.param)]


def measured_rows(verdict: Verdict) -> list[Row]:
    """The rows that tables have: of the others, people read how many there are."""
    return [row for row in verdict.rows if row.outcome is not Outcome.SAME_CODE]


def statistic(metric: str, name: str) -> str:
    shown = "" if metric == "time" else metric
    return ", ".join(filter(None, (shown, STATISTICS[name])))


def change(ratio: float | None, base: float | None, ends: list[float] | None) -> str:
    if ratio is None:
        return "from 0" if base == 0 else ""
    return format_change(ratio, change_digits(*ends) if ends else None)


def in_json(verdict: Verdict) -> tuple[str, set[Said]]:
    document: dict[str, Any] = json.loads(VERDICT.write(verdict, str))
    rows = {
        Said(
            row["benchmark"],
            statistic(row["metric"], row["statistic"]),
            row["outcome"],
            change(row["ratio"], row["base"], row["interval"]),
        )
        for row in document["rows"]
    }
    return document["decision"], rows


def in_csv(verdict: Verdict) -> set[tuple[str, Said]]:
    text = render_csv(verdict, str).decode()
    return {
        (
            line["decision"],
            Said(
                line["benchmark"],
                statistic(line["metric"], line["statistic"]),
                line["outcome"],
                change(
                    1 + float(line["change_ratio"]) if line["change_ratio"] else None,
                    float(line["base"]) if line["base"] else None,
                    [1 + float(line[f"change_{end}_ratio"]) for end in ("low", "high")]
                    if line["change_low_ratio"]
                    else None,
                ),
            ),
        )
        for line in csv.DictReader(io.StringIO(text, newline=""))
    }


def in_junit(verdict: Verdict) -> tuple[str, dict[str, tuple[str, str]]]:
    """The decision, and for each benchmark the word of its outcome and its change."""
    root = ET.fromstring(render_junit(view_verdict(verdict)))  # noqa: S314 - just written
    (decision,) = (
        one.attrib["value"] for one in root.iter("property") if one.attrib["name"] == "decision"
    )
    found = {}
    (about,) = (str(one.text).splitlines() for one in root.iter("system-out"))
    for case in root.iter("testcase"):
        name = case.attrib["name"]
        said = [str(one.text).splitlines()[0] for one in case]
        said += (line.removeprefix(f"{name}: ") for line in about if line.startswith(f"{name}: "))
        word, _, why = said[0].partition(": ")
        changed = re.search(r"(?:^|: )([+-][\d.]+ %|x [\d.]+|from 0)", why)
        if name != "verdict":
            found[name] = (word, changed[1] if changed else "")
    return decision, found


def in_terminal(verdict: Verdict) -> str:
    console = Console(file=io.StringIO(), width=400)
    return render_verdict(view_verdict(verdict), console, verbose=True)


def in_markdown(verdict: Verdict) -> str:
    shown = render_markdown(view_verdict(verdict)).replace("&nbsp;", " ")
    return re.sub(r"\\(.)", r"\1", shown)


def test_the_same_rows_in_every_file(verdict: Verdict) -> None:
    decision, rows = in_json(verdict)
    assert len(rows) == len(verdict.rows)
    assert in_csv(verdict) == {(decision, row) for row in rows}


def test_junit_has_a_row_of_each_benchmark(verdict: Verdict) -> None:
    decision, found = in_junit(verdict)
    assert decision == in_json(verdict)[0]
    deciding = [row for row in verdict.rows if row.decides]
    assert found.keys() == {row.benchmark for row in deciding}
    for name, said in found.items():
        assert said in {
            (words.outcome(row), shown_change(row)) for row in verdict.rows if row.benchmark == name
        }


def test_people_read_the_same(verdict: Verdict) -> None:
    terminal, markdown = in_terminal(verdict), in_markdown(verdict)
    view = view_verdict(verdict)
    assert terminal.startswith(f"{view.icon} {view.sentence}\n")
    assert markdown.startswith(f"### {view.icon} ")
    assert view.not_measured in terminal
    assert view.not_measured in markdown
    for row in measured_rows(verdict):
        (said,) = (x for x in view.rows if x.benchmark == row.benchmark and is_of(x, row))
        (printed,) = (x for x in terminal.splitlines() if is_printed(x, said))
        # The table of what needs attention comes first.
        *_, written = (x for x in markdown.splitlines() if is_written(x, said))
        for line in (printed, written):
            assert words.outcome(row) in line
            assert said.change in line
            assert said.values in line


def test_the_page_has_every_row(verdict: Verdict) -> None:
    _, every = in_json(verdict)
    rows = [row for row in every if row.outcome != Outcome.SAME_CODE.value]
    page = HtmlPage(render_report(verdict, None, str))
    assert page.headline.split() == view_verdict(verdict).headline.replace("`", "").split()
    found = [(name, " ".join(cells)) for name, cells in page.lines()]
    assert len(found) == len(rows)
    for row in rows:
        assert any(
            f"{name} ".startswith(f"{row.benchmark} ")
            and row.statistic in text
            and row.change in text
            for name, text in found
        )


def test_the_page_has_every_outcome(verdict: Verdict) -> None:
    """Each benchmark's table of numbers names the outcome of each row."""
    lines = HtmlPage(render_report(verdict, None, str)).lines()
    for row in measured_rows(verdict):
        assert any(
            name == row.benchmark
            and words.statistic(row) in cells[0]
            and cells[1].removesuffix(" (shown only)") == words.outcome(row)
            for name, cells in lines
        )


def is_of(said: RowView, row: Row) -> bool:
    return said.statistic == words.statistic(row) and said.outcome is row.outcome


def is_printed(line: str, said: RowView) -> bool:
    """Whether a line of the terminal is that of a row in the table of how it was decided."""
    words_first = f"{said.statistic} {said.word} ".lstrip()
    is_named = f"  {line}  ".endswith(f"  {said.benchmark}  ")
    return is_named and f"{' '.join(line.split())} ".startswith(words_first)


def is_written(line: str, said: RowView) -> bool:
    """Whether a line of Markdown is that of a row in the table of all benchmarks."""
    icon, *cells = line.removeprefix("| ").removesuffix(" |").split(" | ")
    is_row = icon == f"{said.icon} {said.word}" and f"`{said.benchmark}`" in cells
    return is_row and (not said.statistic or said.statistic in cells)

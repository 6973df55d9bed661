from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import cmarkgfm  # type: ignore[import-untyped]
import pytest
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from tests.report.conftest import changed, inconclusive, unchanged, verdict

from benchgate.escape import breaking_code, plain_line
from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.model.verdict import Decision
from benchgate.report.links import NO_LINKS
from benchgate.report.markdown_cells import about_cell, change_cell
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from benchgate.report.row_view import BenchmarkView

SLOW = changed("parse/large", Outcome.REGRESSED, 1.146, notes=("confirmed in 12 of 12 rounds",))


def shown(row: Row) -> BenchmarkView:
    # An inconclusive row is shown if it is why there is no verdict.
    view = view_verdict(verdict(Decision.NO_VERDICT, row))
    return (*view.shown, *(one for group in view.folded for one in group.benchmarks))[0]


@pytest.mark.parametrize(
    ("row", "cell"),
    [
        (SLOW, "🔺&nbsp;slower<br>**+14.6&nbsp;%**<br><sub>+12.3&nbsp;to&nbsp;+16.9&nbsp;%</sub>"),
        (inconclusive("a"), "❓&nbsp;inconclusive<br>+1.7&nbsp;%"),
        (unchanged("a"), "✅&nbsp;unchanged<br>+0.1&nbsp;%"),
        (Row("a", Outcome.MISSING), "\N{HEAVY MINUS SIGN}&nbsp;removed"),
        (Row("a", Outcome.REGRESSED, unit="s"), "🔺&nbsp;slower"),
    ],
)
def test_only_a_change_that_is_known_is_bold(row: Row, cell: str) -> None:
    assert change_cell(shown(row).first) == cell


def test_the_second_cell_says_what_a_phone_must_show() -> None:
    assert about_cell(shown(SLOW), NO_LINKS) == (
        "**`parse/large`**<br>"
        "<sub>12.30&nbsp;→&nbsp;14.10&nbsp;ms, confirmed in 12 of 12 rounds</sub>"
    )


def test_earlier_runs_are_drawn_if_there_are_any() -> None:
    cell = about_cell(shown(replace(SLOW, recent=(0.0123,) * 3)), NO_LINKS)
    assert cell.endswith("<br><sub>3 earlier runs, base, head: `▁▁▁ ▁█`</sub>")


class Shown(HTMLParser):
    """What is copied from a page."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[str] = []
        options = Options.CMARK_OPT_UNSAFE
        self.feed(str(cmarkgfm.github_flavored_markdown_to_html(markdown, options=options)))

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - HTMLParser's
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(st.sampled_from("ab/._:[]|`\\@#1w<>&*~$!()-") | st.characters(), min_size=1))
def test_a_long_name_breaks_and_stays_what_it_is(name: str) -> None:
    line = plain_line(name)
    page = Shown(f"| a |\n| --- |\n| {breaking_code(line)} |")
    assert page.text.replace("a", "", 1).strip("\n ").replace("\n", "") == line.strip()
    assert set(page.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "code", "wbr"}


def test_a_long_name_breaks_between_its_parts() -> None:
    assert breaking_code("asv/version/TimeVersion.time_parse[n=1]") == (
        r"<code>asv/<wbr>version/<wbr>TimeVersion.<wbr>time\_<wbr>parse<wbr>\[n=1\]</code>"
    )

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.conftest import SAMPLES, golden
from tests.report.page import OWN_TAGS, STATES, Page, assert_harmless
from tests.results import verdict_of

from benchgate.model.policy import Outcome
from benchgate.model.result import SkippedResult
from benchgate.model.row import Row
from benchgate.model.run import Source
from benchgate.model.verdict import Decision, GateSettings, Verdict
from benchgate.report.markdown import render_markdown
from benchgate.report.view import view_verdict


@pytest.mark.parametrize("state", STATES)
def test_every_state_looks_as_it_did(state: str) -> None:
    golden(f"{state}.md", render_markdown(view_verdict(SAMPLES[state])))


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_harmless_html(state: str) -> None:
    page = Page(render_markdown(view_verdict(SAMPLES[state])))

    assert_harmless(page)
    assert page.tags.count("details") == page.tags.count("summary")


def test_the_first_line_is_the_verdict_in_words() -> None:
    first = render_markdown(view_verdict(SAMPLES["fail"])).splitlines()[0]

    assert first == "### ❌ Slower: `parse/large` +15\N{NO-BREAK SPACE}%"


def test_what_needs_no_attention_is_folded() -> None:
    markdown = render_markdown(view_verdict(SAMPLES["fail"]))
    in_sight = re.sub(r"<details>.*?</details>", "", markdown, flags=re.DOTALL)

    assert "parse/large" in in_sight
    assert "parse/small" in in_sight
    for folded in ("template/loop", "sha256"):
        assert folded not in in_sight
        assert folded in markdown


def test_the_last_line_says_what_was_compared() -> None:
    last = render_markdown(view_verdict(SAMPLES["fail"])).splitlines()[-1]

    for fact in (
        "a1b2c3d",
        "merge base with main",
        "e4f5a6b",
        "EPYC",
        "4 cores",
        "42 s",
        "at most 1 fails",
    ):
        assert fact in last


def test_the_output_of_a_failed_benchmark_is_shown() -> None:
    markdown = render_markdown(view_verdict(SAMPLES["failed"]))

    assert 'File "benchmarks/bench_db.py", line 12, in bench_insert' in markdown


def test_equal_outputs_are_shown_once() -> None:
    failed = [Row(f"db/{name}", Outcome.FAILED, error="boom\n  at x") for name in "abc"]
    other = Row("db/d", Outcome.BASE_FAILED, error="boom\n  at x")
    rows = (*failed, other)
    plain = verdict_of(*rows, exit_code=5)
    view = view_verdict(plain)

    text = render_markdown(view)

    assert text.count("at x") == 2
    assert "<summary>Output of <code>db/a</code> and 2 other benchmarks</summary>" in text
    assert [one.title for one in view.failures] == [
        "db/a and 2 other benchmarks crashed with the same output",
        "db/d crashed on the base",
    ]


@pytest.mark.parametrize("state", ["hostile", "several", "fail", "many"])
def test_every_row_of_a_table_has_the_same_cells(state: str) -> None:
    view = view_verdict(SAMPLES[state])
    tables = Page(render_markdown(view)).tables

    assert all(len(set(table)) == 1 for table in tables)
    *_, evidence = tables
    assert len(tables[0]) - 1 == len(view.lines)
    assert len(evidence) - 1 == len(view.rows)


@given(st.text(), st.text(), st.text(), st.text())
def test_nothing_from_outside_becomes_markup(
    name: str, error: str, note: str, warning: str
) -> None:
    rows = (
        Row(name, Outcome.FAILED, error=error, notes=(note,)),
        Row(name, Outcome.INCOMPARABLE, metric=note, statistic=warning, notes=(error,)),
    )
    source = Source(sha=name, ref=note, why=warning)
    settings = GateSettings(rule=name)
    verdict = Verdict(Decision.FAIL, 3, "", source, source, settings, rows, warnings=(warning,))

    page = Page(render_markdown(view_verdict(verdict)))

    assert_harmless(page)
    assert [len(table) for table in page.tables] == [2, 3]
    assert all(len(set(table)) == 1 for table in page.tables)


def test_three_hundred_that_were_skipped_are_one_line() -> None:
    skipped = tuple(SkippedResult(f"artifact {n}", "it is of a fork") for n in range(300))
    markdown = render_markdown(view_verdict(replace(SAMPLES["pass"], skipped=skipped)))
    assert "300 stored results left out" in markdown
    assert markdown.count("artifact ") == 3


def test_what_was_skipped_is_folded_away() -> None:
    skipped = (
        SkippedResult("a`b|c <!-- x", "@octocat wrote <b>it</b>"),
        SkippedResult("", "expired"),
    )
    markdown = render_markdown(view_verdict(replace(SAMPLES["pass"], skipped=skipped)))
    assert "<summary>2 stored results left out</summary>" in markdown
    assert "<!--" not in markdown
    page = Page(markdown)
    assert set(page.tags) <= OWN_TAGS
    assert "@octocat" not in page.prose
    assert "expired" in page.prose

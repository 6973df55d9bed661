from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.conftest import (
    CLEAN,
    COMPARED,
    SAMPLES,
    TRACEBACK,
    changed,
    golden,
    inconclusive,
    tail,
    unchanged,
    verdict,
)
from tests.report.page import STATES, Page, assert_harmless

from benchgate.escape import code_cell
from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.model.verdict import Decision
from benchgate.report import markdown_cells
from benchgate.report.markdown import COMMENT_BYTES, render_comment, render_markdown
from benchgate.report.view import VerdictView, view_verdict

SUMMARY = "https://github.com/octo-org/hello/actions/runs/42/attempts/1"
# From the most important one.
PARTS = (
    "the output of 2 crashed benchmarks",
    "how to accept it",
    "the details of 1 row",
    "1 inconclusive",
    "the table of all benchmarks",
)
MORE = re.compile(r"^and (\d+) more benchmarks?: (.+)$", re.MULTILINE)
ROW = re.compile(r"^\| [💥🔺][^|]*\| (?:\*\*)?`([^`]+)`", re.MULTILINE)


def bytes_of(text: str) -> int:
    return len(text.encode())


@pytest.fixture(scope="module")
def rich() -> VerdictView:
    """A verdict with every part that there is."""
    failed = [Row(f"db/{name}", Outcome.FAILED, error=TRACEBACK) for name in ("insert", "query")]
    slow = [changed(f"{i:03}/parse", Outcome.REGRESSED, 1.05 + i / 100) for i in range(40)]
    return view_verdict(
        verdict(
            Decision.FAIL,
            *CLEAN,
            *(tail(row, Outcome.UNCHANGED) for row in CLEAN),
            *failed,
            replace(slow[0], detail=COMPARED),
            *slow[1:],
            inconclusive("sort/fast"),
            warnings=tuple(f"warning {i}" for i in range(5)),
            exit_code=3,
        )
    )


@pytest.mark.parametrize("state", sorted({*STATES} - {"many"}))
def test_a_verdict_that_fits_is_shown_whole(state: str) -> None:
    view = view_verdict(SAMPLES[state])
    assert render_comment(view, summary_url=SUMMARY) == render_markdown(view)


def test_a_long_comment_looks_as_it_did() -> None:
    comment = render_comment(view_verdict(SAMPLES["many"]), summary_url=SUMMARY)
    golden("comment-many.md", comment)
    assert bytes_of(comment) <= COMMENT_BYTES


def test_a_comment_that_is_cut_looks_as_it_did(rich: VerdictView) -> None:
    comment = render_comment(rich, limit_bytes=6_000, summary_url=SUMMARY)
    golden("comment-cut.md", comment)
    assert bytes_of(comment) <= 6_000


def test_the_less_important_part_goes_first(rich: VerdictView) -> None:
    whole = render_markdown(rich)
    seen: list[tuple[str, ...]] = []
    for limit in range(bytes_of(whole) + 1_000, 2_500, -300):
        comment = render_comment(rich, limit_bytes=limit, summary_url=SUMMARY)
        assert bytes_of(comment) <= limit
        assert comment.splitlines()[0] == whole.splitlines()[0]
        assert comment.splitlines()[-1] == whole.splitlines()[-1]
        page = Page(comment)
        assert_harmless(page, SUMMARY)
        assert all(len(set(table)) == 1 for table in page.tables)
        missing = re.search(r"Not shown here: (.*)\. \[", comment)
        named = tuple(missing[1].split("; ")) if missing else ()
        if named not in seen:
            seen.append(named)

    assert seen[0] == ()
    assert seen[1] == PARTS[-1:]
    assert seen[2] == PARTS[-2:]
    assert seen[-1] == PARTS
    assert [len(names) for names in seen] == sorted(len(names) for names in seen)
    assert all(set(names) <= {*PARTS, "the output of 1 crashed benchmark"} for names in seen)


def test_no_row_goes_without_a_word(rich: VerdictView) -> None:
    shown_before = len(rich.lines)
    cut = set()
    for limit in range(20_000, 700, -300):
        comment = render_comment(rich, limit_bytes=limit)
        in_sight = re.sub(r"<details>.*?</details>", "", comment, flags=re.DOTALL)
        shown = len(ROW.findall(in_sight))
        more = MORE.search(comment)
        assert shown <= shown_before
        assert shown + (int(more[1]) if more else 0) == len(rich.lines)
        if more:
            counts = [int(part.split()[0]) for part in more[2].split(", ")]
            assert sum(counts) == int(more[1])
            assert "<details>" not in comment
            cut.add(shown)
        shown_before = shown
    assert len(cut) > 5
    assert "and 42 more benchmarks: 2 crashed, 40 slower" in comment


def test_the_worst_rows_are_those_that_stay(rich: VerdictView) -> None:
    comment = render_comment(rich, limit_bytes=6_000)
    names = ROW.findall(comment)
    assert names == [one.first.benchmark for one in rich.shown[: len(names)]]
    assert names[:3] == ["db/insert", "db/query", "039/parse"]


def test_many_warnings_leave_most_of_the_room_to_the_table(rich: VerdictView) -> None:
    many = replace(rich, warnings=("x" * 1000,) * 500)
    comment = render_comment(many, limit_bytes=40_000)
    shown = comment.lower().count("> xxx")
    assert 5 < shown < 10
    assert f"> and {500 - shown} more warnings\n" in comment
    assert not MORE.search(comment)


def test_the_first_line_stays_beyond_any_limit(rich: VerdictView) -> None:
    comment = render_comment(rich, limit_bytes=10)
    assert comment == render_markdown(rich).splitlines()[0] + "\n"


def test_the_longest_first_and_last_lines_fit(rich: VerdictView) -> None:
    """What grows most by its escapes."""
    long = replace(rich, headline="@" * 100_000, last_line="$" * 100_000)
    comment = render_comment(long)
    assert bytes_of(comment) <= COMMENT_BYTES
    assert comment.splitlines()[-1].startswith("<sub>&dollar;")
    assert "```sh\nbenchgate check" in comment
    assert "039/parse" in comment


def test_characters_of_several_bytes_are_counted_as_such() -> None:
    rows = [
        changed("\N{CJK UNIFIED IDEOGRAPH-901F}\N{ROCKET}" * 40 + f"{i}", Outcome.REGRESSED, 1.2)
        for i in range(500)
    ]
    comment = render_comment(view_verdict(verdict(Decision.FAIL, *rows)))
    assert COMMENT_BYTES - 1_000 < bytes_of(comment) <= COMMENT_BYTES
    assert_harmless(Page(comment))


def test_an_address_cannot_leave_its_link(rich: VerdictView) -> None:
    page = Page(render_comment(rich, limit_bytes=6_000, summary_url=f"{SUMMARY}?a=b>)\n# x <b>"))
    assert page.links == [f"{SUMMARY}?a=b%3E%29%0A#%20x%20%3Cb%3E"]


def test_what_cannot_fit_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counted_name(text: str) -> str:
        made.append(text)
        return code_cell(text)

    monkeypatch.setattr(markdown_cells, "code_cell", counted_name)
    view = view_verdict(verdict(Decision.FAIL, changed("a", Outcome.REGRESSED, 1.2), *CLEAN))
    folded = tuple(replace(one, benchmarks=one.benchmarks * 10_000) for one in view.folded)
    huge = replace(view, lines=view.lines * 10_000, folded=folded)

    comment = render_comment(huge)

    assert bytes_of(comment) <= COMMENT_BYTES
    assert len(made) < 10_000


TEXT = st.text(st.sampled_from("a|`<!-->@#1*[]()\\\n $~&:/") | st.characters(), max_size=60)


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=8), TEXT, st.integers(0, 9_000))
def test_nothing_from_outside_breaks_what_is_cut(
    texts: list[tuple[str, str, str]], warning: str, limit: int
) -> None:
    rows = [
        row
        for name, note, error in texts
        for row in (
            changed(name, Outcome.REGRESSED, 1.1, metric=note, notes=(note,)),
            Row(name, Outcome.FAILED, error=error),
            unchanged(note),
        )
    ]
    view = view_verdict(verdict(Decision.FAIL, *rows, warnings=(warning, *texts[0])))

    comment = render_comment(view, limit_bytes=limit)

    assert bytes_of(comment) <= limit or comment.count("\n") == 1
    assert comment.startswith("### ")
    assert "<!--" not in comment
    page = Page(comment)
    assert_harmless(page)
    assert all(len(set(table)) == 1 for table in page.tables)

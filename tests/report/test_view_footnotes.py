from __future__ import annotations

from dataclasses import replace

from tests.report.conftest import CLEAN, changed, printed_verdict, verdict

from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision
from benchgate.report.markdown import render_comment
from benchgate.report.row_view import Footnote
from benchgate.report.view import shared_notes, view_verdict

LONG = "on import, its file runs other code in the head than in the base (lines 3, 9)"
OTHER = "the benchmark was renamed, and nobody knows why that happened"


def test_long_notes_of_several_benchmarks_are_numbered() -> None:
    found = shared_notes([[LONG, "short"], [OTHER, LONG, LONG], ["short"], [OTHER, "alone" * 20]])

    assert found == {
        LONG: Footnote("[1]", LONG, "2 benchmarks"),
        OTHER: Footnote("[2]", OTHER, "2 benchmarks"),
    }


def noted(count: int) -> list[str]:
    """What a comment, a terminal and a pipe show of benchmarks with the same note."""
    slow = [changed(f"{i}", Outcome.REGRESSED, 1.2, notes=(LONG,)) for i in range(count)]
    view = view_verdict(verdict(Decision.FAIL, *slow, *CLEAN))
    shown = [render_comment(view)]
    shown += [printed_verdict(view, width) for width in (300, None)]
    return shown


def test_every_report_says_a_shared_note_once() -> None:
    for text in noted(3):
        assert text.count("on import, its file") == 1
        assert "3 benchmarks: on import" in text
        assert text.replace("\\", "").count("[1]") == 4


def test_the_number_of_a_note_stands_at_the_row_that_has_it() -> None:
    rows = []
    for name in ("a", "b"):
        row = changed(name, Outcome.REGRESSED, 1.2)
        shown = replace(row, metric="requests", decides=False, notes=(LONG,))
        rows += [row, replace(shown, outcome=Outcome.NOT_TESTED)]
    view = view_verdict(verdict(Decision.FAIL, *rows, *CLEAN))

    text = render_comment(view).replace("\\", "")

    marked = [line for line in text.splitlines() if line.endswith("| [1] |")]
    assert len(marked) == 2
    assert all("requests" in line for line in marked)
    assert "2 benchmarks: on import" in text


def test_a_note_of_one_benchmark_stays_with_it() -> None:
    for text in noted(1):
        assert text.count("on import, its file") == 1
        assert "[1]" not in text.replace("\\", "")


def test_a_folded_part_has_its_own_footnotes() -> None:
    rows = (replace(row, notes=(LONG,)) for row in CLEAN)
    text = render_comment(view_verdict(verdict(Decision.PASS, *rows)))
    before, inside = text.split("<details>")[:2]

    assert "on import" not in before
    assert f"{len(CLEAN)} benchmarks: on import" in inside

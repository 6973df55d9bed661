"""How it is worded where to look for the cause of a change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.report.conftest import SAMPLES

from benchgate.model.calls import Edit
from benchgate.model.policy import Outcome
from benchgate.model.row import Cause, Explanation, Row
from benchgate.report.causes import view_causes
from benchgate.report.links import Links
from benchgate.report.markdown import render_markdown
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from benchgate.model.verdict import Verdict

PLACE = "`parse_line` (edited, src/logs.py:41)"
SHARE = "80 % of the change"
CAUSE = Cause(
    function="parse_line",
    location="src/logs.py:41",
    is_own=True,
    edit=Edit.EDITED,
    callee="re.compile",
    calls=(1.0, 100.0),
    amount=6e-6,
)


def slower(cause: Cause | None, name: str = "logs/parse", *, same_calls: bool = False) -> Row:
    explanation = Explanation((cause,) if cause else (), same_calls=same_calls)
    return Row(
        name,
        Outcome.REGRESSED,
        *("time", "p25", "s"),
        base=2e-6,
        head=9.5e-6,
        ratio=4.75,
        explanation=explanation,
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, f"{PLACE} now calls `re.compile` 100 times per iteration instead of once: {SHARE}"),
        (
            {"calls": (0.0, 1.0), "amount": 9e-6},
            f"{PLACE} now calls `re.compile` once per iteration: more than 100 % of the change",
        ),
        (
            {"calls": (2.5, 0.0)},
            f"{PLACE} no longer calls `re.compile` (2.5 times per iteration before): {SHARE}",
        ),
        (
            {"callee": "", "calls": (1.0, 12345.0)},
            f"{PLACE} runs 12,345 times per iteration instead of once: {SHARE}",
        ),
        (
            {"callee": "", "calls": (0.0, 8.0), "edit": Edit.NEW, "location": ""},
            f"`parse_line` (new) runs 8 times per iteration: {SHARE}",
        ),
        (
            {"callee": "", "calls": (8.0, 0.0), "edit": Edit.GONE},
            f"`parse_line` (gone) no longer runs (8 times per iteration before): {SHARE}",
        ),
        (
            {"callee": "", "calls": None, "edit": Edit.NEW, "instead_of": "Base.f"},
            f"`parse_line` (new, src/logs.py:41) replaces `Base.f`: {SHARE}",
        ),
        (
            {"callee": "", "calls": None, "edit": Edit.GONE, "instead_of": "Base.f"},
            f"`parse_line` (gone) is replaced by `Base.f`: {SHARE}",
        ),
        (
            {"callee": "", "calls": None, "edit": Edit.BESIDE, "location": ""},
            f"`parse_line` (in an edited file) takes more time, with other calls: {SHARE}",
        ),
        (
            {"is_own": False, "edit": Edit.NONE, "callee": "", "function": "json.decoder.f"},
            f"`json.decoder.f` runs 100 times per iteration instead of once: {SHARE}",
        ),
    ],
)
def test_sentences(changes: dict[str, object], sentence: str) -> None:
    (found,) = view_causes([slower(replace(CAUSE, **changes))])  # type: ignore[arg-type]
    assert found.sentence == sentence


def test_the_same_calls_are_told() -> None:
    (found,) = view_causes([slower(replace(CAUSE, callee="", calls=None), same_calls=True)])
    assert found.what == f"takes more time, with the same observed calls: {SHARE}"


def test_what_explains_nothing_says_where_to_look() -> None:
    (found,) = view_causes([slower(None, same_calls=True)])
    assert found.sentence.startswith("both sides make the same calls equally often")
    assert found.sentence.endswith("(`logs/parse`)")
    (found,) = view_causes([slower(None)])
    assert found.sentence == "no function explains the change (`logs/parse`)"
    explanation = Explanation(unobserved=("src/_fast.c",), same_calls=True)
    (found,) = view_causes([replace(slower(None), explanation=explanation)])
    assert found.sentence == (
        "`src/_fast.c` was edited, and benchgate does not observe native code; no function that it "
        "observes explains the change (`logs/parse`)"
    )
    explanation = Explanation(unobserved=("src/_fast.c", "b.c", "c.c"))
    (found,) = view_causes([replace(slower(None), explanation=explanation)])
    assert found.sentence.startswith("`src/_fast.c` and 2 other files were edited, and")


def test_benchmarks_with_one_cause_are_one_line() -> None:
    other = replace(CAUSE, function="write", location="src/logs.py:60")
    rows = [slower(CAUSE, "a"), slower(CAUSE, "b"), slower(other, "c"), slower(CAUSE, "d")]
    first, second = view_causes(rows)
    assert first.sentence.endswith("of the change (`a`; the same function in 2 other benchmarks)")
    assert second.sentence.endswith("of the change (`c`)")


def test_a_benchmark_that_also_needs_more_memory_is_one_benchmark() -> None:
    memory = replace(slower(CAUSE), metric="alloc_peak", statistic="", unit="B")
    (found,) = view_causes([slower(CAUSE), memory])
    assert found.sentence.endswith("of the change")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"metric": "alloc_peak", "unit": "B"}, "allocates more memory"),
        (
            {"metric": "instructions", "unit": "", "base": 9.5e6, "head": 2e6},
            "takes fewer instructions, with other calls",
        ),
        ({"metric": "alloc_blocks", "unit": ""}, "allocates more blocks"),
        (
            {"metric": "alloc_blocks", "unit": "", "base": 9.5, "head": 2},
            "allocates fewer blocks",
        ),
    ],
)
def test_of_allocations_the_metric_is_named(changes: dict[str, object], sentence: str) -> None:
    row = replace(slower(None), **changes)  # type: ignore[arg-type]
    more = (row.head or 0.0) - (row.base or 0.0)
    cause = replace(CAUSE, callee="", calls=None, amount=more)
    what = view_causes([replace(row, explanation=Explanation((cause,)))])[0].what
    assert what == f"{sentence}: 100 % of the change of {row.metric}"


def test_of_what_is_unchanged_only_the_calls_are_compared() -> None:
    same = replace(slower(None, same_calls=True), outcome=Outcome.UNCHANGED)
    other = replace(slower(None), outcome=Outcome.INCONCLUSIVE)
    assert view_causes([same])[0].what.startswith("both sides make the same calls equally often")
    assert view_causes([other])[0].what.startswith("some functions are called more or less often")


def test_what_got_faster_is_explained_if_nothing_got_slower() -> None:
    faster = replace(slower(CAUSE, "fast"), outcome=Outcome.IMPROVED, base=9.5e-6, head=2e-6)
    assert "100 times" in view_causes([faster])[0].what
    assert [one.what[-5:] for one in view_causes([slower(CAUSE, "x"), faster])] == ["(`x`)"]


def test_a_name_from_the_code_is_no_markup() -> None:
    strange = replace(CAUSE, function="<b>`a`\n[x](y)", callee="|`|")
    sentence = view_causes([slower(strange)])[0].sentence
    assert sentence.count("`") == 4
    assert "\n" not in sentence


def comment(verdict: Verdict, cause: Cause) -> str:
    rows = tuple(
        replace(row, explanation=Explanation((cause,))) if row.outcome is Outcome.REGRESSED else row
        for row in verdict.rows
    )
    links = Links(tree="https://github.com/o/r/blob/abc", compare="https://github.com/o/r/compare")
    return render_markdown(view_verdict(replace(verdict, rows=rows), links))


def test_the_comment_links_the_function() -> None:
    text = comment(SAMPLES["fail"], CAUSE)
    line = next(line for line in text.splitlines() if line.startswith("Where to look: "))
    assert "[`parse_line`](<https://github.com/o/r/blob/abc/src/logs.py#L41>) (edited) now" in line
    assert "Changed files" not in text


def test_a_function_that_holds_the_edited_one_names_it() -> None:
    holder = replace(CAUSE, calls=None, callee="", holds="weigh")
    (cause,) = view_causes([slower(holder)])
    place = "src/logs.py:41, holds the edited `weigh`"
    assert cause.sentence.startswith(f"`parse_line` ({place}) takes more time")
    assert "#L41>) (holds the edited `weigh`) takes more time" in comment(SAMPLES["fail"], holder)

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from tests.report.conftest import SAMPLES

from benchgate.model.environment import Environment
from benchgate.model.policy import Outcome
from benchgate.model.row import VALUE, Row
from benchgate.model.verdict import GateSettings
from benchgate.report.row_view import RowView
from benchgate.report.view import VerdictView, view_verdict, without_secrets


def test_every_row_is_shown_exactly_once() -> None:
    for verdict in SAMPLES.values():
        view = view_verdict(verdict)
        unmeasured = [row for one in view.same_code for row in one.rows]
        assert len(view.rows) + len(unmeasured) == len(verdict.rows)


def test_a_clean_suite_has_nothing_to_attend_to() -> None:
    view = view_verdict(SAMPLES["pass"])

    assert view.shown == ()
    assert [group.title for group in view.folded] == ["7 unchanged within 2 %"]


def test_what_fails_comes_before_what_improved() -> None:
    view = view_verdict(SAMPLES["fail"])

    assert [
        (one.first.outcome, one.first.benchmark, one.first.statistic) for one in view.shown
    ] == [
        (Outcome.REGRESSED, "parse/large", "typical (p25)"),
        (Outcome.IMPROVED, "parse/small", "typical (p25)"),
    ]
    assert [(row.outcome, row.statistic) for row, _ in view.shown[0].others] == [
        (Outcome.NOT_TESTED, "tail (p95)")
    ]
    assert [group.title for group in view.folded] == [
        "1 inconclusive",
        "7 unchanged within 2 %",
    ]


def test_a_row_is_strings() -> None:
    row = view_verdict(SAMPLES["fail"]).shown[0].first

    assert row == RowView(
        outcome=Outcome.REGRESSED,
        icon="🔺",
        word="slower",
        benchmark="parse/large",
        decides=True,
        fails=True,
        statistic="typical (p25)",
        about="",
        base="12.30 ms",
        head="14.10 ms",
        change="+14.6 %",
        interval="+12.3 to +16.9 %",
        course="",
        course_title="",
        note="confirmed in 12 of 12 rounds",
        error="",
        location="",
        evidence=(
            *("side by side", "12.30 ms, 13.95 ms", "1.6 %", "0.00024", "0.0024", "12"),
            *("12, side by side", "wilcoxon", "slower: p < 0.0001, p95 +15.1 %"),
        ),
    )
    assert row.values == "12.30 → 14.10 ms"


def test_nothing_in_a_view_can_move_a_cursor() -> None:
    view = view_verdict(SAMPLES["hostile"])

    for row in view.rows:
        for field in fields(row):
            text = str(getattr(row, field.name))
            assert all(c.isprintable() or (c == "\n" and field.name == "error") for c in text)


def test_the_last_line_leaves_out_what_is_not_known() -> None:
    verdict = replace(
        SAMPLES["pass"],
        environment=Environment(),
        rounds=0,
        settings=GateSettings(rule="classical"),
    )

    assert view_verdict(verdict).last_line == (
        "Compared a1b2c3d (merge base with main) with e4f5a6b plus uncommitted "
        "changes. The rule classical has no bound on false alarms."
    )


def texts(part: Any) -> list[str]:  # noqa: ANN401 - any part of a view
    if type(part) is str:
        return [part]
    if is_dataclass(part):
        part = tuple(getattr(part, field.name) for field in fields(part))
    return [text for item in part for text in texts(item)] if isinstance(part, tuple) else []


@pytest.mark.parametrize("state", ["hostile", "detailed", "no-baseline", "loosened", "several"])
def test_every_text_is_redacted_and_nothing_else_changes(state: str) -> None:
    view = view_verdict(SAMPLES[state])
    assert without_secrets(view, str) == view
    redacted = without_secrets(view, lambda text: f"[{text}]")
    assert isinstance(redacted, VerdictView)
    assert texts(redacted) == [f"[{text}]" for text in texts(view)]
    assert redacted.decision is view.decision
    assert [row.outcome for row in redacted.rows] == [row.outcome for row in view.rows]


def test_a_secret_takes_no_other_text_along() -> None:
    view = replace(view_verdict(SAMPLES["fail"]), headline="a password='", last_line="' and more")
    redact = re.compile("(?<=password=)'.*?(?:'|$)").sub
    redacted = without_secrets(view, lambda text: redact("...", text))
    assert (redacted.headline, redacted.last_line) == ("a password=...", "' and more")


def test_instructions_that_somebody_asked_for_stand_in_the_line_of_the_benchmark() -> None:
    verdict = SAMPLES["fail"]
    time = next(row for row in verdict.rows if row.benchmark == "parse/large" and not row.is_tail)
    count = Row(
        time.benchmark,
        Outcome.NOT_TESTED,
        metric="instructions",
        statistic=VALUE,
        ratio=1.0,
        base=2_777_000.0,
        head=2_777_000.0,
        test="exact",
        decides=False,
    )
    one = view_verdict(replace(verdict, rows=(*verdict.rows, count))).shown[0]
    assert one.first.benchmark == time.benchmark
    assert one.about_others == ("instructions: 0.00 %, 2.777M",)

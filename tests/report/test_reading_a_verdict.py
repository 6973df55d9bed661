"""Compares the page that explains the output with everything that can be printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.report.conftest import SAMPLES, printed_verdict

from benchgate.model.policy import Outcome
from benchgate.model.row import Row
from benchgate.model.run import Tier
from benchgate.model.verdict import Decision
from benchgate.report import words
from benchgate.report.columns import updated
from benchgate.report.view import view_verdict

if TYPE_CHECKING:
    from benchgate.model.verdict import Verdict

PAGE_FOLDER = Path(__file__).parents[2] / "docs"
PAGE = (PAGE_FOLDER / "reading-a-verdict.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_row_with_its_icon_its_word_and_its_code(outcome: Outcome) -> None:
    word = words.outcome(Row("a", outcome, unit="s"))
    (row,) = (
        one for one in PAGE.splitlines() if one.startswith(f"| {words.ICONS[outcome]} **{word}** ")
    )
    assert f"`{outcome}`" in row.split(" | ")[1]


@pytest.mark.parametrize("decision", Decision)
def test_every_decision_has_a_row(decision: Decision) -> None:
    assert f"| {words.DECISION_ICONS[decision]} | **{decision}** |" in PAGE


@pytest.mark.parametrize("tier", Tier)
def test_every_tier_is_explained(tier: Tier) -> None:
    assert f"**{words.TIERS[tier]}**" in PAGE


def test_the_list_of_columns_is_up_to_date() -> None:
    command = "python -m benchgate.report.columns docs/reading-a-verdict.md"
    assert updated(PAGE) == PAGE, f"run: {command}"


def on_page(verdict: Verdict) -> str:
    """The report at the width of the page's examples."""
    return printed_verdict(view_verdict(verdict), 110)


def test_the_example_is_what_is_really_printed() -> None:
    example = PAGE.split("```text\n")[1].split("```")[0].splitlines()
    shown = on_page(SAMPLES["fail"]).splitlines()

    assert example[0] == shown[0]
    rows = [line for line in example[2:] if line][:-3]
    assert set(rows) <= set(shown)


def test_a_loosened_gate_is_shown_as_it_is_really_printed() -> None:
    example = PAGE.split("```text\nthis change")[1].split("```")[0]

    assert f"\nthis change{example}" in on_page(SAMPLES["loosened"])

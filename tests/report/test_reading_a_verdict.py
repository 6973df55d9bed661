"""Compares the page that explains the output with everything that can be printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchgate.model.outcome import Outcome
from benchgate.model.run import Tier
from benchgate.model.verdict import Decision
from benchgate.report.words import TIERS

PAGE_FOLDER = Path(__file__).parents[2] / "docs"
PAGE = (PAGE_FOLDER / "reading-a-verdict.md").read_text(encoding="utf-8")
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("word", [*Outcome, *Decision])
def test_every_word_has_a_row_of_its_own(word: str) -> None:
    assert f"| **{word}** |" in PAGE


@pytest.mark.parametrize("tier", Tier)
def test_every_tier_is_explained(tier: Tier) -> None:
    assert f"**{TIERS[tier]}**" in PAGE


def test_the_example_is_what_is_really_printed() -> None:
    example = PAGE.split("```text\n")[1].split("```")[0].splitlines()
    printed = (GOLDEN / "fail-110.txt").read_text(encoding="utf-8").splitlines()

    assert example[0] == printed[0]
    rows = [line for line in example[2:] if line][:-3]
    assert set(rows) <= set(printed)


def test_a_loosened_gate_is_shown_as_it_is_really_printed() -> None:
    example = PAGE.split("```text\nthis change")[1].split("```")[0]
    printed = (GOLDEN / "loosened-110.txt").read_text(encoding="utf-8")

    assert f"\nthis change{example}" in printed

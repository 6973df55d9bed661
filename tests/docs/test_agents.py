"""docs/agents.md is short, and names all that a program meets."""

from __future__ import annotations

import re
from pathlib import Path

from benchgate.model.verdict import StepKind
from benchgate.project.agents import SECTION

TEXT = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")


def test_the_page_has_at_most_200_words() -> None:
    # Marks of tables and fences are no words.
    words = [word for word in TEXT.split() if re.search(r"\w", word)]
    assert len(words) <= 200


def test_every_kind_of_step_is_named() -> None:
    assert [kind for kind in StepKind if f"`{kind}`" not in TEXT] == []


def test_the_section_names_the_exit_codes_that_the_page_has() -> None:
    codes = re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE)
    assert {*codes} - {"130"} == {*re.findall(r"(\d): ", SECTION)}

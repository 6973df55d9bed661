"""docs/commands.md against the command line itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchgate.cli import COMMANDS

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def sections() -> dict[str, str]:
    """The text below each heading of a command."""
    parts = re.split(r"^## benchgate (\w+)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_command_has_a_section_in_the_order_of_the_help() -> None:
    assert list(sections()) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str) -> None:
    assert re.search(rf"^\$ benchgate {name}\b", sections()[name], re.MULTILINE)

"""docs/commands.md against the command line itself.

    python tests/docs/test_commands.py

writes the help of every command into the page.
"""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from benchgate.cli import COMMANDS, cli

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
_WIDTH = 88
_HELP = re.compile(r"<!-- help: (?P<name>\w+) -->\n.*?<!-- end -->", re.DOTALL)


def command_of(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert isinstance(command, click.Command)
    return command


def help_of(name: str) -> str:
    """What `benchgate NAME --help` prints, on a terminal of fixed width."""
    parent = click.Context(cli, info_name="benchgate", **cli.context_settings)
    context = click.Context(
        command_of(name), parent, info_name=name, terminal_width=_WIDTH, max_content_width=_WIDTH
    )
    lines = command_of(name).get_help(context).splitlines()
    return "\n".join(line.rstrip() for line in lines)


def updated(text: str) -> str:
    """The page with the help of every command put between its marks."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        return f"<!-- help: {name} -->\n```text\n{help_of(name)}\n```\n<!-- end -->"

    return _HELP.sub(block, text)


def sections() -> dict[str, str]:
    """The text below each heading of a command."""
    parts = re.split(r"^## benchgate (\w+)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_command_has_a_section_in_the_order_of_the_help() -> None:
    assert list(sections()) == list(COMMANDS)


def test_the_help_is_up_to_date() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert updated(text) == text, "run: python tests/docs/test_commands.py"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented(name: str) -> None:
    section = sections()[name]
    for parameter in command_of(name).params:
        names = parameter.opts if isinstance(parameter, click.Option) else []
        assert [option for option in names if option not in section] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str) -> None:
    assert re.search(rf"^\$ benchgate {name}\b", sections()[name], re.MULTILINE)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

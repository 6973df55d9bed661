from __future__ import annotations

from pathlib import Path

import click
import pytest

from benchgate.cli import COMMANDS, cli
from benchgate.cli.command_reference import contexts, updated

PAGE = Path(__file__).parents[2] / "docs" / "options.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_page_is_up_to_date() -> None:
    assert updated(TEXT) == TEXT, "run: python -m benchgate.cli.command_reference docs/options.md"


def test_reading_the_commands_leaves_their_help_as_it_is() -> None:
    for context in contexts():
        help_option = context.command.get_help_option(context)
        assert help_option is not None
        assert help_option.opts == ["-h", "--help"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_is_there(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert isinstance(command, click.Command)
    link = f"[`{name}`](commands.md#benchgate-{name})"
    for option in command.params:
        if isinstance(option, click.Option):
            flags = ", ".join(f"`{flag}`" for flag in [*option.opts, *option.secondary_opts])
            rows = [line for line in TEXT.splitlines() if line.startswith(f"| {flags} ")]
            assert [row for row in rows if link in row and str(option.help) in row]


def test_every_command_that_writes_an_output_takes_the_short_form() -> None:
    options = [one for context in contexts() for one in context.command.params]
    writing = [one.opts for one in options if "--output" in one.opts]
    assert writing == [["-o", "--output"]] * 5


def test_a_row_has_as_many_cells_as_the_head() -> None:
    tables = [line.replace("\\|", "") for line in TEXT.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in tables} == {4}


def test_commands_whose_option_is_the_same_share_a_row() -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| `--margin`")]
    (row,) = [line for line in rows if "([`gate.margin`](" in line]
    assert all(f"`{name}`" in row for name in ("check", "compare", "ci"))

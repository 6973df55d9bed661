"""Makes the table of docs/options.md from the command line.

    python -m benchgate.cli.command_reference docs/options.md

updates a document: it rewrites the text between `<!-- options -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchgate.cli import COMMANDS, cli
from benchgate.model.policy import OVERRIDES

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = re.compile(r"(<!-- options -->\n).*?(<!-- end -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OptionRow:
    """What the table says about an option; commands that have the same one share a row."""

    name: str
    flags: tuple[str, ...]
    value: str
    meaning: str
    keys: str


def updated(document: str) -> str:
    """Rewrite the table of a document."""
    table = "".join(f"{line}\n" for line in _options())
    return _BLOCK.sub(lambda block: block[1] + table + block[2], document)


def contexts() -> Iterator[click.Context]:
    """One context per command, as the command line itself makes it.

    click keeps the help option of a command from the first context that asks for it, so a
    context without the settings of the group would change every later `--help`.
    """
    parent = click.Context(cli, info_name="benchgate", **cli.context_settings)
    for name in COMMANDS:
        command = cli.get_command(parent, name)
        if command is not None:
            yield click.Context(command, parent, info_name=name)


def _link(command: str) -> str:
    return f"[`{command}`](commands.md#benchgate-{command})"


def _options() -> Iterator[str]:
    yield "| option | meaning | commands |"
    yield "|---|---|---|"
    commands: dict[OptionRow, list[str]] = defaultdict(list)
    for context in contexts():
        for option in context.command.params:
            if isinstance(option, click.Option):
                commands[_row(option, context)].append(str(context.info_name))
    for row in sorted(commands, key=lambda row: row.name):
        flags = ", ".join(f"`{flag}`" for flag in row.flags)
        links = ", ".join(map(_link, commands[row]))
        cells = (f"{flags} {row.value}".rstrip(), f"{row.meaning} {row.keys}".rstrip(), links)
        yield f"| {' | '.join(cells)} |"


def _row(option: click.Option, context: click.Context) -> OptionRow:
    value = "" if option.is_flag else _code(option.make_metavar(context).strip("[]"))
    default = f" Default: `{option.get_default(context)}`." if option.show_default else ""
    return OptionRow(
        name=option.opts[-1],
        flags=(*option.opts, *option.secondary_opts),
        value=value,
        meaning=str(option.help).replace("|", "\\|") + default,
        # What has a default of its own does not override the configuration.
        keys="" if option.show_default else _keys(str(option.name)),
    )


def _code(metavar: str) -> str:
    """A placeholder as code; a bar would end the cell, so each choice stands alone."""
    return ", ".join(f"`{choice}`" for choice in metavar.strip("{}").split("|"))


def _keys(option: str) -> str:
    if option not in OVERRIDES:
        return ""
    one = OVERRIDES[option]
    page = f"configuration.md#{one.table}"
    return f"({', '.join(f'[`{one.table}.{key}`]({page})' for key in one.keys)})"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(updated(path.read_text(encoding="utf-8")), encoding="utf-8")

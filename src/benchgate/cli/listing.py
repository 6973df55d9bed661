"""`benchgate list`: the benchmarks that would be measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.text import Text

from benchgate.cli import options as o
from benchgate.cli.world import configuration, console, real_effects, repository_or_none
from benchgate.model.run import Tier
from benchgate.report.columns import Column, Line, print_columns, print_text
from benchgate.report.escape import plain_line
from benchgate.session.choice import Choice
from benchgate.session.one_tree import open_tree
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

    from benchgate.measure.engine import Definition

_KINDS = {Tier.LOCKSTEP: "python", Tier.INTERLEAVED: "command"}


_COLUMNS = (
    Column("benchmark", name=True),
    Column("kind"),
    Column("defined at", drop=2),
    Column("tags", drop=1),
)


def print_benchmarks(definitions: Sequence[Definition], console: Console) -> None:
    """Print the benchmarks that would be measured, one line each."""
    lines = [
        Line(
            (
                plain_line(one.id),
                _KINDS[one.tier],
                plain_line(one.location or ""),
                plain_line(", ".join(one.tags)),
            )
        )
        for one in definitions
    ]
    print_columns(console, _COLUMNS, lines)
    console.print()
    print_text(console, Text(counted(len(definitions), "benchmark"), "dim"))


FAILED_EXIT_CODE = 5


@click.command("list")
@o.options(o.CHOICE, o.CONFIG, o.QUIET)
def command(
    globs: tuple[str, ...], tags: tuple[str, ...], config_file: Path | None, quiet: bool
) -> int:
    """List the benchmarks that would be measured.

    benchgate imports the benchmark files, but measures nothing.

    \b
    Example:
      benchgate list --filter 'parse/*'

    Exit code 0: everything could be read, 5: a benchmark file could not.
    """
    effects = real_effects(quiet=quiet)
    git = repository_or_none(effects.cwd)
    config = configuration(effects.cwd, git, config_file)
    try:
        with open_tree(Choice(globs, tags), config, git, effects) as (session, _):
            found = {d.id: d for arm in session.arms for d in session.definitions(arm)}
            listed = [found[id_] for id_ in session.ids]
            failures = session.failures
    finally:
        effects.progress.close()
    print_benchmarks(listed, console())
    for failure in failures:
        click.echo(f"error: {failure.id}: {failure.error}", err=True)
    return FAILED_EXIT_CODE if failures else 0

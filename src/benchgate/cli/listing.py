"""`benchgate list`: the benchmarks that would be measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from benchgate.cli import options as o
from benchgate.cli.world import configuration, console, real_effects, repository_or_none
from benchgate.model.run import Tier
from benchgate.report.benchmark_list import ListedBenchmark, render_listing
from benchgate.session.choice import Choice
from benchgate.session.one_tree import open_tree

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.session.session import Session


_KINDS = {Tier.LOCKSTEP: "python", Tier.INTERLEAVED: "command"}


def list_benchmarks(session: Session) -> tuple[ListedBenchmark, ...]:
    """Prepare what a session found for display, in the order in which it was found."""
    definitions = {d.id: d for arm in session.arms for d in session.definitions(arm)}
    return tuple(
        ListedBenchmark(id_, _KINDS[d.tier], d.location, d.tags)
        for id_ in session.ids
        for d in (definitions[id_],)
    )


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
    config = configuration(effects.cwd, git.root if git else None, config_file)
    try:
        with open_tree(Choice(globs, tags), config, git, effects) as (session, _):
            listed = list_benchmarks(session)
            failures = session.failures
    finally:
        effects.progress.close()
    render_listing(listed, console())
    for failure in failures:
        click.echo(f"error: {failure.id}: {failure.error}", err=True)
    return FAILED_EXIT_CODE if failures else 0

"""`benchgate run` and `benchgate list`: measure one tree, or list its benchmarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.text import Text

from benchgate.cli import options as o
from benchgate.cli.boundary import say
from benchgate.cli.builds import kept_builds
from benchgate.cli.check import naming_suites
from benchgate.cli.world import (
    configuration,
    console,
    real_effects,
    repository_or_none,
)
from benchgate.describe.result_statistics import describe
from benchgate.escape import plain_line
from benchgate.files import ensure_writable
from benchgate.model.result import Phase
from benchgate.model.run import Tier
from benchgate.report.statistics_table import render_result
from benchgate.report.terminal import Column, Line, print_columns, print_text, render_timing
from benchgate.session.choice import Choice
from benchgate.session.one_tree import RunRequest, open_tree, run
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

    from benchgate.measure.contract import Definition
    from benchgate.model.policy import Options
    from benchgate.model.result import Shard


FAILED_EXIT_CODE = 5


@click.command("run", cls=o.SectionedCommand)
@o.options(
    o.CHOICE, o.SHARD, o.MEASURING, o.OUTPUT, o.CONFIG, o.INTROSPECT, o.NO_CACHE, o.TIMING, o.QUIET
)
@o.overriding
def run_command(
    globs: tuple[str, ...],
    tags: tuple[str, ...],
    shard: Shard | None,
    output: Path | None,
    config_file: Path | None,
    introspect: bool,
    rebuild: bool,
    timing: bool,
    quiet: bool,
    overrides: Options,
) -> int:
    """Measure one tree and write a result file.

    benchgate measures the working tree, including uncommitted changes. Outside of a git
    repository, it measures the current folder. `benchgate compare` compares two results.

    \b
    Example:
      benchgate run --output before.json.gz

    Exit code 0: everything ran, 5: a benchmark crashed.
    """
    effects = real_effects(quiet=quiet, builds=kept_builds(reads=not rebuild))
    if output is not None:
        ensure_writable(output)
    git = repository_or_none(effects.cwd, (output,))
    config = configuration(effects.cwd, git, config_file).with_overrides(overrides)
    try:
        with naming_suites(config, git):
            request = RunRequest(Choice(globs, tags, shard), output, introspect=introspect)
            result = run(request, config, git, effects)
    finally:
        effects.progress.close()
    effects.phases.begin(Phase.REPORT)
    statistics = describe(result)
    render_result(statistics, console())
    if timing:
        render_timing(effects.phases.taken(), console(stderr=True))
    return FAILED_EXIT_CODE if statistics.runs[0].failures else 0


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
                one.kind,
                plain_line(one.location or ""),
                plain_line(", ".join(one.tags)),
            )
        )
        for one in definitions
    ]
    print_columns(console, _COLUMNS, lines)
    console.print()
    suites = sum(one.tier is Tier.SUITE for one in definitions)
    count = counted(len(definitions) - suites, "benchmark")
    if suites:
        whose = "its" if suites == 1 else "their"
        count += f", and {counted(suites, 'suite')}: only a run tells {whose} benchmarks"
    print_text(console, Text(count, "dim"))


@click.command("list")
@o.options(o.CHOICE, o.CONFIG, o.NO_CACHE, o.QUIET)
def list_command(
    globs: tuple[str, ...],
    tags: tuple[str, ...],
    config_file: Path | None,
    rebuild: bool,
    quiet: bool,
) -> int:
    """List the benchmarks that would be measured.

    benchgate imports the benchmark files, but measures nothing. A suite of another tool is one
    line: only a run tells which benchmarks it has, and `benchgate run --rounds 1` shows them.

    \b
    Example:
      benchgate list --filter 'parse/*'

    Exit code 0: everything could be read, 5: a benchmark file could not.
    """
    effects = real_effects(quiet=quiet, builds=kept_builds(reads=not rebuild))
    git = repository_or_none(effects.cwd)
    config = configuration(effects.cwd, git, config_file)
    try:
        with (
            naming_suites(config, git),
            open_tree(Choice(globs, tags), config, git, effects, runs_suites=False) as (session, _),
        ):
            found = {d.id: d for arm in session.arms for d in session.definitions(arm)}
            listed = [found[id_] for id_ in session.ids]
            failures = session.failures
    finally:
        effects.progress.close()
    print_benchmarks(listed, console())
    for failure in failures:
        say(f"error: {failure.id}: {failure.error}", err=True)
    return FAILED_EXIT_CODE if failures else 0

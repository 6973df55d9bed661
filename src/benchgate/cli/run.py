"""`benchgate run`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from benchgate.cli import options as o
from benchgate.cli.world import configuration, console, real_effects, repository_or_none
from benchgate.describe.result_statistics import describe
from benchgate.files import ensure_writable
from benchgate.report.statistics_table import render_result
from benchgate.session.choice import Choice
from benchgate.session.one_tree import RunRequest, run

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.model.policy import Options
    from benchgate.model.result import Shard

FAILED_EXIT_CODE = 5


@click.command("run")
@o.options(o.CHOICE, o.SHARD, o.MEASURING, o.OUTPUT, o.CONFIG, o.QUIET)
@o.overriding
def command(
    globs: tuple[str, ...],
    tags: tuple[str, ...],
    shard: Shard | None,
    output: Path | None,
    config_file: Path | None,
    quiet: bool,
    overrides: Options,
) -> int:
    """Measure one tree and write a result file.

    benchgate measures the working tree, including uncommitted changes. Outside of a git
    repository, it measures the current folder. `benchgate compare` compares two results.

    \b
    Example:
      benchgate run --output before.json.gz

    Exit code 0: everything ran, 5: a benchmark failed.
    """
    effects = real_effects(quiet=quiet)
    if output is not None:
        ensure_writable(output)
    git = repository_or_none(effects.cwd, (output,))
    config = configuration(effects.cwd, git, config_file).with_overrides(overrides)
    try:
        result = run(RunRequest(Choice(globs, tags, shard), output), config, git, effects)
    finally:
        effects.progress.close()
    statistics = describe(result)
    render_result(statistics, console())
    return FAILED_EXIT_CODE if statistics.runs[0].failures else 0

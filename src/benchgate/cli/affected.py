"""`benchgate affected`: which benchmarks a change can reach, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from benchgate.cli import options as o
from benchgate.cli.builds import kept_builds
from benchgate.cli.check import naming_suites
from benchgate.cli.world import configuration, real_effects, repository
from benchgate.escape import plain_line
from benchgate.session.checking import CheckRequest, affected
from benchgate.session.choice import Choice
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchgate.model.policy import Options


@click.command("affected")
@o.options(o.AGAINST, o.CHOICE, o.CONFIG, o.NO_CACHE, o.QUIET)
@o.overriding
def command(
    *,
    globs: tuple[str, ...],
    tags: tuple[str, ...],
    config_file: Path | None,
    rebuild: bool,
    quiet: bool,
    overrides: Options,
) -> int:
    """Say which benchmarks run or read anything that changed, and why.

    benchgate builds both sides and runs each benchmark a few times, but measures nothing.
    `benchgate check` measures only what this command calls affected, unless it gets --all.

    \b
    Examples:
      benchgate affected
      benchgate affected --against main --filter 'parse/*'
    """
    effects = real_effects(quiet=quiet, builds=kept_builds(reads=not rebuild))
    git = repository(effects.cwd)
    config = configuration(effects.cwd, git, config_file).with_overrides(overrides)
    try:
        with naming_suites(config, git):
            request = CheckRequest(Choice(globs, tags))
            reasons = affected(request, config, git, effects)
    finally:
        effects.progress.close()
    click.echo("\n".join(_lines(reasons)))
    return 0


def _lines(reasons: Mapping[str, str]) -> list[str]:
    reached = {id_: why for id_, why in reasons.items() if why}
    lines = [f"{plain_line(id_)}: {plain_line(why)}" for id_, why in reached.items()]
    same = [f"{plain_line(id_)}: not affected" for id_, why in reasons.items() if not why]
    summary = f"Affected: {len(reached)} of {counted(len(reasons), 'benchmark')}."
    return [*lines, *same, *([""] if reasons else []), summary]

"""`benchgate ci` and `benchgate publish`: the commands for jobs on GitHub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchgate.ci.measuring import CiRequest
from benchgate.ci.publish import publish
from benchgate.ci.step import ci_step
from benchgate.cli import options as o
from benchgate.cli.actions import (
    TOKEN_VARIABLE,
    annotated,
    checkout,
    own_folder,
    real_context,
    real_job,
    real_step,
    take_environment,
)
from benchgate.cli.world import configuration, console, real_effects, working_directory
from benchgate.errors import UsageError
from benchgate.github.context import WorkflowRunEvent
from benchgate.model.policy import Options
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from benchgate.config import Config
    from benchgate.model.policy import Options
    from benchgate.model.result import Shard


@click.command("ci", context_settings={"auto_envvar_prefix": "BENCHGATE"})
@o.options(
    o.BASELINE_IN_CI,
    o.CHOICE,
    o.SHARD,
    o.SUITE,
    click.option(
        "--merge",
        "shards",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="FOLDER",
        help="Measure nothing; join the results of all shards in FOLDER, decide, and comment.",
    ),
    o.MEASURING,
    o.UNTIL_DECIDED,
    o.LANES,
    o.DECIDING,
    o.CONFIG,
    click.option(
        "--comment/--no-comment",
        default=True,
        help="Whether to comment on the pull request.",
    ),
    click.option("--check/--no-check", default=False, help="Whether to add a check run."),
    o.GITHUB_TIMEOUT,
    o.QUIET,
    o.VERBOSE,
)
@o.overriding
def command(
    globs: tuple[str, ...],
    tags: tuple[str, ...],
    shard: Shard | None,
    suite: str,
    shards: Path | None,
    config_file: Path | None,
    comment: bool,
    check: bool,
    quiet: bool,
    verbose: bool,
    github_timeout: float,
    overrides: Options,
) -> int:
    """Check what changed, in a GitHub Actions job; write a comment and a summary.

    The event determines the base commit, and whether the result becomes a baseline for later
    runs. The action passes its inputs as variables, such as BENCHGATE_MARGIN, and the token for
    GitHub's API as BENCHGATE_TOKEN.

    In a workflow triggered by workflow_run, it does the same as `benchgate publish`.

    \b
    Example:
      benchgate ci --margin 3%

    Exit code 0: pass, 3: a regression, 4: no verdict, 5: a benchmark failed, 6: no baseline,
    7: GitHub could not be reached. If a comment or summary cannot be written, that is a warning.
    """
    environ = take_environment()
    effects = real_effects(quiet=quiet, cwd=working_directory())
    choice = Choice(globs, tags, shard)
    with annotated(environ):
        context = real_context(environ)
        job = real_job(context, checkout(effects.cwd), environ.get(TOKEN_VARIABLE), github_timeout)
    step = real_step(environ, console(), verbose=verbose, comments=comment, check_run=check)

    def configure() -> Config:
        found = configuration(effects.cwd, job.git, config_file)
        return found.with_overrides(overrides)

    try:
        if isinstance(context.event, WorkflowRunEvent):
            with annotated(environ):
                run = context.event
                return publish(run, configure(), effects, job, step, choice=choice, suite=suite)
        request = CiRequest(own_folder(environ), choice, suite, shards)
        return ci_step(request, configure, effects, job, step)
    finally:
        effects.progress.close()


@click.command("publish", context_settings={"auto_envvar_prefix": "BENCHGATE"})
@o.options(o.CONFIG, o.GITHUB_TIMEOUT, o.VERBOSE)
def publish_command(config_file: Path | None, verbose: bool, github_timeout: float) -> int:
    """Comment on a pull request, in a workflow triggered by workflow_run.

    benchgate reads what the pull request's run measured as data, and decides again with the
    configuration of the target branch. It checks out and runs nothing of the pull request.

    \b
    Example:
      benchgate publish

    Exit code 0: commented, or nothing to comment on; 7: GitHub could not be reached.
    """
    environ = take_environment()
    effects = real_effects(quiet=True, cwd=working_directory())
    with annotated(environ):
        context = real_context(environ)
        if not isinstance(context.event, WorkflowRunEvent):
            raise UsageError(
                "`benchgate publish` needs the event workflow_run, and this job runs on "
                f"{context.event_name}",
                hint="`benchgate init` writes the workflow for it.",
            )
        job = real_job(context, checkout(effects.cwd), environ.get(TOKEN_VARIABLE), github_timeout)
        step = real_step(environ, console(), verbose=verbose)
        config = configuration(effects.cwd, job.git, config_file)
        return publish(context.event, config, effects, job, step)

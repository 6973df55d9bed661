"""`benchgate publish`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from benchgate.ci.publish import publish
from benchgate.cli import options as o
from benchgate.cli.actions import (
    TOKEN_VARIABLE,
    annotated,
    checkout,
    real_context,
    real_job,
    real_step,
    take_environment,
)
from benchgate.cli.world import (
    configuration,
    console,
    real_effects,
    working_directory,
)
from benchgate.errors import UsageError
from benchgate.github.events import WorkflowRunEvent

if TYPE_CHECKING:
    from pathlib import Path


@click.command("publish", context_settings={"auto_envvar_prefix": "BENCHGATE"})
@o.options(o.CONFIG, o.GITHUB_TIMEOUT, o.VERBOSE)
def command(config_file: Path | None, verbose: bool, github_timeout: float) -> int:
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
        config = configuration(effects.cwd, job.git.root, config_file)
        return publish(context.event, config, effects, job, step)

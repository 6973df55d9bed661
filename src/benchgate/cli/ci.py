"""`benchgate ci` and `benchgate publish`: the commands for jobs on GitHub."""

from __future__ import annotations

import ctypes
import os
import random
import secrets
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchgate.ci.base import Job
from benchgate.ci.measuring import CiRequest
from benchgate.ci.publish import PullRequestSuite, publish
from benchgate.ci.replay import replay
from benchgate.ci.step import JobStep, ci_step, error_lines
from benchgate.cli import options as o
from benchgate.cli.world import configuration, console, real_effects, repository, working_directory
from benchgate.errors import BenchgateError, Interrupted, NotARepositoryError, UsageError
from benchgate.git.repository import with_token
from benchgate.github.client import LIMIT_S, Client, parse_run_url
from benchgate.github.runner import WorkflowRunEvent, read_context
from benchgate.github.transport import Token
from benchgate.measure.machine import read_environment
from benchgate.model.redact import Redactor
from benchgate.report.terminal import render_verdict
from benchgate.report.view import without_secrets
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console

    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.github.runner import Context
    from benchgate.model.policy import Options
    from benchgate.model.result import Result, Shard
    from benchgate.model.verdict import Verdict
    from benchgate.report.view import VerdictView


_WORD_BYTES = 16
TOKEN_VARIABLE = "BENCHGATE_TOKEN"  # noqa: S105 - its name
# Who can write to these files controls the step; who has a token controls the job.
_HIDDEN = frozenset(
    {
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
        "ACTIONS_ID_TOKEN_REQUEST_URL",
        "GITHUB_ENV",
        "GITHUB_OUTPUT",
        "GITHUB_PATH",
        "GITHUB_STATE",
        "GITHUB_STEP_SUMMARY",
        TOKEN_VARIABLE,
    }
)
_PR_SET_DUMPABLE = 4


def take_environment() -> dict[str, str]:
    """Return all variables, and hide those of this step from the processes that it starts."""
    environ = dict(os.environ)
    for name in _HIDDEN & environ.keys():
        del os.environ[name]
    if sys.platform == "linux":
        # Other processes of this user can read the variables that this process was started with,
        # unless it is marked as one that holds secrets.
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    return environ


@contextmanager
def annotated(environ: Mapping[str, str]) -> Iterator[None]:
    """Show an error on the page of the run too, not only in the log."""
    try:
        yield
    except BenchgateError as error:
        if environ.get("GITHUB_ACTIONS") == "true" and not isinstance(error, Interrupted):
            for line in error_lines(error, Redactor(environ)):
                click.echo(line)
        raise


def checkout(cwd: Path) -> Git:
    """Find the repository that an earlier step has checked out."""
    try:
        return repository(cwd)
    except NotARepositoryError as error:
        hint = "Add a step with `actions/checkout` before this one."
        raise NotARepositoryError(error.message, hint=hint) from None


def real_context(environ: Mapping[str, str]) -> Context:
    """Read what GitHub says about the job."""
    return read_context(environ, lambda path: path.read_text(encoding="utf-8"))


def real_client(api_url: str, token: str | None, limit_s: float = LIMIT_S) -> Client:
    return Client(
        api_url,
        Token(token) if token else None,
        clock=time.monotonic,
        sleep=time.sleep,
        draw=random.random,
        limit_s=limit_s,
    )


def real_job(context: Context, git: Git, token: str | None, limit_s: float) -> Job:
    """Describe the job that this process is part of.

    Args:
        token: for GitHub; an empty one counts as none.
    """
    return Job(
        context=context,
        client=real_client(context.api_url, token, limit_s),
        git=with_token(git, context.server_url, token, os.environ) if token else git,
        here=read_environment(os.environ),
    )


def replay_run(
    url: str, artifact: str | None, environ: Mapping[str, str]
) -> tuple[Verdict, Result]:
    """Download the result of a GitHub run, and decide again.

    Args:
        url: address of the run. It may name any server; a token is sent only to the server it is
            for.
        artifact: name of the result to use, if there are several.
    """
    run = parse_run_url(url)
    own_api_url = environ.get("GITHUB_API_URL") or "https://api.github.com"
    token = environ.get("GITHUB_TOKEN") or environ.get("GH_TOKEN")
    is_own = run.api_url == own_api_url.rstrip("/")
    return replay(run, real_client(run.api_url, token if is_own else None), name=artifact)


def real_step(
    environ: Mapping[str, str],
    console: Console,
    *,
    verbose: bool,
    comments: bool = True,
    check_run: bool = False,
) -> JobStep:
    """Describe the step that this process is."""
    redact = Redactor(environ)

    def say(text: str) -> None:
        if verbose:
            click.echo(redact(text), err=True)

    def show(view: VerdictView) -> None:
        console.file.write(render_verdict(without_secrets(view, redact), console, verbose=verbose))
        console.file.flush()

    return JobStep(
        environ=environ,
        stream=sys.stdout,
        draw=lambda: secrets.token_hex(_WORD_BYTES),
        redact=redact,
        show=show,
        say=say,
        comments=comments,
        check_run=check_run,
    )


def own_folder(environ: Mapping[str, str]) -> Path:
    """Make a folder that lasts as long as the job, because later steps read its files.

    Its name differs from that of a session's folder, which the next session removes.
    """
    place = environ.get("RUNNER_TEMP")
    return Path(tempfile.mkdtemp(prefix="benchgate-job-", dir=place or None))


@click.command("ci", cls=o.SectionedCommand, context_settings={"auto_envvar_prefix": "BENCHGATE"})
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
    o.EXPLAIN,
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

    Exit code 0: pass, 3: slower, 4: no verdict, 5: a benchmark crashed, 6: no baseline,
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
                theirs = PullRequestSuite(choice, suite)
                return publish(context.event, configure(), effects, job, step, theirs=theirs)
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

    Exit code 0: commented, or nothing to comment on; 7: GitHub could not be reached, or did not
    let benchgate comment.
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

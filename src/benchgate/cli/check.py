"""`benchgate check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from benchgate.app.check import CheckRequest, check
from benchgate.app.choice import Choice
from benchgate.cli import options as o
from benchgate.cli.last import prepare_last_result
from benchgate.cli.outputs import Outputs
from benchgate.cli.world import configuration, real_effects, repository
from benchgate.errors import UsageError
from benchgate.files import write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.redact import Redactor

if TYPE_CHECKING:
    from pathlib import Path

    from benchgate.model.policy import Options
    from benchgate.model.result import Shard


_OF_RUN_ALONE = frozenset({"artifact"})
_ALSO_OF_RUN = frozenset(
    {"run_url", "output", "json_file", "markdown_file", "quiet", "verbose"} | _OF_RUN_ALONE
)


@click.command("check")
@o.options(
    o.AGAINST,
    o.BASELINE,
    o.CHOICE,
    o.SHARD,
    o.MEASURING,
    o.UNTIL_DECIDED,
    o.DECIDING,
    o.OUTPUT,
    o.REPORTS,
    o.CONFIG,
    click.option(
        "--run",
        "run_url",
        metavar="URL",
        help="Measure nothing: decide again what a run on GitHub has decided.",
    ),
    click.option("--artifact", metavar="NAME", help="With --run: which of several results."),
    o.QUIET,
    o.VERBOSE,
)
@o.overriding
def command(
    globs: tuple[str, ...],
    tags: tuple[str, ...],
    shard: Shard | None,
    output: Path | None,
    json_file: Path | None,
    markdown_file: Path | None,
    config_file: Path | None,
    run_url: str | None,
    artifact: str | None,
    quiet: bool,
    verbose: bool,
    overrides: Options,
) -> int:
    """Measure base and head in turn, decide, report.

    The base is the merge base with the default branch, or HEAD when only uncommitted
    changes and new files are ahead of it. Both are built and measured outside of your checkout.
    With results of earlier runs as the baseline the head alone is measured.

    \b
    Examples:
      benchgate check
      benchgate check --against main --filter 'parse/*' --margin 3%
      benchgate check --baseline dir:.benchgate
      benchgate check --json verdict.json --markdown comment.md --output result.json.gz
      benchgate check --run https://github.com/OWNER/NAME/actions/runs/1234567890

    With --run the result of a job on GitHub is fetched, and judged by the configuration that
    it was judged by there. GITHUB_TOKEN or GH_TOKEN may read it: a token that may see actions.

    The result is kept for `benchgate show` and `benchgate compare` also without --output.

    Exit code 0: pass, 3: a regression, 4: no verdict, 5: a benchmark failed, 6: no baseline.
    """
    effects = real_effects(quiet=quiet)
    outputs = Outputs(json_file, markdown_file, verbose=verbose)
    outputs.require_writable(output)
    _require_effect(click.get_current_context(), of_run=run_url is not None)
    if run_url is not None:
        from benchgate.cli.job import replay_run  # noqa: PLC0415 - a client of GitHub is slow to load

        verdict, result = replay_run(run_url, artifact, effects.environ)
        if output is not None:
            write_atomic(output, encode_result(result, Redactor(effects.environ)))
        outputs.write(verdict, effects.environ)
        return verdict.exit_code
    git = repository(effects.cwd, (output, json_file, markdown_file))
    config = configuration(effects.cwd, git.root, config_file).with_overrides(overrides)
    output = output or prepare_last_result(git.root, effects.environ)
    try:
        verdict, _ = check(CheckRequest(Choice(globs, tags, shard), output), config, git, effects)
    finally:
        effects.progress.close()
    outputs.write(verdict, effects.environ)
    return verdict.exit_code


def _require_effect(context: click.Context, *, of_run: bool) -> None:
    """Refuse options that would change nothing, beside --run or without it."""
    given = [
        parameter
        for parameter in context.command.params
        if context.get_parameter_source(parameter.name or "")
        in {click.core.ParameterSource.COMMANDLINE, click.core.ParameterSource.ENVIRONMENT}
    ]
    idle = [p for p in given if (p.name not in _ALSO_OF_RUN if of_run else p.name in _OF_RUN_ALONE)]
    if not idle:
        return
    names = ", ".join(parameter.opts[-1] for parameter in idle)
    if not of_run:
        raise UsageError(f"{names}: says which result of a run, and needs --run URL")
    raise UsageError(
        f"--run decides by what the run was judged by, and takes no {names}",
        hint="To decide otherwise, keep its result with --output, and use `benchgate compare`.",
    )

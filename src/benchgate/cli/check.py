"""`benchgate check`."""

from __future__ import annotations

import os
import shlex
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import click

from benchgate.baselines.stored_files import read_result
from benchgate.cli import options as o
from benchgate.cli.builds import kept_builds
from benchgate.cli.last_result import copied, prepare_last_result, require_last_result
from benchgate.cli.outputs import Outputs
from benchgate.cli.world import (
    configuration,
    console,
    real_effects,
    repository,
)
from benchgate.config.load import OWN_FILE, SHARED_FILE
from benchgate.errors import NoBenchmarksError, UsageError
from benchgate.files import write_atomic
from benchgate.gate.waves import LOOKS
from benchgate.git.changes import is_ignored
from benchgate.model.codec import encode_result
from benchgate.model.redact import Redactor
from benchgate.model.result import Phase, Shard
from benchgate.model.verdict import StepKind
from benchgate.report.next_steps import CheckCommand, Situation, next_steps, sentence
from benchgate.report.terminal import render_timing
from benchgate.session.checking import CheckRequest, check
from benchgate.session.choice import Choice
from benchgate.session.measuring import fixed_rounds
from benchgate.session.unfinished import Unfinished

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.config import Config
    from benchgate.git.repository import Git
    from benchgate.model.figures import BenchmarkFigures
    from benchgate.model.policy import Options
    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict
    from benchgate.session.effects import Effects


@contextmanager
def naming_suites(config: Config, git: Git | None) -> Iterator[None]:
    """Name the suites of the project, if there is nothing to measure and no configuration."""
    try:
        yield
    except NoBenchmarksError:
        if config.source:
            raise
        from benchgate.project.proposal import choose_folder  # noqa: PLC0415 - seldom needed
        from benchgate.project.suites import find_benchmarks  # noqa: PLC0415 - seldom needed

        folder = choose_folder(Path.cwd(), git.root if git else None)
        found = find_benchmarks(folder, lambda path: git is not None and is_ignored(git, path))
        if not found.suites:
            raise
        raise NoBenchmarksError(
            "there is no configuration file that says what to measure",
            details="\n".join(found.sentences),
            hint="`benchgate init` writes a benchgate.toml that measures this.",
        ) from None


_OF_RUN_ALONE = frozenset({"artifact"})
_ALSO_OF_RUN = frozenset(
    {"run_url", "output", "quiet", "verbose", *(f"{name}_file" for name in o.VERDICT_FILES)}
    | _OF_RUN_ALONE
)


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The command line of a check.

    Attributes:
        run_url, artifact: the run of GitHub to decide again on, and the result in it.
        continued: the file of the interrupted check to go on with; "" for the last check.
        rebuild: whether earlier builds are left alone.
        reports: the files that the verdict is written to, by the names of their options.
    """

    globs: tuple[str, ...]
    tags: tuple[str, ...]
    shard: Shard | None
    output: Path | None
    config_file: Path | None
    benchmarks: Literal["auto", "own", "head"]
    run_url: str | None
    artifact: str | None
    continued: str | None
    everything: bool
    introspect: bool
    rebuild: bool
    timing: bool
    quiet: bool
    verbose: bool
    reports: Mapping[str, Path]
    overrides: Options


@click.command("check", cls=o.SectionedCommand)
@o.options(
    o.AGAINST,
    o.BASELINE,
    o.CHOICE,
    o.SHARD,
    o.MEASURING,
    o.UNTIL_DECIDED,
    o.LANES,
    o.EXPLAIN,
    o.DECIDING,
    o.OUTPUT,
    o.REPORTS,
    o.CONFIG,
    click.option(
        "--benchmarks",
        type=click.Choice(["auto", "own", "head"]),
        default="auto",
        help="Run the head's benchmarks on both sides, or on each side its own; auto (default): "
        "the base's on both sides, or the head's if the base has none.",
    ),
    click.option(
        "--run",
        "run_url",
        metavar="URL",
        help="Measure nothing; decide again on the result of a GitHub run.",
    ),
    click.option(
        "--artifact", metavar="NAME", help="With --run: the result to use, if the run left several."
    ),
    click.option(
        "--continue",
        "continued",
        metavar="[FILE]",
        is_flag=False,
        flag_value="",
        help="Go on with an interrupted check: the last one, or that of a result file.",
    ),
    o.ALL,
    o.INTROSPECT,
    o.NO_CACHE,
    o.TIMING,
    o.QUIET,
    o.VERBOSE,
)
@o.reporting
@o.overriding
@o.as_one(CheckOptions)
def command(given: CheckOptions) -> int:
    """Measure base and head in turn, decide, and report.

    The base is the merge base with the default branch, or HEAD if only uncommitted changes and
    new files are ahead of it. benchgate builds and measures both outside of your checkout. If
    the baseline is results of earlier runs, it measures only the head.

    \b
    Examples:
      benchgate check
      benchgate check --against main --filter 'parse/*' --margin 3%
      benchgate check --against v1.2 --benchmarks head
      benchgate check --baseline dir:.benchgate
      benchgate check --json verdict.json --markdown comment.md --output result.json.gz
      benchgate check --junit benchgate.xml --csv verdict.csv
      benchgate check --html report.html
      benchgate check --continue
      benchgate check --run https://github.com/OWNER/NAME/actions/runs/1234567890

    With --run, benchgate downloads the result of a GitHub run and decides again with the
    settings that the run used. GITHUB_TOKEN or GH_TOKEN must hold a token that may read actions.

    An interrupted check goes on with --continue where it stopped, if commits, changes, benchmarks
    and machine are as they were; give the same options again.

    Also with --output, `benchgate show` and `benchgate compare` find the result.

    Exit code 0: pass, 3: slower, 4: no verdict, 5: a benchmark crashed, 6: no baseline.
    """
    effects = real_effects(quiet=given.quiet, builds=kept_builds(reads=not given.rebuild))
    outputs = Outputs(given.reports, verbose=given.verbose)
    outputs.require_writable(given.output)
    context = click.get_current_context()
    _require_effect(context, of_run=given.run_url is not None)
    if given.run_url is not None:
        return _replay(given.run_url, given.artifact, given.output, outputs, effects.environ)
    git = repository(effects.cwd, (given.output, *given.reports.values()))
    config = configuration(effects.cwd, git, given.config_file).with_overrides(given.overrides)
    saving, verdict, result = _check(given, config, git, effects)
    effects.phases.begin(Phase.REPORT)
    has_page = saving.last is not None and "html" not in given.reports
    situation = _situation(result, config, git, context, has_page=has_page)
    verdict = replace(verdict, next=next_steps(verdict, situation))
    outputs.write(
        verdict,
        effects.environ,
        effects.progress.told,
        partial(_figures_of, result, config.aliases),
        result,
    )
    for step in verdict.next:
        if step.kind is not StepKind.FIX:  # the report says it
            effects.progress.hint(sentence(step))
    if given.timing:
        render_timing(effects.phases.taken(), console(stderr=True))
    return verdict.exit_code


@dataclass(frozen=True, slots=True)
class _Saving:
    """Where a check saves its result.

    Attributes:
        output: the file that the user names.
        last: the file of the last result in this project; None if it cannot be kept.
    """

    output: Path | None
    last: Path | None

    def places(self) -> tuple[Path | None, Path | None]:
        """Where it is saved while it is measured, and where a copy goes at the end."""
        saved, copy = (self.output or self.last), (self.last if self.output else None)
        if saved and copy and saved.exists() and not saved.is_file():
            return copy, saved  # a device or a pipe cannot be read again
        return saved, copy

    def again(self) -> str:
        """The command that goes on with it."""
        file = f" {shlex.quote(str(self.output))}" if self.output else ""
        return f"`benchgate check --continue{file}`"


def _check(
    given: CheckOptions, config: Config, git: Git, effects: Effects
) -> tuple[_Saving, Verdict, Result]:
    """Measure and decide; also return where the result is saved."""
    environ, message = effects.environ, effects.progress.message
    unfinished = None if given.continued is None else _unfinished(given.continued, git, environ)
    output = given.output or (Path(given.continued) if given.continued else None)
    saving = _Saving(output, prepare_last_result(git.root, environ, message, output))
    saved, copy = saving.places()
    request = CheckRequest(
        Choice(given.globs, given.tags, given.shard),
        saved,
        must_save=output is not None,
        introspect=given.introspect,
        only_affected=not given.everything,
        benchmarks=given.benchmarks,
        unfinished=unfinished,
        again=saving.again(),
    )
    try:
        with (
            naming_suites(config, git),
            copied(saved, copy, message) if saved and copy else nullcontext(),
        ):
            return saving, *check(request, config, git, effects)
    finally:
        effects.progress.close()


def _unfinished(file: str, git: Git, environ: Mapping[str, str]) -> Unfinished:
    """Read the interrupted check of a file, or the last one if no file is named."""
    path = Path(file) if file else require_last_result(git.root, environ)
    return Unfinished.of(read_result(path), str(path))


def _replay(
    run_url: str,
    artifact: str | None,
    output: Path | None,
    outputs: Outputs,
    environ: Mapping[str, str],
) -> int:
    """Decide again on the result of a GitHub run; return the exit code."""
    from benchgate.cli.ci import replay_run  # noqa: PLC0415 - a client of GitHub is slow to load

    verdict, result = replay_run(run_url, artifact, environ)
    if output is not None:
        write_atomic(output, encode_result(result, Redactor(environ)))
    outputs.write(verdict, environ, figures=partial(_figures_of, result), result=result)
    return verdict.exit_code


def _figures_of(
    result: Result, aliases: Mapping[str, str] = MappingProxyType({})
) -> Mapping[str, BenchmarkFigures]:
    from benchgate.describe.figures import figures_of  # noqa: PLC0415 - only for a page

    return figures_of(result, aliases=aliases)


def _situation(
    result: Result, config: Config, git: Git, context: click.Context, *, has_page: bool
) -> Situation:
    """What the next steps depend on beside the verdict.

    Args:
        has_page: whether `benchgate report` can write the page of this result.
    """
    source = config.source or git.root / OWN_FILE
    in_turn = result.base is not None
    rounds_s = {one.id: one.round_s for one in result.head.benchmarks if one.round_s}
    return Situation(
        check=CheckCommand(tuple(_typed(context))),
        rounds_s=rounds_s if in_turn else None,
        least_rounds=0 if fixed_rounds(config) else LOOKS * config.measure.screen_rounds,
        config=os.path.relpath(source, git.root),
        waive="tool.benchgate.waive" if source.name == SHARED_FILE else "waive",
        has_page=has_page,
        at_root=Path.cwd() == git.root,
    )


def _typed(context: click.Context) -> Iterator[tuple[str, str]]:
    """The name of each option that the command line has, and how it is typed."""
    for option in context.command.params:
        name = option.name or ""
        if context.get_parameter_source(name) is not click.core.ParameterSource.COMMANDLINE:
            continue
        flag, value = max(option.opts, key=len), context.params[name]
        if isinstance(value, bool):
            yield flag, flag if value else option.secondary_opts[0]
        elif isinstance(value, Shard):
            yield flag, f"{flag} {value.number}/{value.count}"
        else:
            values = value if isinstance(value, tuple) else (value,)
            yield flag, " ".join(f"{flag} {shlex.quote(str(one))}" for one in values)


def _require_effect(context: click.Context, *, of_run: bool) -> None:
    """Refuse options that have no effect with --run, or without it."""
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
        raise UsageError(f"{names} needs --run URL: it names one of the results of that run")
    raise UsageError(
        f"--run reuses the run's settings; {names} cannot be combined with it",
        hint="To use other settings, save the result with --output, then run `benchgate compare`.",
    )

"""`benchgate compare`: decide between stored results, without measuring anything."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from benchgate.baselines.any_file import read_any
from benchgate.cli import options as o
from benchgate.cli.last_result import require_last_result
from benchgate.cli.outputs import Outputs, keep
from benchgate.cli.world import configuration, repository, repository_or_none
from benchgate.describe.figures import figures_of
from benchgate.errors import UsageError
from benchgate.gate.effect import is_of_other_tools, require_effect
from benchgate.gate.judging import judge_runs
from benchgate.gate.other_tests import CompareSettings, with_details
from benchgate.gate.stored import EarlierResult, StoredResults, is_same_run, newest_first
from benchgate.gate.verdict import make_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchgate.config import Config
    from benchgate.gate.judging import JudgedRuns
    from benchgate.model.policy import Options
    from benchgate.model.result import Result
    from benchgate.model.verdict import Verdict

F = TypeVar("F", bound="Callable[..., int]")


def compare(
    earlier: Sequence[Sequence[Path]],
    head: Sequence[Path],
    config: Config,
    *,
    read: Callable[..., Result] = read_any,
    detail: bool = False,
) -> Verdict:
    """Decide between the heads of result files, or between the two arms of one.

    Arguments and errors are those of `judge_files`.
    """
    _, judged = judge_files(earlier, head, config, read=read, detail=detail)
    return make_verdict(judged, config)


def judge_files(
    earlier: Sequence[Sequence[Path]],
    head: Sequence[Path],
    config: Config,
    *,
    read: Callable[..., Result] = read_any,
    detail: bool = False,
) -> tuple[Result, JudgedRuns]:
    """Judge the heads of result files, or the two arms of one; return the last result, too.

    Args:
        earlier: the files of each earlier result, in any order; if there is none, the verdict of
            the head, a result of `benchgate check`, is recomputed.
        head: its files: a result of benchgate, or what another tool wrote in each launch.
        read: reads the files of a result.
    """
    # Of several results, those of one run are left out.
    seen: dict[bytes, Path] | None = {} if len(earlier) == 1 else None
    results = newest_first(
        EarlierResult(", ".join(map(str, paths)), read(paths, seen=seen)) for paths in earlier
    )
    last = read(head, seen=seen, like=results[0].result.tool if results else "")
    every = [last, *(one.result for one in results)]
    require_effect(config, every, is_whole=is_of_other_tools(every))
    if len(earlier) == 1 and is_same_run(results[0].run, last.head):
        raise UsageError(
            f"{', '.join(map(str, head))} and {results[0].name} are of one run",
            hint="Name a result of the base and one of the head.",
        )
    found = StoredResults("file", results) if earlier else None
    judged = judge_runs(last, config, found)
    if detail:
        judged = _with_comparisons(judged, config)
    return last, judged


def _with_comparisons(judged: JudgedRuns, config: Config) -> JudgedRuns:
    """Add all other estimates and tests to each row; this takes a moment per row."""
    gate = config.gate
    settings = CompareSettings(gate.confidence, gate.alpha, seed=judged.head.seed)
    return replace(judged, judgment=with_details(judged.judgment, settings))


class _SeveralValues(o.SectionedCommand):
    """Lets an option take several files, as a shell makes of `*`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each of its values."""
        several = {name for each in self.params if _takes_files(each) for name in each.opts}
        repeated: list[str] = []
        option = ""
        for each in args:
            if each.startswith("-"):
                option = each if each in several else ""
            elif option and repeated[-1] != option:
                repeated.append(option)
            repeated.append(each)
        return super().parse_args(ctx, repeated)


def _takes_files(parameter: click.Parameter) -> bool:
    return parameter.multiple and parameter.type is o.RESULT


def _several(name: str, what: str) -> Callable[[F], F]:
    return click.option(name, type=o.RESULT, multiple=True, metavar="FILE...", help=what)


@click.command("compare", cls=_SeveralValues)
@click.argument(
    "results",
    type=o.RESULT,
    nargs=-1,
    metavar="[EARLIER]... [RESULT]",
)
@_several("--base", "Files of the base: of another tool, one for each launch.")
@_several("--head", "Files of the head, likewise.")
@o.options(o.OF_TOOLS, o.DECIDING, o.REPORTS, o.CONFIG, o.VERBOSE)
@click.option("--detail", is_flag=True, help="Show every other estimate and test of each row.")
@o.reporting
@o.overriding
@o.reading
def command(
    results: tuple[Path, ...],
    base: tuple[Path, ...],
    head: tuple[Path, ...],
    read: Callable[[Sequence[Path]], Result],
    config_file: Path | None,
    verbose: bool,
    detail: bool,
    reports: Mapping[str, Path],
    overrides: Options,
) -> int:
    """Compare result files and decide.

    With one file, a result of `benchgate check` (by default the last one here), its verdict is
    recomputed. With more files, the last one is compared with the newest of the others. Results
    that were measured at different times share no rounds, so a difference between two of them is
    advisory: it fails no build unless `baseline.advisory_fails` is set. Ten earlier results of
    one machine show how much its runs differ; a change beyond that fails.

    Files of other tools are read too, such as what `pytest --benchmark-json` writes. Each file is
    one launch: with --base and --head, name those of several runs of the tool.

    \b
    Examples:
      benchgate compare before.json.gz after.json.gz
      benchgate compare main/*.json.gz after.json.gz
      benchgate compare --margin 5%
      benchgate compare --detail
      benchgate compare --base old-*.json --head new-*.json

    Exit code 0: pass, 3: slower, 4: no verdict, 5: a benchmark crashed.
    """
    cwd = Path.cwd()
    git = repository_or_none(cwd)
    config = configuration(cwd, git, config_file).with_overrides(overrides)
    outputs = Outputs(reports, verbose=verbose)
    outputs.require_writable()
    earlier, last = _sides(results, base, head)
    last = last or (require_last_result(repository(cwd).root, os.environ),)
    for path in (*chain.from_iterable(earlier), *last):
        keep(path, **reports)
    result, judged = judge_files(earlier, last, config, read=read, detail=detail)
    verdict = make_verdict(judged, config)
    figures = partial(figures_of, result, judged.base, config.aliases)
    outputs.write(verdict, os.environ, figures=figures)
    return verdict.exit_code


def _sides(
    results: tuple[Path, ...], base: tuple[Path, ...], head: tuple[Path, ...]
) -> tuple[list[tuple[Path, ...]], tuple[Path, ...]]:
    """The files of each earlier result, and those of the last one; none if none is named."""
    if not base and not head:
        return [(path,) for path in results[:-1]], results[-1:]
    if results or not base or not head:
        raise UsageError(
            "--base and --head belong together, and no other files may be named",
            hint="benchgate compare --base A1.json A2.json --head B1.json B2.json",
        )
    return [base], head

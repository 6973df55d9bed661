"""`benchgate compare`: decide between stored results, without measuring anything."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchgate.cli import options as o
from benchgate.cli.outputs import Outputs, keep, require_last_result
from benchgate.cli.world import configuration, repository, repository_or_none
from benchgate.files import read_result
from benchgate.gate.judging import judge_result, judge_stored, make_verdict
from benchgate.gate.other_tests import CompareSettings, with_details
from benchgate.gate.stored import EarlierResult, StoredResults, newest_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.config import Config
    from benchgate.gate.judging import JudgedRuns
    from benchgate.model.policy import Options
    from benchgate.model.verdict import Verdict


def compare(paths: Sequence[Path], config: Config, *, detail: bool = False) -> Verdict:
    """Decide between the heads of result files, or between the two arms of one.

    Args:
        paths: earlier results in any order, and the head last; or only a result of
            `benchgate check`, whose verdict is recomputed.

    Raises:
        UsageError: a file cannot be read, or the only file has just one arm.
        FormatError: a file is not a result, or it is damaged.
    """
    *earlier, last = paths
    if earlier:
        results = newest_first(EarlierResult(str(path), read_result(path)) for path in earlier)
        judged = judge_stored(StoredResults("file", results), read_result(last), config)
    else:
        judged = judge_result(read_result(last), config)
    if detail:
        judged = _with_comparisons(judged, config)
    return make_verdict(judged, config)


def _with_comparisons(judged: JudgedRuns, config: Config) -> JudgedRuns:
    """Add all other estimates and tests to each row; this takes a moment per row."""
    gate = config.gate
    settings = CompareSettings(gate.confidence, gate.alpha, seed=judged.head.seed)
    return replace(judged, judgment=with_details(judged.judgment, settings))


@click.command("compare")
@click.argument(
    "results",
    type=o.FILE,
    nargs=-1,
    metavar="[EARLIER]... [RESULT]",
)
@o.options(o.DECIDING, o.REPORTS, o.CONFIG, o.VERBOSE)
@click.option("--detail", is_flag=True, help="Show every other estimate and test of each row.")
@o.overriding
def command(
    results: tuple[Path, ...],
    json_file: Path | None,
    markdown_file: Path | None,
    config_file: Path | None,
    verbose: bool,
    detail: bool,
    overrides: Options,
) -> int:
    """Compare result files and decide.

    With one file, a result of `benchgate check` (by default the last one here), its verdict is
    recomputed. With more files, the last one is compared with the newest of the others. Results
    that were measured at different times share no rounds, so a difference between two of them is
    advisory: it fails no build unless `baseline.advisory_fails` is set. Ten earlier results of
    one machine show how much its runs differ; a change beyond that fails.

    \b
    Examples:
      benchgate compare before.json.gz after.json.gz
      benchgate compare main/*.json.gz after.json.gz
      benchgate compare --margin 5%
      benchgate compare --detail

    Exit code 0: pass, 3: a regression, 4: no verdict, 5: a benchmark failed.
    """
    cwd = Path.cwd()
    git = repository_or_none(cwd)
    config = configuration(cwd, git, config_file).with_overrides(overrides)
    outputs = Outputs(json_file, markdown_file, verbose=verbose)
    outputs.require_writable()
    paths = results or (require_last_result(repository(cwd).root, os.environ),)
    for path in paths:
        keep(path, json=json_file, markdown=markdown_file)
    verdict = compare(paths, config, detail=detail)
    outputs.write(verdict, os.environ)
    return verdict.exit_code

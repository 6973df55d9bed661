"""`benchgate explain`: the functions that a change of a benchmark comes from."""

from __future__ import annotations

import json
import os
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.text import Text

from benchgate.baselines.any_file import read_any
from benchgate.cli import options as o
from benchgate.cli.boundary import say
from benchgate.cli.builds import kept_builds
from benchgate.cli.last_result import require_last_result
from benchgate.cli.outputs import STANDARD_OUTPUT, keep, put
from benchgate.cli.report import config_for
from benchgate.cli.world import configuration, console, real_effects, repository
from benchgate.errors import UsageError, did_you_mean
from benchgate.files import ensure_writable
from benchgate.gate.causes import explained
from benchgate.gate.verdict import judge
from benchgate.model.calls import NOT_KNOWN
from benchgate.model.metrics import TIME
from benchgate.model.notes import change
from benchgate.model.policy import CHANGED, Options, Outcome
from benchgate.model.redact import Redactor
from benchgate.report import words
from benchgate.report.causes import function_titles, sentences, view_functions
from benchgate.report.headline import bare
from benchgate.report.speedscope import speedscope
from benchgate.report.terminal import Column, Line, print_columns, print_text
from benchgate.session.checking import CheckRequest, check
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from benchgate.model.result import Result
    from benchgate.model.row import Row
    from benchgate.session.effects import Effects


_HINT: Final = (
    "`benchgate check` observes what got slower or faster, the worst first, for a tenth of its "
    "time: in Python, Node and Go, and with valgrind in C++, Rust and programs that the project "
    "has built. `benchgate explain NAME --against REF` does so whatever changed."
)


@click.command("explain")
@click.argument("benchmark", required=False)
@click.argument("result", type=o.RESULT, required=False)
@click.option(
    "--speedscope",
    "speedscope_file",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write the calls of both sides for https://www.speedscope.app; - is standard output.",
)
@o.options(o.AGAINST, o.CONFIG, o.NO_CACHE, o.QUIET)
@o.overriding
def command(
    benchmark: str | None,
    result: Path | None,
    speedscope_file: Path | None,
    config_file: Path | None,
    rebuild: bool,
    quiet: bool,
    overrides: Options,
) -> int:
    """Say which functions a change comes from, by default of all that changed in the last check.

    BENCHMARK is an id or a glob, RESULT a result file. With --against, benchgate measures the
    benchmark now, and says which calls differ even if it is unchanged.

    \b
    Examples:
      benchgate explain
      benchgate explain parse/large
      benchgate explain parse/large --against main
      benchgate explain 'parse/*' result.json.gz
      benchgate explain parse/large --speedscope calls.json
    """
    if benchmark and result is None and Path(benchmark).is_file():
        result, benchmark = Path(benchmark), None
    if overrides.against and (result or not benchmark):
        raise UsageError("--against measures: give it a BENCHMARK, and no RESULT")
    if not overrides.against:
        result = result or require_last_result(repository(Path.cwd()).root, os.environ)
    if speedscope_file is not None and speedscope_file != STANDARD_OUTPUT:
        if result:
            keep(result, speedscope=speedscope_file)
        ensure_writable(speedscope_file)
    rows: Sequence[Row]
    if result:
        found = read_any([result])
        config = config_for(found, config_file)
        rows = judge(found, config).rows
    else:
        effects = real_effects(quiet=quiet, builds=kept_builds(reads=not rebuild))
        rows, found = _measured(benchmark or "*", config_file, overrides, effects)
    rows = _explained(rows, benchmark)
    if speedscope_file is not None:
        ids = list(dict.fromkeys(row.benchmark for row in rows))
        text = json.dumps(speedscope(ids, found))
        put(speedscope_file, Redactor(os.environ)(text).encode())
    if speedscope_file != STANDARD_OUTPUT:
        _render(rows, console())
    return 0


def _measured(
    benchmark: str, config_file: Path | None, overrides: Options, effects: Effects
) -> tuple[Sequence[Row], Result]:
    """Check a benchmark, and observe it whether it changed or not."""
    git = repository(effects.cwd)
    config = configuration(effects.cwd, git, config_file).with_overrides(overrides)
    config = config.with_overrides(Options(explain=True))
    request = CheckRequest(Choice((benchmark,)), observes_all=True)
    try:
        verdict, result = check(request, config, git, effects)
    finally:
        effects.progress.close()
    if result.base is None:
        return verdict.rows, result
    warn = partial(say, err=True)
    return explained(verdict.rows, result.base, result.head, warn, every=True), result


def _explained(rows: Sequence[Row], benchmark: str | None) -> list[Row]:
    """The rows that say why a benchmark changed, of those that are asked for."""
    wanted = Choice((benchmark,) if benchmark else ())
    found = [row for row in rows if row.explanation and wanted.wants(row.benchmark, ())]
    if found:
        return found
    ids = list(dict.fromkeys(row.benchmark for row in rows))
    if benchmark and not any(wanted.wants(id_, ()) for id_ in ids):
        raise UsageError(f"there is no benchmark {benchmark}{did_you_mean(benchmark, ids)}")
    known = {row.outcome for row in rows if wanted.wants(row.benchmark, ())}
    if known == {Outcome.SAME_CODE}:
        which = f"what {benchmark} runs" if benchmark else "what the benchmarks run"
        raise UsageError(f"{which} has not changed, so there is nothing to explain")
    reasons = dict.fromkeys(
        text
        for row in rows
        if wanted.wants(row.benchmark, ())
        for text in ([row.error] if row.error else row.notes)
        if row.error or text.startswith(NOT_KNOWN)
    )
    raise UsageError(
        f"what {benchmark or 'the benchmarks of this result'} calls was not observed",
        details="\n".join(reasons),
        hint="" if reasons else _HINT,
    )


def _render(rows: Sequence[Row], console: Console) -> None:
    """Print where each of these changes comes from, and the functions that differ."""
    for index, row in enumerate(rows):
        if index:
            console.print()
        said = change(row) if row.outcome in CHANGED else f"{change(row)}, {words.outcome(row)}"
        metric = "" if row.metric == TIME.name else f"  {row.metric}"
        print_text(console, Text(f"{words.name(row)}{metric}  {said}", "bold"))
        for sentence in sentences(row):
            print_text(console, bare(sentence), indent=2)
        functions = view_functions(row)
        if functions:
            console.print()
            lines = [Line(astuple(one)) for one in functions]
            titles = enumerate(function_titles(row))
            columns = [Column(title, right=at in {2, 3}, name=not at) for at, title in titles]
            print_columns(console, columns, lines)

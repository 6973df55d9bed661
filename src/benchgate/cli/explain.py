"""`benchgate explain`: the functions that a change of a benchmark comes from."""

from __future__ import annotations

import json
import os
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from benchgate.baselines.files import read_any
from benchgate.cli import options as o
from benchgate.cli.outputs import STANDARD_OUTPUT, keep, put, require_last_result
from benchgate.cli.report import config_for
from benchgate.cli.world import console, repository
from benchgate.errors import UsageError, did_you_mean
from benchgate.files import ensure_writable
from benchgate.gate.verdict import judge_result, make_verdict
from benchgate.model.notes import change
from benchgate.model.redact import Redactor
from benchgate.report import words
from benchgate.report.causes import FUNCTION_TITLES, sentences, speedscope, view_functions
from benchgate.report.headline import bare
from benchgate.report.terminal import Column, Line, print_columns, print_text
from benchgate.session.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from benchgate.model.verdict import Row


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
@o.options(o.CONFIG)
def command(
    benchmark: str | None,
    result: Path | None,
    speedscope_file: Path | None,
    config_file: Path | None,
) -> None:
    """Say which functions a change comes from, by default of all that changed in the last check.

    BENCHMARK is an id or a glob, RESULT a result file.

    \b
    Examples:
      benchgate explain
      benchgate explain parse/large
      benchgate explain 'parse/*' result.json.gz
      benchgate explain parse/large --speedscope calls.json
    """
    if benchmark and result is None and Path(benchmark).is_file():
        result, benchmark = Path(benchmark), None
    path = result or require_last_result(repository(Path.cwd()).root, os.environ)
    if speedscope_file is not None and speedscope_file != STANDARD_OUTPUT:
        keep(path, speedscope=speedscope_file)
        ensure_writable(speedscope_file)
    found = read_any([path])
    config = config_for(found, config_file)
    rows = _explained(make_verdict(judge_result(found, config), config).rows, benchmark)
    if speedscope_file is not None:
        text = json.dumps(speedscope([row.benchmark for row in rows], found))
        put(speedscope_file, Redactor(os.environ)(text).encode())
    if speedscope_file != STANDARD_OUTPUT:
        _render(rows, console())


def _explained(rows: Sequence[Row], benchmark: str | None) -> list[Row]:
    """The rows that say why a benchmark changed, of those that are asked for."""
    wanted = Choice((benchmark,) if benchmark else ())
    found = [row for row in rows if row.explanation and wanted.wants(row.benchmark, ())]
    if found:
        return found
    ids = list(dict.fromkeys(row.benchmark for row in rows))
    if benchmark and not any(wanted.wants(id_, ()) for id_ in ids):
        raise UsageError(f"there is no benchmark {benchmark}{did_you_mean(benchmark, ids)}")
    raise UsageError(
        f"what {benchmark or 'the benchmarks of this result'} calls was not observed",
        hint="`benchgate check` observes what got slower or faster, the worst first, for a tenth "
        "of its time: in Python, Node and Go, and with valgrind in C++, Rust and programs that "
        "the project has built. --filter NAME leaves out the others.",
    )


_FUNCTION_COLUMNS = tuple(
    Column(title, right=title in {"calls", "time"}, name=title == "function")
    for title in FUNCTION_TITLES
)


def _render(rows: Sequence[Row], console: Console) -> None:
    """Print where each of these changes comes from, and the functions that differ."""
    for index, row in enumerate(rows):
        if index:
            console.print()
        print_text(console, Text(f"{words.name(row)}  {change(row)}", "bold"))
        for sentence in sentences(row):
            print_text(console, bare(sentence), indent=2)
        functions = view_functions(row)
        if functions:
            console.print()
            lines = [Line(astuple(one)) for one in functions]
            print_columns(console, _FUNCTION_COLUMNS, lines)

"""`benchgate export`: writes what scenarios recorded as files for other programs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchgate.baselines.any_file import read_any
from benchgate.cli import options as o
from benchgate.cli.outputs import STANDARD_OUTPUT, keep, put, require_last_result
from benchgate.cli.say import say
from benchgate.cli.world import repository
from benchgate.describe.load_files import hdr_log, loaded_arms, windows_csv
from benchgate.errors import FormatError, UsageError
from benchgate.files import ensure_writable
from benchgate.session.choice import Choice, nothing_chosen
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.describe.load_files import LoadedArm
    from benchgate.model.run import Run


def read_loads(path: Path, choice: Choice) -> tuple[Sequence[LoadedArm], str]:
    """Read the chosen steps of scenarios in a result file, and when the head's run began.

    Raises:
        UsageError: the file cannot be read, or no step of a scenario is chosen.
        FormatError: the file is not a result, or it is damaged.
    """
    result = read_any([path])
    every = {one.benchmark for one in loaded_arms(result)}
    if not every:
        raise UsageError(
            f"{path}: holds no scenario, and only scenarios have histograms and windows",
            hint="`benchgate show` and `show --json` give the statistics of other benchmarks.",
        )
    if not any(choice.wants(id_, ()) for id_ in every):
        raise nothing_chosen(choice, dict.fromkeys(every, ()))

    def chosen(run: Run) -> Run:
        return replace(run, benchmarks=tuple(b for b in run.benchmarks if choice.wants(b.id, ())))

    base = chosen(result.base) if result.base else None
    return loaded_arms(replace(result, head=chosen(result.head), base=base)), result.head.started


@click.command("export")
@click.argument("result", type=o.RESULT, required=False)
@o.options(o.FILTER)
@o.report_option("--hdr", "the histograms as a log of HdrHistogram")
@o.report_option("--csv", "the time windows as CSV")
def command(
    result: Path | None,
    globs: tuple[str, ...],
    hdr_file: Path | None,
    csv_file: Path | None,
) -> None:
    """Write what scenarios recorded as files for other programs.

    RESULT is a result file, by default that of the last check here.

    --hdr writes one histogram for each launch of each step, with latencies in ns, which the tools
    of HdrHistogram read. --csv writes a line for each second of each launch: operations, errors,
    and percentiles of the latencies in seconds.

    \b
    Examples:
      benchgate export --hdr latencies.hlog
      benchgate export result.json.gz --csv - --filter 'orders/*'
    """
    wanted = {"hdr": hdr_file, "csv": csv_file}
    files = {option: path for option, path in wanted.items() if path is not None}
    if not files:
        raise UsageError(
            "there is nothing to write", hint="Name a file with --hdr, with --csv, or both."
        )
    if hdr_file is not None and csv_file is not None and _is_same(hdr_file, csv_file):
        raise UsageError(
            f"--hdr and --csv would both be written to {_named(hdr_file)}",
            hint="Give one of them another file.",
        )
    path = result or require_last_result(repository(Path.cwd()).root, os.environ)
    for option, file in files.items():
        if file != STANDARD_OUTPUT:
            keep(path, **{option: file})
            ensure_writable(file)
    arms, started = read_loads(path, Choice(globs))
    if hdr_file is not None:
        launches = sum(len(one.launches) for one in arms)
        try:
            log = hdr_log(arms, started)
        except FormatError as error:
            raise FormatError(f"{path}: {error.message}", hint=error.hint) from None
        _write(hdr_file, log, counted(launches, "histogram"))
    if csv_file is not None:
        windows = sum(len(launch.windows.ops) for one in arms for launch in one.launches)
        _write(csv_file, windows_csv(arms), counted(windows, "window"))


def _write(path: Path, text: str, what: str) -> None:
    put(path, text.encode())
    if path != STANDARD_OUTPUT:
        say(f"{path}: {what}", err=True)


def _is_same(one: Path, other: Path) -> bool:
    return one.absolute() == other.absolute()


def _named(path: Path) -> str:
    return "standard output" if path == STANDARD_OUTPUT else str(path)

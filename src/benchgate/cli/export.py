"""`benchgate export`: write what was measured as files for other programs."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from benchgate.baselines.any_file import read_any
from benchgate.cli import options as o
from benchgate.cli.boundary import say
from benchgate.cli.last_result import require_last_result
from benchgate.cli.outputs import STANDARD_OUTPUT, keep, put
from benchgate.cli.world import repository
from benchgate.describe.export import hdr_log, loaded_arms, samples_csv, windows_csv
from benchgate.errors import FormatError, UsageError
from benchgate.files import ensure_writable
from benchgate.session.choice import Choice, nothing_chosen
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchgate.describe.export import LoadedArm
    from benchgate.model.result import Result
    from benchgate.model.run import Run


def _chosen(path: Path, choice: Choice) -> Result:
    """Read the chosen benchmarks of a result file."""
    result = read_any([path])

    def chosen(run: Run) -> Run:
        return replace(run, benchmarks=tuple(b for b in run.benchmarks if choice.wants(b.id, ())))

    found = replace(result, head=chosen(result.head), base=result.base and chosen(result.base))
    if not found.head.benchmarks and not (found.base and found.base.benchmarks):
        every = {one.id for run in (result.head, result.base) if run for one in run.benchmarks}
        raise nothing_chosen(choice, dict.fromkeys(every, ()))
    return found


def _loads(path: Path, result: Result) -> Sequence[LoadedArm]:
    """The steps of scenarios among the chosen benchmarks."""
    arms = loaded_arms(result)
    if not arms:
        raise UsageError(
            f"{path}: holds no scenario, and only scenarios have histograms and windows",
            hint="`--samples` writes the samples of other benchmarks.",
        )
    return arms


def _hdr(path: Path, result: Result) -> tuple[str, str]:
    arms = _loads(path, result)
    try:
        log = hdr_log(arms, result.head.started)
    except FormatError as error:
        raise FormatError(f"{path}: {error.message}", hint=error.hint) from None
    return log, counted(sum(len(one.launches) for one in arms), "histogram")


def _windows(path: Path, result: Result) -> tuple[str, str]:
    arms = _loads(path, result)
    windows = sum(len(launch.windows.ops) for one in arms for launch in one.launches)
    return windows_csv(arms), counted(windows, "window")


def _samples(_: Path, result: Result) -> tuple[str, str]:
    text, count = samples_csv(result)
    return text, counted(count, "value")


_WRITERS: Final[Mapping[str, Callable[[Path, Result], tuple[str, str]]]] = {
    "hdr": _hdr,
    "csv": _windows,
    "samples": _samples,
}


@click.command("export")
@click.argument("result", type=o.RESULT, required=False)
@o.options(o.FILTER)
@o.report_option("--hdr", "the histograms as a log of HdrHistogram")
@o.report_option("--csv", "the time windows as CSV")
@o.report_option("--samples", "every sample as CSV")
def export_command(result: Path | None, globs: tuple[str, ...], **given: Path | None) -> None:
    """Write what was measured as files for other programs.

    RESULT is a result file, by default that of the last check here.

    --samples writes a line for each sample of each benchmark. The others are for scenarios. --hdr
    writes one histogram for each launch of each step, with latencies in ns, which the tools of
    HdrHistogram read. --csv writes a line for each second of each launch: operations, errors, and
    percentiles of the latencies in seconds.

    \b
    Examples:
      benchgate export --samples samples.csv
      benchgate export --hdr latencies.hlog
      benchgate export result.json.gz --csv - --filter 'orders/*'
    """
    files = {name: given[f"{name}_file"] for name in _WRITERS}
    wanted = {name: file for name, file in files.items() if file is not None}
    if not wanted:
        raise UsageError(
            "there is nothing to write",
            hint="Name a file with --samples, with --hdr, with --csv, or several of them.",
        )
    for (one, file), (other, same) in combinations(wanted.items(), 2):
        if file.absolute() == same.absolute():
            raise UsageError(
                f"--{one} and --{other} would both be written to {_named(file)}",
                hint="Give one of them another file.",
            )
    path = result or require_last_result(repository(Path.cwd()).root, os.environ)
    for name, file in wanted.items():
        if file != STANDARD_OUTPUT:
            keep(path, **{name: file})
            ensure_writable(file)
    chosen = _chosen(path, Choice(globs))
    texts = {name: _WRITERS[name](path, chosen) for name in wanted}
    for name, (text, what) in texts.items():
        put(wanted[name], text.encode())
        if wanted[name] != STANDARD_OUTPUT:
            say(f"{wanted[name]}: {what}", err=True)


def _named(path: Path) -> str:
    return "standard output" if path == STANDARD_OUTPUT else str(path)

"""`benchgate import`, `export` and `merge`: files of other tools, for others, and of shards."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from benchgate.baselines.any_file import read_any
from benchgate.baselines.files import read_result
from benchgate.cli import options as o
from benchgate.cli.boundary import say
from benchgate.cli.last_result import require_last_result
from benchgate.cli.outputs import STANDARD_OUTPUT, keep, put
from benchgate.cli.world import repository
from benchgate.describe.export import hdr_log, loaded_arms, samples_csv, windows_csv
from benchgate.errors import FormatError, UsageError
from benchgate.escape import plain_line
from benchgate.files import ensure_writable, write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.redact import Redactor
from benchgate.model.result import ids_of, join
from benchgate.model.run import Status
from benchgate.session.choice import Choice, nothing_chosen
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchgate.describe.export import LoadedArm
    from benchgate.model.result import Result
    from benchgate.model.run import Run


_WARNING_LIMIT = 1000


@click.command("import")
@click.argument("files", type=o.RESULT, nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-o",
    "--output",
    type=o.FILE,
    required=True,
    metavar="FILE",
    help="Write the result to FILE; compressed if its name ends in .gz.",
)
@o.options(o.OF_TOOLS)
@o.reading
def import_command(
    files: tuple[Path, ...], output: Path, read: Callable[[Sequence[Path]], Result]
) -> int:
    """Make a result file of what another benchmark tool wrote.

    Name the files of several runs of the tool together: each file is one launch. `benchgate
    compare`, `show` and `--baseline file:` also read the tool's files directly.

    \b
    Example:
      pytest --benchmark-json=before.json
      benchgate import before.json --output before.json.gz

    Exit code 0: imported, 2: a file cannot be read.
    """
    ensure_writable(output)
    for path in files:
        keep(path, output=output)
    result = read(files)
    write_atomic(output, encode_result(result, Redactor(os.environ)))
    for warning in result.warnings:
        say(f"warning: {plain_line(warning, _WARNING_LIMIT)}", err=True)
    found = result.head.benchmarks
    failed = [one for one in found if one.status is Status.FAILED]
    for one in failed:
        why = plain_line(one.error or "", _WARNING_LIMIT)
        say(f"crashed: {plain_line(one.id)}: {why}", err=True)
    left_out = f", {len(failed)} of them crashed" if failed else ""
    tool = plain_line(result.tool)
    say(f"{output}: {counted(len(found), 'benchmark')} of {tool}{left_out}")
    return 0


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


def merge(paths: Sequence[Path], output: Path, environ: Mapping[str, str]) -> Result:
    """Join the results of all shards of one suite, and write the result of the suite.

    It decides nothing: `benchgate compare` computes the verdict of the joined result.
    """
    joined = join((str(path), read_result(path)) for path in paths)
    write_atomic(output, encode_result(joined, Redactor(environ)))
    return joined


@click.command("merge")
@click.argument(
    "results",
    type=o.FILE,
    nargs=-1,
    required=True,
    metavar="RESULT...",
)
@click.option(
    "-o",
    "--output",
    type=o.FILE,
    required=True,
    metavar="FILE",
    help="Write the joined result to FILE; compressed if its name ends in .gz.",
)
def merge_command(results: tuple[Path, ...], output: Path) -> int:
    """Join the results of a suite's shards.

    Each of N jobs measures its part of the suite with --shard I/N; name the result of each one
    once. The measurements stay as they are: `benchgate compare` then gives the verdict on the
    whole suite. A missing shard is an error, because what was not measured cannot pass.

    \b
    Example:
      benchgate check --shard 1/2 --output shard-1.json.gz
      benchgate check --shard 2/2 --output shard-2.json.gz
      benchgate merge shard-*.json.gz --output result.json.gz
      benchgate compare result.json.gz

    Exit code 0: joined, 2: these are not all the shards of one suite.
    """
    ensure_writable(output)
    for path in results:
        keep(path, output=output)
    joined = merge(results, output, os.environ)
    for warning in joined.warnings:
        say(f"warning: {plain_line(warning, _WARNING_LIMIT)}", err=True)
    say(
        f"{output}: {counted(len(ids_of(joined)), 'benchmark')} of {counted(len(results), 'shard')}"
    )
    return 0

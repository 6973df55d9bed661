"""`benchgate merge`: join the results of a suite's shards."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from benchgate.baselines.stored_files import read_result
from benchgate.cli import options as o
from benchgate.cli.boundary import say
from benchgate.cli.outputs import keep
from benchgate.escape import plain_line
from benchgate.files import ensure_writable, write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.redact import Redactor
from benchgate.model.result import ids_of, join
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchgate.model.result import Result


_WARNING_LIMIT = 1000


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

"""`benchgate import`: read files of other tools."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from benchgate.cli import options as o
from benchgate.cli.boundary import say
from benchgate.cli.merge import _WARNING_LIMIT
from benchgate.cli.outputs import keep
from benchgate.escape import plain_line
from benchgate.files import ensure_writable, write_atomic
from benchgate.model.codec import encode_result
from benchgate.model.redact import Redactor
from benchgate.model.run import Status
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchgate.model.result import Result


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

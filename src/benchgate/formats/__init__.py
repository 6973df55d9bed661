"""Reads what other benchmark tools write: all formats, and how that of a file is found.

A benchmark that cannot be read is a failed row, and the others are kept.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

from benchgate.errors import FormatError, UsageError
from benchgate.formats.any_tool import CUSTOM_BIGGER, CUSTOM_SMALLER, bencher, hyperfine, is_custom
from benchgate.formats.asv import asv
from benchgate.formats.benchmark_ips import benchmark_ips
from benchgate.formats.benchmarkdotnet import benchmarkdotnet
from benchgate.formats.catch2 import catch2
from benchgate.formats.contents import json_within
from benchgate.formats.criterion import criterion
from benchgate.formats.divan import divan
from benchgate.formats.go import go
from benchgate.formats.google_benchmark import google_benchmark
from benchgate.formats.gungraun import gungraun
from benchgate.formats.haskell_criterion import haskell_criterion
from benchgate.formats.http_load import ab, autocannon, locust, wrk
from benchgate.formats.javascript import benchmark_js, deno_bench, mitata, tinybench, vitest
from benchgate.formats.jmh import jmh
from benchgate.formats.k6 import k6
from benchgate.formats.libtest import libtest
from benchgate.formats.pgbench import pgbench
from benchgate.formats.pyperf import pyperf
from benchgate.formats.pytest_benchmark import pytest_benchmark

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.rows import ForeignFormat, Reading


# In this order they are asked; the most particular ones come first.
FORMATS: Final[tuple[ForeignFormat, ...]] = (
    *(pytest_benchmark, mitata, pyperf, asv, hyperfine, google_benchmark, jmh, benchmarkdotnet),
    *(benchmark_ips, haskell_criterion, go, libtest, criterion, divan, gungraun, catch2),
    *(tinybench, vitest, deno_bench, benchmark_js, k6, locust, wrk, ab, autocannon, pgbench),
    *(bencher, CUSTOM_SMALLER, CUSTOM_BIGGER),
)
# What is in the tables that tools make for people, with few of the figures.
_TABLES: Final = {
    known: re.compile(pattern.encode(), re.MULTILINE)
    for known, pattern in (
        (google_benchmark, r"^Benchmark +Time +CPU +Iterations"),
        (hyperfine, r"^command,mean,|^\| Command \| Mean |^  Time \((?:mean|abs)"),
        (tinybench, r"^│ \(index\) +│ Task [Nn]ame"),
        (mitata, r"^benchmark +(?:avg|time \(avg\)) +\(min … max\)"),
        (deno_bench, r"^\|? *benchmark[ |]+time(?:/iter)? \(avg\)[ |]+iter/s"),
        (vitest, r"^ +name +hz +min +max +mean "),
        (benchmark_ips, r"^Calculating -{10}"),
        (pytest_benchmark, r"^-+ benchmark.*: \d+ tests -+$"),
        (pyperf, r"^(?:\S.*: )?Mean \+- std dev: "),
        (jmh, r"^Benchmark .*\bMode +(?:Cnt|Samples) +Score"),
        (benchmarkdotnet, r"^\| *Method *\|.* Mean "),
        (catch2, r"^benchmark name +samples +iterations"),
    )
}
_NO_TEXT: Final = (b"{", b"[", b"<")
NAMES: Final = tuple(each.name for each in FORMATS)


def by_import(source: ForeignFile, name: str) -> str:
    """Say how a command reads a file that has no option for its format."""
    file = shlex.quote(source.name)
    return (
        f"Where there is no --format: benchgate import {file} --format {name} --output "
        "result.json.gz"
    )


def find_format(source: ForeignFile, name: str | None = None) -> ForeignFormat | None:
    """Return the format of a name, or else the one that recognizes the content.

    The text of several tools may stand in one file. Other content is of one tool.

    Raises:
        UsageError: there is no format of this name.
        FormatError: the text is that of several tools, or a table for people.
    """
    if name is None:
        found = _recognizing(source)
        if len(found) > 1 and not source.head.startswith(_NO_TEXT):
            names = [each.name for each in found]
            hint = (
                f"Add --format {' or --format '.join(names)}, or split the file. "
                f"{by_import(source, names[0])}"
            )
            raise source.error("", f"looks like what {' and '.join(names)} print", hint)
        if not found and (within := json_within(source, lambda one: bool(_recognizing(one)))):
            found = _recognizing(within)
        if found:
            return found[0]
        _refuse_table(source, _TABLES)
        return None
    for each in FORMATS:
        if name == each.name:
            return each
    raise UsageError(f"there is no format {name!r}", hint=f"Formats: {', '.join(NAMES)}.")


def _refuse_table(source: ForeignFile, formats: Iterable[ForeignFormat]) -> None:
    """Refuse a table that one of the tools makes for people, and say what it must write."""
    for known in formats:
        if known in _TABLES and _TABLES[known].search(source.head):
            what = f"is a table that {known.name} makes for people"
            raise source.error("", what, f"benchgate reads what this writes: {known.command}")


def _recognizing(source: ForeignFile) -> list[ForeignFormat]:
    return [each for each in FORMATS if each.sniff(source)]


def read_as(known: ForeignFormat, source: ForeignFile) -> Reading:
    """Read a file, or the JSON in it if other programs printed something around it.

    Raises:
        FormatError: the content as a whole is broken.
    """
    try:
        return known.parse(source)
    except FormatError:
        is_wanted = is_custom if known in {CUSTOM_SMALLER, CUSTOM_BIGGER} else known.sniff
        within = json_within(source, is_wanted)
        if within is None or within.data.strip() == source.data.strip():
            _refuse_table(source, [known])
            raise
        return known.parse(within)

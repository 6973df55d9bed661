"""All formats, and how the format of a file is found."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from benchgate.errors import FormatError, UsageError
from benchgate.formats.any_tool import BENCHER, CUSTOM_BIGGER, CUSTOM_SMALLER, HYPERFINE, is_custom
from benchgate.formats.cargo import DIVAN, GUNGRAUN, LIBTEST
from benchgate.formats.contents import json_within
from benchgate.formats.cpp import CATCH2, GOOGLE_BENCHMARK
from benchgate.formats.criterion import CRITERION
from benchgate.formats.go import GO
from benchgate.formats.http_load import AB, AUTOCANNON, LOCUST, WRK
from benchgate.formats.javascript import BENCHMARK_JS, DENO_BENCH, MITATA, TINYBENCH, VITEST
from benchgate.formats.k6 import K6
from benchgate.formats.other_languages import BENCHMARK_IPS, BENCHMARKDOTNET, HASKELL_CRITERION, JMH
from benchgate.formats.pgbench import PGBENCH
from benchgate.formats.python import ASV, PYPERF, PYTEST_BENCHMARK

if TYPE_CHECKING:
    from benchgate.formats.parsed import Reading, Source
    from benchgate.formats.rows import ForeignFormat


# In this order they are asked; the most particular ones come first.
FORMATS: Final[tuple[ForeignFormat, ...]] = (
    PYTEST_BENCHMARK,
    MITATA,
    PYPERF,
    ASV,
    HYPERFINE,
    GOOGLE_BENCHMARK,
    JMH,
    BENCHMARKDOTNET,
    BENCHMARK_IPS,
    HASKELL_CRITERION,
    GO,
    LIBTEST,
    CRITERION,
    DIVAN,
    GUNGRAUN,
    CATCH2,
    TINYBENCH,
    VITEST,
    DENO_BENCH,
    BENCHMARK_JS,
    K6,
    LOCUST,
    WRK,
    AB,
    AUTOCANNON,
    PGBENCH,
    BENCHER,
    CUSTOM_SMALLER,
    CUSTOM_BIGGER,
)
_NO_TEXT: Final = (b"{", b"[", b"<")
NAMES: Final = tuple(each.name for each in FORMATS)


def by_import(source: Source, name: str) -> str:
    """Say how a command reads a file that has no option for its format."""
    file = shlex.quote(source.name)
    return (
        f"Where there is no --format: benchgate import {file} --format {name} --output "
        "result.json.gz"
    )


def find_format(source: Source, name: str | None = None) -> ForeignFormat | None:
    """Return the format of a name, or else the one that recognizes the content.

    The text of several tools may stand in one file. Other content is of one tool.

    Raises:
        UsageError: there is no format of this name.
        FormatError: the text is that of several tools.
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
        return found[0] if found else None
    for each in FORMATS:
        if name == each.name:
            return each
    raise UsageError(f"there is no format {name!r}", hint=f"Formats: {', '.join(NAMES)}.")


def _recognizing(source: Source) -> list[ForeignFormat]:
    return [each for each in FORMATS if each.sniff(source)]


def _is_custom(source: Source) -> bool:
    return is_custom(source.head)


def read_as(known: ForeignFormat, source: Source) -> Reading:
    """Read a file, or the JSON in it if other programs printed something around it.

    Raises:
        FormatError: the content as a whole is broken.
    """
    try:
        return known.parse(source)
    except FormatError:
        is_wanted = _is_custom if known in {CUSTOM_SMALLER, CUSTOM_BIGGER} else known.sniff
        within = json_within(source, is_wanted)
        if within is None or within.data.strip() == source.data.strip():
            raise
        return known.parse(within)

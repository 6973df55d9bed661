"""vitest: `vitest bench --run --outputJson FILE`, with the median time of a call in milliseconds.

vitest never writes the times of single calls into this file, even with `includeSamples`. Skipped
benchmarks are not in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    time_summary,
)
from benchgate.formats.tinybench import UNIT_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

NAME = "vitest"
ADVICE = Advice("vitest bench --run --outputJson FILE", has_samples=False)


def sniff(source: Source) -> bool:
    """Whether the content is that of vitest."""
    head = source.head
    return head.startswith(b"{") and b'"filepath"' in head and b'"groups"' in head


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no list of files with groups of benchmarks.
    """
    try:
        return Reading(NAME, distinct(NAME, _rows(read_json(source))))
    except RowError as error:
        raise source.error("", str(error)) from None


def _rows(root: Node) -> Iterator[BenchmarkResult]:
    for file in root["files"].each():
        for group in file["groups"].each():
            name = group["fullName"].text  # the file and the names of its `describe` blocks
            for row in group["benchmarks"].each():
                yield _row(name, row)


def _row(group: str, row: Node) -> BenchmarkResult:
    id_ = group
    try:
        id_ = f"{group} > {row['name'].text}"
        median = row.get("median")
        if median is None:
            return failed(NAME, id_, "it has no times: it threw an error, or did not run")
        return benchmark(NAME, id_, [time_summary(median.number * UNIT_S, median.place)])
    except RowError as error:
        return failed(NAME, id_, str(error))

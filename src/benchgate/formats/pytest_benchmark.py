"""pytest-benchmark: `pytest --benchmark-json=FILE`, or what `--benchmark-save` stores.

The file of `--benchmark-json` has every sample, at `stats.data`, in seconds per iteration. A saved
one has only statistics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.means import usual_loops
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    time_summary,
    times,
)

if TYPE_CHECKING:
    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

NAME = "pytest-benchmark"
ADVICE = Advice("pytest --benchmark-json=FILE")


def sniff(source: Source) -> bool:
    """Whether the content is that of pytest-benchmark."""
    return source.head.startswith(b"{") and b'"machine_info"' in source.head


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no list of benchmarks.
    """
    root = read_json(source)
    try:
        rows = list(root["benchmarks"].each())
        version = root.get("version")
        tool = f"{NAME} {version.text}" if version else NAME
    except RowError as error:
        raise source.error("", str(error)) from None
    return Reading(tool, distinct(NAME, map(_row, rows)))


def _row(row: Node) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = row["fullname"].text
        stats = row["stats"]
        if data := stats.get("data"):
            iterations = stats.get("iterations")
            loops = usual_loops([iterations.number]) if iterations else 1
            return benchmark(NAME, id_, [times([data.list], data.place, loops=loops)])
        median = stats["median"]
        return benchmark(NAME, id_, [time_summary(median.number, median.place)])
    except RowError as error:
        return failed(NAME, id_, str(error))

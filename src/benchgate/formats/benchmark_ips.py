"""benchmark-ips: the file that `x.json! FILE` writes.

It has no samples, but for each benchmark the central tendency of its iterations per second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import Reading, RowError, benchmark, distinct, failed, summary
from benchgate.model.run import Better

if TYPE_CHECKING:
    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

NAME = "benchmark-ips"
ADVICE = Advice("ruby BENCHMARK.rb, with `x.json! 'FILE'` in it", has_samples=False)


def sniff(source: Source) -> bool:
    """Whether the content is that of benchmark-ips."""
    return source.head.startswith(b"[") and b'"central_tendency"' in source.head


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or no list.
    """
    root = read_json(source)
    try:
        rows = list(root.each())
    except RowError as error:
        raise source.error("", str(error)) from None
    return Reading(NAME, distinct(NAME, map(_row, rows)))


def _row(row: Node) -> BenchmarkResult:
    id_ = ""
    try:
        id_ = row["name"].text
        rate = row["central_tendency"]
        series = summary("throughput", "i/s", rate.number, rate.place, better=Better.HIGHER)
        return benchmark(NAME, id_, [series])
    except RowError as error:
        return failed(NAME, id_, str(error))

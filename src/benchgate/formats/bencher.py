"""Bencher Metric Format (BMF): JSON with the measures of each benchmark.

The file does not say the unit of a measure, nor whether more of it is better. So only the measures
that Bencher itself defines are read.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.load_metrics import THROUGHPUT
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import Reading, RowError, benchmark, distinct, failed, sampled
from benchgate.model.run import INSTRUCTIONS, TIME, Kind, Metric

if TYPE_CHECKING:
    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series

NAME = "bencher"
ADVICE = Advice("", has_samples=False)

_TEXT = rb'\s*"(?:[^"\\]|\\.)*"\s*:\s*'
_START = re.compile(rb"\{" + _TEXT + rb"\{" + _TEXT + rb'\{\s*"(?:lower_|upper_)?value"\s*:')

# By slug: the metric, and the unit of Bencher in that of the metric.
_MEASURES = {
    "latency": (replace(TIME, kind=Kind.SUMMARY), 1e-9),
    "throughput": (THROUGHPUT, 1),
    "build-time": (Metric("build_time", "s", kind=Kind.SUMMARY), 1),
    "file-size": (Metric("file_size", "B", kind=Kind.SUMMARY), 1),
    "allocated": (Metric("allocated", "B", kind=Kind.SUMMARY), 1),
    "instructions": (INSTRUCTIONS, 1),
    "estimated-cycles": (Metric("estimated_cycles", "", kind=Kind.SUMMARY), 1),
}


def sniff(source: Source) -> bool:
    """Whether the content is that of Bencher."""
    return _START.match(source.head) is not None


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or no object.
    """
    try:
        found = list(read_json(source, named=True).items())
    except RowError as error:
        raise source.error("", str(error)) from None
    skipped: list[str] = []
    rows = [row for id_, node in found if (row := _row(id_, node, skipped))]
    return Reading(NAME, distinct(NAME, rows), tuple(skipped))


def _row(id_: str, node: Node, skipped: list[str]) -> BenchmarkResult | None:
    """Read a benchmark, and say which measures are skipped; None if all of them are."""
    series: list[Series] = []
    try:
        for name, measure in node.items():
            known = _MEASURES.get(name.lower().replace(" ", "-"))
            if known is None:
                skipped.append(f"{id_}: {name}: Bencher does not define this measure")
                continue
            metric, unit = known
            value = measure["value"]
            series.append(sampled(metric, [[value.number]], value.place, scale=unit))
        return benchmark(NAME, id_, series) if series else None
    except RowError as error:
        return failed(NAME, id_, str(error))

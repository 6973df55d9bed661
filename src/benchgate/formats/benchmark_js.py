"""benchmark.js: the lines that a suite prints, with operations per second.

    suite.on("cycle", event => console.log(String(event.target)))

A failed benchmark has a line with its name and often nothing else.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.lines import left_out, number_in, read_lines
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    shown,
    time_summary,
)

if TYPE_CHECKING:
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

NAME = "benchmark.js"
ADVICE = Advice("node SUITE.js > FILE", has_samples=False)

_UNIT = " ops/sec"
_ENDS = ("run sampled)", "runs sampled)")


def sniff(source: Source) -> bool:
    """Whether the content is that of benchmark.js."""
    head = source.head
    return _UNIT.encode() in head and any(end.encode() in head for end in _ENDS)


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is no text, or has no line with a result.
    """
    rows, others, unread = [], [], []
    for place, line in read_lines(source):
        if row := _row(line, place):
            rows.append(row)
        elif _UNIT in line:
            unread.append(f"{place}: the result cannot be read: {shown(line.strip())}")
        elif line.strip():
            others.append((place, line))
    if not rows:
        raise source.error(
            "", "has no line such as 'NAME x 1,234 ops/sec +-1.00% (9 runs sampled)'"
        )
    return Reading(NAME, distinct(NAME, rows), (*unread, *left_out(others)))


def _row(line: str, place: str) -> BenchmarkResult | None:
    """Read a line; None if it is not about a benchmark."""
    # An error without properties of its own is shown as nothing, after the colon and the space.
    if line.endswith(": ") and not line.startswith(" "):
        return failed(NAME, line.removesuffix(": "), f"{place}: it failed, and shows no result")
    result, _, rest = line.partition(_UNIT)
    id_, _, rate = result.rpartition(" x ")
    id_ = id_.strip()
    if not id_ or _UNIT not in line:
        return None
    try:
        if not rest.rstrip().endswith(_ENDS):
            return failed(NAME, id_, f"{place}: the result cannot be read: {shown(line.strip())}")
        per_s = number_in(rate.replace(",", ""), place)
        if not 0 < per_s < math.inf:
            return failed(NAME, id_, f"{place}: {rate} operations per second are not possible")
        return benchmark(NAME, id_, [time_summary(1 / per_s, place)])
    except RowError as error:
        return failed(NAME, id_, str(error))

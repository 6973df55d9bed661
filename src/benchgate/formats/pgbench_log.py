"""The logs that pgbench writes with `--log`: a line for each transaction, or for each interval.

Times are in microseconds. A log does not name the script, except by its number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.formats.lines import number_in, read_lines
from benchgate.formats.means import usual_loops
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    failed,
    times,
)
from benchgate.units import counted

if TYPE_CHECKING:
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

_UNIT_S = 1e-6
_COLUMNS = 6


def is_log(head: bytes) -> bool:
    """Whether the first line is one of a log."""
    columns = head.partition(b"\n")[0].split()
    return len(columns) >= _COLUMNS and (_is_time(columns[0]) or _is_time(columns[4]))


def _is_time(column: bytes) -> bool:
    """Whether a number is a Unix time in seconds, between the years 2001 and 2286."""
    return len(column) == 10 and column.isdigit()


def read_log(tool: str, source: Source) -> Reading:
    """Read a log.

    Raises:
        FormatError: a line has too few columns, or a number is missing.
    """
    rows: list[tuple[str, list[str]]] = []
    for place, line in read_lines(source):
        columns = line.split()
        if columns and len(columns) < _COLUMNS:
            raise source.error(place, "is cut off")
        if columns:
            rows.append((place, columns))
    read = _intervals if _is_time(rows[0][1][0].encode()) else _transactions
    try:
        return read(tool, rows)
    except RowError as error:
        raise source.error("", str(error)) from None


def _intervals(tool: str, rows: list[tuple[str, list[str]]]) -> Reading:
    """Read a log of intervals: each has a mean, which is a sample."""
    counts, means_us, empty = [], [], 0
    for place, columns in rows:
        count, sum_us = (number_in(text, place) for text in columns[1:3])
        if count > 0:
            counts.append(count)
            means_us.append(sum_us / count)
        else:
            empty += 1
    skipped = (f"{counted(empty, 'interval')} without a transaction",) if empty else ()
    return Reading(tool, (_row(tool, tool, means_us, usual_loops(counts)),), skipped)


def _transactions(tool: str, rows: list[tuple[str, list[str]]]) -> Reading:
    """Read a log of transactions: each has the time that it took, or why it has none."""
    found: dict[str, list[float]] = {}
    without: dict[str, int] = {}
    for place, columns in rows:
        time, script = columns[2:4]
        if time.isalpha():  # "failed" and "skipped", or the kind of failure
            without[time] = without.get(time, 0) + 1
        else:
            found.setdefault(f"{tool}[script={script}]", []).append(number_in(time, place))
    skipped = tuple(
        f"{counted(count, 'transaction')} without a time: {why}" for why, count in without.items()
    )
    return Reading(tool, tuple(_row(tool, id_, us, 1) for id_, us in found.items()), skipped)


def _row(tool: str, id_: str, values_us: list[float], loops: int) -> BenchmarkResult:
    try:
        return benchmark(tool, id_, [times([values_us], "its lines", loops=loops, scale=_UNIT_S)])
    except RowError as error:
        return failed(tool, id_, str(error))

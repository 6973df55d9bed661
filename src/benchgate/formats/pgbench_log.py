"""The logs that pgbench writes with `--log`: a line for each transaction, or for each interval.

Times are in microseconds. A log does not name the script, except by its number.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.formats.lines import number_in, read_lines
from benchgate.formats.load_metrics import no_answer
from benchgate.formats.means import usual_loops
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    failed,
    sampled,
    shown,
    times,
)
from benchgate.model.run import ERROR_RATIO
from benchgate.units import counted

if TYPE_CHECKING:
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

_UNIT_S = 1e-6
_COLUMNS = 6
_MOST_COLUMNS = 15
_COLUMNS_WITH_FAILURES = 15  # since version 15: the last two count failures
_LATE = "skipped"
_WITHOUT_TIME = frozenset({_LATE, "failed", "serialization", "deadlock"})


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
    has_intervals = _is_time(rows[0][1][0].encode())
    read = _intervals if has_intervals else _transactions
    for place, columns in rows:
        time = columns[0 if has_intervals else 4].encode()
        if not _is_time(time) or len(columns) > (_MOST_COLUMNS if has_intervals else 8):
            raise source.error(place, f"is no line of a log: {shown(' '.join(columns))}")
    try:
        return read(tool, rows)
    except RowError as error:
        raise source.error("", str(error)) from None


def _intervals(tool: str, rows: list[tuple[str, list[str]]]) -> Reading:
    """Read a log of intervals: each has a mean, which is a sample."""
    counts, means_us, empty, errors = [], [], 0, 0.0
    for place, columns in rows:
        count, sum_us = (number_in(text, place) for text in columns[1:3])
        if len(columns) >= _COLUMNS_WITH_FAILURES:
            errors += sum(number_in(text, place) for text in columns[13:15])
        if count > 0:
            counts.append(count)
            means_us.append(sum_us / count)
        else:
            empty += 1
    skipped = (f"{counted(empty, 'interval')} without a transaction",) if empty else ()
    row = _row(tool, tool, means_us, usual_loops(counts), answers=sum(counts), errors=errors)
    return Reading(tool, (row,), skipped)


def _transactions(tool: str, rows: list[tuple[str, list[str]]]) -> Reading:
    """Read a log of transactions: each has the time that it took, or why it has none."""
    found: dict[str, list[float]] = {}
    without: dict[str, Counter[str]] = {}
    for place, columns in rows:
        time, script = columns[2:4]
        id_ = f"{tool}[script={script}]"
        values = found.setdefault(id_, [])
        if time in _WITHOUT_TIME:
            without.setdefault(id_, Counter())[time] += 1
        else:
            values.append(number_in(time, place))
    skipped = tuple(
        f"{counted(count, 'transaction')} without a time: {why}"
        for why, count in sum(without.values(), Counter()).items()
    )
    benchmarks = []
    for id_, us in found.items():
        lost = without.get(id_, Counter())
        errors = lost.total() - lost[_LATE]
        benchmarks.append(_row(tool, id_, us, 1, answers=len(us), errors=errors))
    return Reading(tool, tuple(benchmarks), skipped)


def _row(
    tool: str,
    id_: str,
    values_us: list[float],
    loops: int,
    *,
    answers: float,
    errors: float,
) -> BenchmarkResult:
    try:
        if not answers:
            raise no_answer("its lines", errors)
        ratio = sampled(ERROR_RATIO, [[errors / (answers + errors)]], "its lines")
        series = times([values_us], "its lines", loops=loops, scale=_UNIT_S)
        return benchmark(tool, id_, [series, replace(ratio, loops=usual_loops([answers + errors]))])
    except RowError as error:
        return failed(tool, id_, str(error))

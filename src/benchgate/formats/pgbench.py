"""pgbench: what it prints, and its logs.

The time of a benchmark is the mean. Several outputs one after the other are several launches. With
several scripts, there is a benchmark for all of them and one for each. The latencies of single
statements and the progress are not read.

Times are in microseconds. A log does not name the script, except by its number.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from benchgate.formats.contents import number_in, read_lines
from benchgate.formats.http_load import NO_ANSWER, THROUGHPUT, TIME, LoadRun, benchmarks, no_answer
from benchgate.formats.parsed import (
    Advice,
    ForeignFormat,
    Reading,
    RowError,
    benchmark,
    failed,
    sampled,
    shown,
    times,
    usual_loops,
)
from benchgate.model.run import ERROR_RATIO
from benchgate.units import counted

if TYPE_CHECKING:
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Metric


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


_PGBENCH_NAME = "pgbench"
_PGBENCH_ADVICE = Advice("pgbench --log, which writes pgbench_log.PID")

_TYPE = "transaction type"
_SETTINGS = (("clients", "number of clients"), ("mode", "query mode"), ("scale", "scaling factor"))
_REFUSED = "pgbench: error: connection to server"
_ABORTED = "Run was aborted"
_PROCESSED = "number of transactions actually processed"
_FAILED = "number of failed transactions"
_TPS = "tps"
_LATENCY = "latency average"
_SKIPPED = "number of transactions skipped"
# Before each of these may be what another program printed.
_SCRIPT = re.compile(rf"(?:{_TYPE}|(SQL script \d+)): (.*)")
_SHARE = re.compile(r"(?<!\S)(\S+) transactions \(.* tps = (.*)\)")
_VALUE = re.compile(
    rf"({_PROCESSED}|{_FAILED}|{_SKIPPED}|{_LATENCY}|{_TPS}|{'|'.join(k for _, k in _SETTINGS)})"
    r"(?:: | = )(.*)"
)


def _is_pgbench(source: Source) -> bool:
    """Whether the content is that of pgbench."""
    head = source.head
    is_output = f"{_TYPE}: ".encode() in head and b"query mode: " in head
    return is_output or _REFUSED.encode() in head or is_log(head)


def _parse_pgbench(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it has no output of pgbench, or a line of a log is broken.
    """
    if is_log(source.head):
        return read_log(_PGBENCH_NAME, source)
    outputs: list[_Output] = []
    for place, line in read_lines(source):
        if f"{_TYPE}: " in line:
            outputs.append(_Output(place))
        if outputs:
            outputs[-1].read(line, place)
    if not outputs and _REFUSED in source.text("replace"):
        raise source.error("", f"{NO_ANSWER}: {_REFUSED}")
    if not outputs:
        raise source.error("", f"has no line {_TYPE!r}")
    return Reading(
        _PGBENCH_NAME, benchmarks(_PGBENCH_NAME, (run for each in outputs for run in each.runs()))
    )


@dataclass(slots=True)
class _Part:
    """What was printed about all scripts, or about one of them."""

    name: str
    place: str
    values: dict[str, str] = field(default_factory=dict)
    error: str | None = None


@dataclass(slots=True)
class _Output:
    """What one run printed."""

    place: str
    is_aborted: bool = False
    parts: list[_Part] = field(default_factory=list)

    def read(self, line: str, place: str) -> None:
        self.is_aborted |= _ABORTED in line
        if found := _SCRIPT.search(line):
            name = found[2].strip()
            self.parts.append(_Part(f"{found[1]}: {name}" if found[1] else name, place))
        elif found := _SHARE.search(line):
            self.parts[-1].values |= {"processed": found[1], "tps": found[2]}
        elif found := _VALUE.search(line):
            # Old versions have two lines "tps"; the second one is without the connecting.
            if found[1] in self.parts[-1].values and found[1] != _TPS:
                self.parts[-1].error = f"{place}: {found[1]} is there twice"
            self.parts[-1].values[found[1]] = found[2].strip()

    def runs(self) -> list[LoadRun]:
        settings = self.parts[0].values
        named = ",".join(f"{key}={settings[k]}" for key, k in _SETTINGS if k in settings)
        suffix = f"[{named}]" if named else ""
        return [self._run(part, f"{part.name}{suffix}") for part in self.parts]

    def _run(self, part: _Part, id_: str) -> LoadRun:
        values, place = part.values, part.place
        if self.is_aborted:
            why = "the run was aborted, so its results are incomplete"
            return LoadRun(id_, place, {}, f"{place}: {why}")
        if part.error:
            return LoadRun(id_, place, {}, part.error)
        try:
            return _read(values, id_, place)
        except RowError as error:
            return LoadRun(id_, place, {}, str(error))


def _read(values: dict[str, str], id_: str, place: str) -> LoadRun:
    processed = _number(values, _PROCESSED if _PROCESSED in values else "processed", place)
    errors = None
    if _FAILED in values:  # since version 15
        errors = _number(values, _FAILED, place)
    skipped = _number(values, _SKIPPED, place) if _SKIPPED in values else 0
    planned = values.get(_PROCESSED, "").partition("/")[2]
    if not processed > 0:
        raise no_answer(place, errors or 0)
    if planned and processed + (errors or 0) + skipped < number_in(planned, place):
        raise RowError(f"{place}: the run was aborted: only {values[_PROCESSED]} transactions")
    if values.get(_LATENCY, "ms").split()[-1:] != ["ms"]:
        raise RowError(
            f"{place}: {_LATENCY}: {shown(values[_LATENCY])} is not a time such as 1.5 ms"
        )
    figures: dict[Metric, float] = {
        TIME: _number(values, _LATENCY, place) * 1e-3,
        THROUGHPUT: _number(values, "tps", place),
    }
    return LoadRun(id_, place, figures, errors=errors, requests=processed + (errors or 0))


def _number(values: dict[str, str], key: str, place: str) -> float:
    """The number at the start of a value; its decimal point depends on the locale."""
    found = values.get(key, "").split()
    if not found:
        raise RowError(f"{place}: the run failed, or the output is cut off: there is no {key!r}")
    return number_in(found[0].partition("/")[0].replace(",", "."), f"{place}: {key}")


PGBENCH = ForeignFormat(_PGBENCH_NAME, _PGBENCH_ADVICE, _is_pgbench, _parse_pgbench)

"""pgbench: what it prints, and its logs."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.formats.contents import RowError, number_in, read_lines, shown
from benchgate.formats.http_load import NO_ANSWER, THROUGHPUT, LoadRuns, no_answer
from benchgate.formats.rows import MEAN_TIME, reads, sampled, usual_loops
from benchgate.model.metrics import ERROR_RATIO, TIME
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.formats.contents import ForeignFile
    from benchgate.formats.http_load import LoadRun
    from benchgate.formats.rows import ReadRows

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
_LEAST_COLUMNS = 6
_MOST_COLUMNS = 15
_COLUMNS_WITH_FAILURES = 15  # since version 15: the last two count failures
_LATE = "skipped"
_WITHOUT_TIME = frozenset({_LATE, "failed", "serialization", "deadlock"})


def _is_pgbench(source: ForeignFile) -> bool:
    head = source.head
    is_output = f"{_TYPE}: ".encode() in head and b"query mode: " in head
    return is_output or _REFUSED.encode() in head or _is_log(head)


def _is_log(head: bytes) -> bool:
    """Whether the first line is one of a log."""
    columns = head.partition(b"\n")[0].split()
    return len(columns) >= _LEAST_COLUMNS and (_is_time(columns[0]) or _is_time(columns[4]))


def _is_time(column: bytes) -> bool:
    """Whether a number is a Unix time in seconds, between the years 2001 and 2286."""
    return len(column) == 10 and column.isdigit()


@reads("pgbench", "pgbench --log, which writes pgbench_log.PID", _is_pgbench)
def pgbench(source: ForeignFile, rows: ReadRows) -> None:
    """pgbench: what it prints, or a file of `--log`, with or without `--aggregate-interval`.

    The time of a benchmark is the mean. Several outputs one after the other are several launches.
    With several scripts, there is a benchmark for all of them and one for each. The latencies of
    single statements and the progress are not read.
    """
    if _is_log(source.head):
        _read_log(source, rows)
        return
    outputs: list[list[_Part]] = []
    for place, line in read_lines(source):
        if f"{_TYPE}: " in line:
            outputs.append([])
        if outputs:
            _read_line(outputs[-1], line, place)
    if not outputs:
        is_refused = _REFUSED in source.text("replace")
        raise RowError(f"{NO_ANSWER}: {_REFUSED}" if is_refused else f"has no line {_TYPE!r}")
    runs = LoadRuns()
    for parts in outputs:
        settings = parts[0].values
        named = ",".join(f"{key}={settings[k]}" for key, k in _SETTINGS if k in settings)
        suffix = f"[{named}]" if named else ""
        for part in parts:
            with runs.run(f"{part.name}{suffix}", part.place) as run:
                if _ABORTED in settings:
                    why = "the run was aborted, so its results are incomplete"
                    raise RowError(f"{part.place}: {why}")
                if part.error:
                    raise RowError(part.error)
                _read_values(run, part.values)
    runs.join(rows)


@dataclass(slots=True)
class _Part:
    """What was printed about all scripts, or about one of them."""

    name: str
    place: str
    values: dict[str, str] = field(default_factory=dict)
    error: str | None = None


def _read_line(parts: list[_Part], line: str, place: str) -> None:
    if found := _SCRIPT.search(line):
        name = found[2].strip()
        parts.append(_Part(f"{found[1]}: {name}" if found[1] else name, place))
    elif found := _SHARE.search(line):
        parts[-1].values |= {"processed": found[1], "tps": found[2]}
    elif found := _VALUE.search(line):
        # Old versions have two lines "tps"; the second one is without the connecting.
        if found[1] in parts[-1].values and found[1] != _TPS:
            parts[-1].error = f"{place}: {found[1]} is there twice"
        parts[-1].values[found[1]] = found[2].strip()
    if _ABORTED in line:
        parts[0].values[_ABORTED] = line


def _read_values(run: LoadRun, values: Mapping[str, str]) -> None:
    place = run.place

    def number(key: str) -> float:
        """The number at the start of a value; its decimal point depends on the locale."""
        found = values.get(key, "").split()
        if not found:
            what = f"the run failed, or the output is cut off: there is no {key!r}"
            raise RowError(f"{place}: {what}")
        return number_in(found[0].partition("/")[0].replace(",", "."), f"{place}: {key}")

    processed = number(_PROCESSED if _PROCESSED in values else "processed")
    run.errors = number(_FAILED) if _FAILED in values else None  # since version 15
    run.requests = processed + (run.errors or 0)
    skipped = number(_SKIPPED) if _SKIPPED in values else 0
    planned = values.get(_PROCESSED, "").partition("/")[2]
    if not processed > 0:
        raise no_answer(place, run.errors or 0)
    if planned and run.requests + skipped < number_in(planned, place):
        raise RowError(f"{place}: the run was aborted: only {values[_PROCESSED]} transactions")
    if values.get(_LATENCY, "ms").split()[-1:] != ["ms"]:
        what = f"{shown(values[_LATENCY])} is not a time such as 1.5 ms"
        raise RowError(f"{place}: {_LATENCY}: {what}")
    run.figures[MEAN_TIME] = number(_LATENCY) * 1e-3
    run.figures[THROUGHPUT] = number("tps")


def _read_log(source: ForeignFile, rows: ReadRows) -> None:
    """Read a file of `--log`: a line for each transaction, or for each interval.

    Times are in microseconds. A log does not name the script, except by its number.
    """
    lines: list[tuple[str, list[str]]] = []
    for place, line in read_lines(source):
        columns = line.split()
        if columns and len(columns) < _LEAST_COLUMNS:
            raise source.error(place, "is cut off")
        if columns:
            lines.append((place, columns))
    has_intervals = _is_time(lines[0][1][0].encode())
    for place, columns in lines:
        time = columns[0 if has_intervals else 4].encode()
        if not _is_time(time) or len(columns) > (_MOST_COLUMNS if has_intervals else 8):
            raise source.error(place, f"is no line of a log: {shown(' '.join(columns))}")
    (_read_intervals if has_intervals else _read_transactions)(lines, rows)


def _read_intervals(lines: list[tuple[str, list[str]]], rows: ReadRows) -> None:
    """Read a log of intervals: each has a mean, which is a sample."""
    counts, means_us, empty, errors = [], [], 0, 0.0
    for place, columns in lines:
        count, sum_us = (number_in(text, place) for text in columns[1:3])
        if len(columns) >= _COLUMNS_WITH_FAILURES:
            errors += sum(number_in(text, place) for text in columns[13:15])
        if count > 0:
            counts.append(count)
            means_us.append(sum_us / count)
        else:
            empty += 1
    if empty:
        rows.skip(f"{counted(empty, 'interval')} without a transaction")
    _add_row(rows, rows.tool, means_us, usual_loops(counts), answers=sum(counts), errors=errors)


def _read_transactions(lines: list[tuple[str, list[str]]], rows: ReadRows) -> None:
    """Read a log of transactions: each has the time that it took, or why it has none."""
    found: dict[str, list[float]] = {}
    without: dict[str, Counter[str]] = {}
    for place, columns in lines:
        time, script = columns[2:4]
        id_ = f"{rows.tool}[script={script}]"
        values = found.setdefault(id_, [])
        if time in _WITHOUT_TIME:
            without.setdefault(id_, Counter())[time] += 1
        else:
            values.append(number_in(time, place))
    for why, count in sum(without.values(), Counter()).items():
        rows.skip(f"{counted(count, 'transaction')} without a time: {why}")
    for id_, values_us in found.items():
        lost = without.get(id_, Counter())
        errors = lost.total() - lost[_LATE]
        _add_row(rows, id_, values_us, 1, answers=len(values_us), errors=errors)


def _add_row(
    rows: ReadRows, id_: str, values_us: list[float], loops: int, *, answers: float, errors: float
) -> None:
    with rows.row(id_) as row:
        if not answers:
            raise no_answer("its lines", errors)
        total = answers + errors
        ratio_loops = usual_loops([total])
        ratio = sampled(ERROR_RATIO, [[errors / total]], "its lines", loops=ratio_loops)
        row.series += [sampled(TIME, [values_us], "its lines", loops=loops, scale=1e-6), ratio]

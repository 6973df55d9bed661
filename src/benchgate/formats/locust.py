"""locust: the file `PREFIX_stats.csv` of `--csv PREFIX`, or what `--json` prints; in milliseconds.

The time of a benchmark is the mean: locust rounds the median and the percentiles to two digits.
Several CSV files one after the other are several launches.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from benchgate.formats.best_input import Advice
from benchgate.formats.lines import number_in
from benchgate.formats.load_metrics import (
    NO_ANSWER,
    THROUGHPUT,
    TIME,
    LoadRun,
    benchmarks,
    no_answer,
)
from benchgate.formats.nodes import read_json
from benchgate.formats.parsed import Reading, RowError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import Metric

NAME = "locust"
ADVICE = Advice("locust --headless --json > FILE", has_samples=False)

_COLUMNS = (
    "Type",
    "Name",
    "Request Count",
    "Failure Count",
    "Average Response Time",
    "Average Content Size",
    "Requests/s",
)
_CSV = b"Type,Name,Request Count,"


def sniff(source: Source) -> bool:
    """Whether the content is that of locust."""
    head = source.head
    return head.startswith(_CSV) or (head.startswith(b"[") and b'"num_none_requests"' in head)


def parse(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is neither JSON nor CSV, or lacks a column or a key.
    """
    try:
        found = _table(source) if source.head.startswith(b"Type,") else _document(source)
        return Reading(NAME, benchmarks(NAME, found))
    except RowError as error:
        raise source.error("", str(error)) from None
    except csv.Error as error:
        raise source.error("", f"is not CSV: {error}") from None


def _table(source: Source) -> Iterator[LoadRun]:
    rows = csv.reader(io.StringIO(source.text("backslashreplace"), newline=""))
    header = next(rows)
    for column in _COLUMNS:
        if column not in header:
            raise RowError(f"line 1: the column {column!r} is missing")
    indexes = [header.index(column) for column in _COLUMNS]
    for row in rows:
        place = f"line {rows.line_num}"
        if not row or row in (header, [""]) or row[:2] == ["", "Aggregated"]:
            continue
        if len(row) <= max(indexes):
            raise RowError(f"{place}: the row is cut off")
        type_, name, *texts = (row[index] for index in indexes)
        id_ = f"{type_} {name}".strip()
        try:
            requests, failures, mean_ms, content, per_s = (number_in(text, place) for text in texts)
        except RowError as error:
            yield LoadRun(id_, place, {}, str(error))
        else:
            yield _run(
                id_,
                place,
                requests=requests,
                failures=failures,
                mean_ms=mean_ms,
                content=content,
                per_s=per_s,
            )


def _document(source: Source) -> Iterator[LoadRun]:
    rows = list(read_json(source).each())
    # As locust does: the rate of each request is over the time of all of them.
    start_s = min((row["start_time"].number for row in rows), default=0)
    end_s = max((_end_s(row) for row in rows), default=0)
    for row in rows:
        id_ = f"{row['method'].text} {row['name'].text}".strip()
        try:
            yield _entry(id_, row, end_s - start_s)
        except RowError as error:
            yield LoadRun(id_, row.place, {}, str(error))


def _entry(id_: str, row: Node, duration_s: float) -> LoadRun:
    requests = row["num_requests"].number
    timed = requests - row["num_none_requests"].number
    mean_ms = row["total_response_time"].number / timed if timed > 0 else 0
    return _run(
        id_,
        row.place,
        requests=requests,
        failures=row["num_failures"].number,
        mean_ms=mean_ms,
        content=row["total_content_length"].number,
        per_s=requests / duration_s if duration_s > 0 else 0,
    )


def _end_s(row: Node) -> float:
    end = row.get("last_request_timestamp")
    return end.number if end else 0


def _run(
    id_: str,
    place: str,
    *,
    requests: float,
    failures: float,
    mean_ms: float,
    content: float,
    per_s: float,
) -> LoadRun:
    if not requests > 0:
        return LoadRun(id_, place, {}, str(no_answer(place)))
    # locust counts a refused connection as a failed request with a time.
    if failures >= requests and content == 0:
        why = f"all {failures:.0f} requests failed, and no answer has content"
        return LoadRun(id_, place, {}, f"{place}: {why}: {NO_ANSWER}, or only with empty answers")
    figures: dict[Metric, float] = {}
    if mean_ms != 0:  # locust shows 0 if a request has no time
        figures[TIME] = mean_ms * 1e-3
    if per_s != 0:
        figures[THROUGHPUT] = per_s
    return LoadRun(id_, place, figures, errors=failures, requests=requests)

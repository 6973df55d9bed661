"""The points that k6 writes with `--out json=FILE`: one measured value on each line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchgate.formats.k6_metrics import RATIOS, THROUGHPUTS, UNIT_S, is_time, of_requests, unread
from benchgate.formats.nodes import read_json_lines
from benchgate.formats.parsed import (
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    sampled,
    times,
)

if TYPE_CHECKING:
    from benchgate.formats.nodes import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult

# The tags that say what was done. Others say how it went, or differ between two runs.
_TAGS = ("scenario", "group", "method", "name", "check")
_FAILED = "http_req_failed"
_NO_STATUS = "0"
_USUAL = {("scenario", "default"), ("group", "")}


@dataclass(slots=True)
class _Points:
    """The points of one metric with the same tags.

    Attributes:
        answered: how many of them are about a request with an answer, as far as they tell.
    """

    metric: str
    values: list[float] = field(default_factory=list)
    error: str | None = None
    answered: int = 0


def read_points(tool: str, source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: a line is not JSON, or is neither a metric nor a point.
    """
    contains: dict[str, str] = {}
    found: dict[str, _Points] = {}
    for number, line in read_json_lines(source):
        if line is None:
            raise source.error(f"line {number}", "is not JSON: the file may be cut off")
        try:
            metric, kind = line["metric"].text, line["type"].text
            if kind == "Metric":
                contains[metric] = line["data"]["contains"].text
            elif kind == "Point":
                _add(found, metric, line)
        except RowError as error:
            raise source.error("", str(error)) from None
    read = {id_: p for id_, p in found.items() if _is_read(p.metric, contains)}
    left = {p.metric for p in found.values() if not _is_read(p.metric, contains)}
    rows = [_row(tool, id_, points) for id_, points in read.items()]
    rates = sorted(left & set(THROUGHPUTS))
    unanswered = {
        id_.removeprefix(_FAILED)
        for id_, points in read.items()
        if points.metric == _FAILED and not points.answered
    }
    skipped = [
        f"{name}: the points do not say how many there were in each second" for name in rates
    ]
    joined = tuple(of_requests(tool, distinct(tool, rows), unanswered.__contains__))
    return Reading(tool, joined, (*skipped, *unread(left.difference(THROUGHPUTS))))


def _is_read(metric: str, contains: dict[str, str]) -> bool:
    return metric in RATIOS or is_time(metric, contains.get(metric))


def _add(found: dict[str, _Points], metric: str, line: Node) -> None:
    data = line["data"]
    tags = data.get("tags")
    pairs = [(tag, tags.get(tag)) for tag in _TAGS] if tags else []
    named = [(tag, str(node.value)) for tag, node in pairs if node]
    selector = ",".join(f"{tag}:{value}" for tag, value in named if (tag, value) not in _USUAL)
    id_ = f"{metric}{{{selector}}}" if selector else metric
    points = found.setdefault(id_, _Points(metric))
    status = tags.get("status") if tags else None
    points.answered += status is None or status.value != _NO_STATUS
    try:
        points.values.append(data["value"].number)
    except RowError as error:
        points.error = points.error or str(error)


def _row(tool: str, id_: str, points: _Points) -> BenchmarkResult:
    if points.error is not None:
        return failed(tool, id_, points.error)
    try:
        if ratio := RATIOS.get(points.metric):
            mean = sum(points.values) / len(points.values)
            series = sampled(ratio, [[mean]], "its points", loops=len(points.values))
            return benchmark(tool, id_, [series])
        return benchmark(tool, id_, [times([points.values], "its points", scale=UNIT_S)])
    except RowError as error:
        return failed(tool, id_, str(error))

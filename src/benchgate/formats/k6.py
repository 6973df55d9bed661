"""k6: its summaries and its points.

The summary is the file of `--summary-export`, or the `data` of `handleSummary` as JSON. The first
one does not say what a metric of the script measures, so only the metrics of k6 itself are read.
The id of a benchmark is what a threshold would name: `http_req_duration{name:E}`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from benchgate.formats.contents import read_json, read_json_lines
from benchgate.formats.http_load import NO_ANSWER, THROUGHPUT, TIME, percentile
from benchgate.formats.parsed import (
    Advice,
    ForeignFormat,
    Reading,
    RowError,
    benchmark,
    distinct,
    failed,
    sampled,
    shown,
    times,
    usual_loops,
)
from benchgate.model.run import ERROR_RATIO, Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from benchgate.formats.contents import Node
    from benchgate.formats.parsed import Source
    from benchgate.model.run import BenchmarkResult, Series


UNIT_S: Final = 1e-3
THROUGHPUTS: Final = ("http_reqs", "iterations")
RATIOS: Final = {
    "checks": Metric("passed_ratio", "", Better.HIGHER, Kind.SUMMARY),
    "http_req_failed": ERROR_RATIO,
}

_CONNECTING = frozenset({"http_req_connecting", "http_req_tls_handshaking"})
"""Times that are 0 for each request on an open connection; iterations contain them."""
_TIMES = frozenset(
    {
        "group_duration",
        "grpc_req_duration",
        "http_req_blocked",
        "http_req_duration",
        "http_req_receiving",
        "http_req_sending",
        "http_req_waiting",
        "iteration_duration",
        "ws_connecting",
        "ws_ping",
        "ws_session_duration",
    }
)


def is_time(metric: str, contains: str | None) -> bool:
    """Whether a metric is a time.

    Args:
        contains: what the file says about it, such as "time"; None if it says nothing.
    """
    known = metric in _TIMES if contains is None else contains == "time"
    return known and metric not in _CONNECTING


def of_requests(
    tool: str, rows: Iterable[BenchmarkResult], is_unanswered: Callable[[str], bool]
) -> Iterator[BenchmarkResult]:
    """Give the times of requests their rate and their error ratio, as other tools do.

    Args:
        tool: `NAME` of the format.
        rows: with distinct ids.
        is_unanswered: whether none of the requests with these tags, "{...}" in an id, was answered.
    """
    known = {row.id: row for row in rows}
    for metric in (*THROUGHPUTS, *RATIOS):
        for row in [row for id_, row in known.items() if id_.partition("{")[0] == metric]:
            timed = known.get(row.id.replace(metric, "http_req_duration", 1))
            if metric.startswith("http_req") and timed and timed.series and row.series:
                series, notes = (*timed.series, *row.series), (*timed.notes, *row.notes)
                known[timed.id] = replace(timed, series=series, notes=notes)
                del known[row.id]
    for id_, row in known.items():
        metric, brace, tags = id_.partition("{")
        is_lost = metric.startswith("http_req") and is_unanswered(brace + tags)
        yield failed(tool, id_, NO_ANSWER, notes=row.notes) if is_lost else row


def unread(metrics: Iterable[str]) -> tuple[str, ...]:
    """Say that metrics were left out, for `Reading.skipped`."""
    names = sorted(metrics)
    connecting = [name for name in names if name.partition("{")[0] in _CONNECTING]
    unknown = [name for name in names if name not in connecting]
    said = (
        ("the file does not say whether more of these is better", unknown),
        ("these times are 0 if a connection is open already", connecting),
    )
    return tuple(f"{why}: {', '.join(found)}" for why, found in said if found)


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
    rows = [_points_row(tool, id_, points) for id_, points in read.items()]
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


def _points_row(tool: str, id_: str, points: _Points) -> BenchmarkResult:
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


_K6_NAME = "k6"
_K6_ADVICE = Advice("k6 run --out json=FILE SCRIPT.js")

_COUNTS = ("passes", "fails")
_POINT = b'"type":"Metric"'


def _is_k6(source: Source) -> bool:
    """Whether the content is that of k6."""
    head = source.head
    return head.startswith(b"{") and (b'"root_group"' in head or _POINT in head[:1000])


def _parse_k6(source: Source) -> Reading:
    """Read a file.

    Raises:
        FormatError: it is not JSON, or has no metrics; or a line of points is not JSON.
    """
    if _POINT in source.head[:1000]:
        return read_points(_K6_NAME, source)
    try:
        metrics = list(read_json(source, named=True)["metrics"].items())
    except RowError as error:
        raise source.error("", str(error)) from None
    rows = {name: _k6_row(name, metric) for name, metric in metrics}
    found = distinct(_K6_NAME, (row for row in rows.values() if row is not None))
    skipped = unread(name for name, row in rows.items() if row is None)
    is_lost = _received_nothing(dict(metrics))
    return Reading(_K6_NAME, tuple(of_requests(_K6_NAME, found, lambda _: is_lost)), skipped)


def _received_nothing(metrics: dict[str, Node]) -> bool:
    """Whether there were requests, and not a byte came back."""
    counts = []
    for name in ("http_reqs", "data_received"):
        try:
            metric = metrics[name]
            counts.append((metric.get("values") or metric)["count"].number)
        except (KeyError, RowError):
            return False
    return counts[0] > 0 and counts[1] == 0


def _k6_row(name: str, metric: Node) -> BenchmarkResult | None:
    """Read a metric; None if nobody knows whether more of it is better."""
    base = name.partition("{")[0]
    try:
        contains = metric.get("contains")
        values = metric.get("values") or metric
        if is_time(base, None if contains is None else contains.text):
            series = list(_times(values))
        elif base in THROUGHPUTS:
            series = [_one(THROUGHPUT, values["rate"])]
        elif ratio := RATIOS.get(base):
            counts = [found.number for key in _COUNTS if (found := values.get(key))]
            value = values.get("rate") or values["value"]
            series = [replace(_one(ratio, value), loops=usual_loops([sum(counts)]))]
        else:
            return None
        return benchmark(_K6_NAME, name, series, notes=_crossed(metric))
    except RowError as error:
        return failed(_K6_NAME, name, str(error))


def _times(values: Node) -> Iterator[Series]:
    typical = values.get("med") or values["avg"]
    yield sampled(TIME, [[typical.number]], typical.place, scale=UNIT_S)
    for key, value in sorted(values.items()):
        if key.startswith("p(") and key.endswith(")"):
            yield sampled(percentile(key[2:-1]), [[value.number]], value.place, scale=UNIT_S)


def _one(metric: Metric, value: Node) -> Series:
    return sampled(metric, [[value.number]], value.place)


def _crossed(metric: Node) -> list[str]:
    """The thresholds of the script that were crossed: `true`, or an object that is not ok."""
    thresholds = metric.get("thresholds")
    if thresholds is None:
        return []
    return [
        f"k6: the threshold {shown(text)} was crossed"
        for text, found in thresholds.items()
        if found.value is True or (isinstance(found.value, dict) and found.value.get("ok") is False)
    ]


K6 = ForeignFormat(_K6_NAME, _K6_ADVICE, _is_k6, _parse_k6)

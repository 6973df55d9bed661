"""k6: its summaries, and the points of `--out json`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from benchgate.formats.contents import RowError, read_json, read_json_lines, shown
from benchgate.formats.http_load import NO_ANSWER, THROUGHPUT, percentile
from benchgate.formats.origin import told
from benchgate.formats.rows import MEAN_TIME, distinct, failed, reads, sampled, usual_loops
from benchgate.model.metrics import ERROR_RATIO, TIME, Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from benchgate.formats.contents import ForeignFile, Node
    from benchgate.formats.rows import ReadRows
    from benchgate.model.run import BenchmarkResult, Series

_MS: Final = 1e-3
_ITERATIONS: Final = "iterations"
_DROPPED: Final = "dropped_iterations"
_THROUGHPUTS: Final = ("http_reqs", _ITERATIONS)
_RATIOS: Final = {
    "checks": Metric("passed_ratio", "", Better.HIGHER, Kind.SUMMARY),
    "http_req_failed": ERROR_RATIO,
}
# Times that are 0 for each request on an open connection; iterations contain them.
_CONNECTING = frozenset({"http_req_connecting", "http_req_tls_handshaking"})
_TIMES = frozenset(
    {
        *("group_duration", "grpc_req_duration", "http_req_blocked", "http_req_duration"),
        *("http_req_receiving", "http_req_sending", "http_req_waiting", "iteration_duration"),
        *("ws_connecting", "ws_ping", "ws_session_duration"),
    }
)
_POINT = b'"type":"Metric"'
# The tags that say what was done. Others say how it went, or differ between two runs.
_TAGS = ("scenario", "group", "method", "name", "check")
_FAILED = "http_req_failed"
_NO_STATUS = "0"
_USUAL = {("scenario", "default"), ("group", "")}


def _is_k6(source: ForeignFile) -> bool:
    head = source.head
    return head.startswith(b"{") and (b'"root_group"' in head or _POINT in head[:1000])


@reads("k6", "k6 run --out json=FILE SCRIPT.js", _is_k6)
def k6(source: ForeignFile, rows: ReadRows) -> None:
    """k6: the end-of-test summary, or the points of `--out json=FILE`; times in milliseconds.

    The summary is the file of `--summary-export`, or the `data` of `handleSummary` as JSON. The
    first one does not say what a metric of the script measures, so only the metrics of k6 itself
    are read. The id of a benchmark is what a threshold would name: `http_req_duration{name:E}`.
    """
    if _POINT in source.head[:1000]:
        _read_points(source, rows)
        return
    metrics = dict(read_json(source, named=True)["metrics"].items())
    left = []
    for name, metric in metrics.items():
        count = len(rows.found)
        with rows.row(name) as row:
            base = name.partition("{")[0]
            row.series += _summary_series(base, metric)
            if base == _ITERATIONS:
                row.series += _dropped_of(name, metric, metrics)
            if row.series:
                row.notes += _crossed(metric)
        if len(rows.found) == count and not name.startswith(_DROPPED):
            left.append(name)
    for name in (one.removeprefix("dropped_") for one in metrics if one.startswith(_DROPPED)):
        if name not in metrics:
            with rows.row(name) as row:
                row.series += _dropped_of(name, None, metrics)
    is_lost = _received_nothing(metrics)
    rows.found = list(_of_requests(rows, lambda _: is_lost))
    rows.skip(*_left_out(left))


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


def _summary_series(base: str, metric: Node) -> Iterator[Series]:
    """The series of a metric; none if nobody knows whether more of it is better."""
    contains = metric.get("contains")
    values = metric.get("values") or metric
    if _is_time(base, None if contains is None else contains.text):
        typical = values.get("med") or values["avg"]
        yield sampled(MEAN_TIME, [[typical.number]], typical.place, scale=_MS)
        for key, value in sorted(values.items()):
            if key.startswith("p(") and key.endswith(")"):
                yield sampled(percentile(key[2:-1]), [[value.number]], value.place, scale=_MS)
    elif base in _THROUGHPUTS:
        yield sampled(THROUGHPUT, [[values["rate"].number]], values["rate"].place)
    elif ratio := _RATIOS.get(base):
        counts = (values.get(key) for key in ("passes", "fails"))
        count = sum([found.number for found in counts if found])
        value = values.get("rate") or values["value"]
        yield sampled(ratio, [[value.number]], value.place, loops=usual_loops([count]))


def _dropped_of(id_: str, done: Node | None, metrics: dict[str, Node]) -> Iterator[Series]:
    """The share of iterations that were due and never began; k6 names none if there was none.

    Args:
        done: the metric of those that ran.
    """
    dropped = metrics.get(f"dropped_{id_}")
    if dropped is None and "{" in id_:
        return  # they are counted only for all tags together
    ran, lost = (
        (one.get("values") or one)["count"].number if one else 0 for one in (done, dropped)
    )
    if ran + lost > 0:
        yield _error_ratio(ran, lost, id_)


def _error_ratio(ran: float, lost: float, place: str) -> Series:
    loops = usual_loops([ran + lost])
    return sampled(ERROR_RATIO, [[lost / (ran + lost)]], place, loops=loops)


def _crossed(metric: Node) -> Iterator[str]:
    """The thresholds of the script that were crossed: `true`, or an object that is not ok."""
    thresholds = metric.get("thresholds")
    for text, found in thresholds.items() if thresholds else ():
        is_object = isinstance(found.value, dict)
        if found.value is True or (is_object and found.value.get("ok") is False):
            yield f"k6: the threshold {shown(text)} was crossed"


def _is_time(metric: str, contains: str | None) -> bool:
    """Whether a metric is a time.

    Args:
        contains: what the file says about it, such as "time"; None if it says nothing.
    """
    known = metric in _TIMES if contains is None else contains == "time"
    return known and metric not in _CONNECTING


def _of_requests(rows: ReadRows, is_unanswered: Callable[[str], bool]) -> Iterator[BenchmarkResult]:
    """Give the times of requests their rate and their error ratio, as other tools do.

    Args:
        is_unanswered: whether none of the requests with these tags, "{...}" in an id, was answered.
    """
    known = {row.id: row for row in distinct(rows.tool, rows.found)}
    for metric in (*_THROUGHPUTS, *_RATIOS):
        for row in [row for id_, row in known.items() if id_.partition("{")[0] == metric]:
            timed = known.get(row.id.replace(metric, "http_req_duration", 1))
            if metric.startswith("http_req") and timed and timed.series and row.series:
                series, notes = (*timed.series, *row.series), (*timed.notes, *row.notes)
                known[timed.id] = replace(timed, series=series, notes=notes)
                del known[row.id]
    for id_, row in known.items():
        metric, brace, tags = id_.partition("{")
        is_lost = metric.startswith("http_req") and is_unanswered(brace + tags)
        yield failed(rows.tool, id_, NO_ANSWER, notes=row.notes) if is_lost else row


def _left_out(metrics: Iterable[str]) -> Iterator[str]:
    names = sorted(metrics)
    connecting = [name for name in names if name.partition("{")[0] in _CONNECTING]
    unknown = [name for name in names if name not in connecting]
    if unknown:
        yield f"the file does not say whether more of these is better: {', '.join(unknown)}"
    if connecting:
        yield f"these times are 0 if a connection is open already: {', '.join(connecting)}"


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


def _read_points(source: ForeignFile, rows: ReadRows) -> None:
    """Read the points of `--out json=FILE`: one measured value on each line."""
    contains: dict[str, str] = {}
    found: dict[str, _Points] = {}
    times: list[float] = []
    for number, line in read_json_lines(source):
        if line is None:
            raise source.error(f"line {number}", "is not JSON: the file may be cut off")
        metric, kind = line["metric"].text, line["type"].text
        if kind == "Metric":
            contains[metric] = line["data"]["contains"].text
        elif kind == "Point":
            _add(found, metric, line)
            times += _time_s(line)
            times = [min(times), max(times)] if times else []
    span_s = times[1] - times[0] if times else 0.0
    _add_points(found, contains, span_s, rows)


def _time_s(point: Node) -> Iterator[float]:
    """When a point was measured; nothing if it does not tell."""
    text = told(point, "data", "time")
    try:
        yield datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return


def _add_points(
    found: dict[str, _Points], contains: dict[str, str], span_s: float, rows: ReadRows
) -> None:
    left: set[str] = set()
    unanswered: set[str] = set()
    dropped = {id_: points for id_, points in found.items() if points.metric == _DROPPED}
    for id_ in dropped:
        found.setdefault(id_.removeprefix("dropped_"), _Points(_ITERATIONS))
    for id_, points in found.items():
        if points.metric == _DROPPED:
            continue
        if points.metric in _THROUGHPUTS:
            with rows.row(id_) as row:
                row.series += _counted(points, dropped.get(f"dropped_{id_}"), span_s)
            continue
        ratio = _RATIOS.get(points.metric)
        if not ratio and not _is_time(points.metric, contains.get(points.metric)):
            left.add(points.metric)
            continue
        if points.metric == _FAILED and not points.answered:
            unanswered.add(id_.removeprefix(_FAILED))
        with rows.row(id_) as row:
            if points.error is not None:
                raise RowError(points.error)
            values = points.values
            if ratio:
                mean = sum(values) / len(values)
                row.series.append(sampled(ratio, [[mean]], "its points", loops=len(values)))
            else:
                row.series.append(sampled(TIME, [values], "its points", scale=_MS))
    if not span_s:
        rows.skip("the throughput: the points do not say how long it took")
    rows.skip(*_left_out(left))
    rows.found = list(_of_requests(rows, unanswered.__contains__))


def _counted(points: _Points, dropped: _Points | None, span_s: float) -> Iterator[Series]:
    """The throughput of requests or iterations, and the share of iterations that were dropped.

    Args:
        span_s: from the first point of the file to the last one.
    """
    ran = sum(points.values)
    if span_s:
        yield sampled(THROUGHPUT, [[ran / span_s]], "its points")
    if points.metric == _ITERATIONS:
        yield _error_ratio(ran, sum(dropped.values) if dropped else 0.0, "its points")


def _add(found: dict[str, _Points], metric: str, line: Node) -> None:
    data = line["data"]
    tags = data.get("tags")
    pairs = [(tag, tags.get(tag)) for tag in _TAGS] if tags else []
    named = [(tag, str(node.value)) for tag, node in pairs if node]
    selector = ",".join(f"{tag}:{value}" for tag, value in named if (tag, value) not in _USUAL)
    points = found.setdefault(f"{metric}{{{selector}}}" if selector else metric, _Points(metric))
    status = tags.get("status") if tags else None
    points.answered += status is None or status.value != _NO_STATUS
    try:
        points.values.append(data["value"].number)
    except RowError as error:
        points.error = points.error or str(error)

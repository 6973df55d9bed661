"""What the documentation of k6 says about its own metrics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.formats.load_metrics import NO_ANSWER
from benchgate.formats.parsed import failed
from benchgate.model.run import ERROR_RATIO, Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from benchgate.model.run import BenchmarkResult

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

"""What the documentation of k6 says about its own metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchgate.formats.load_metrics import ERROR_RATIO
from benchgate.model.run import Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Iterable

UNIT_S: Final = 1e-3
THROUGHPUTS: Final = frozenset({"http_reqs", "iterations"})
RATIOS: Final = {
    "checks": Metric("passed_ratio", "", Better.HIGHER, Kind.SUMMARY),
    "http_req_failed": ERROR_RATIO,
}

_TIMES = frozenset(
    {
        "group_duration",
        "grpc_req_duration",
        "http_req_blocked",
        "http_req_connecting",
        "http_req_duration",
        "http_req_receiving",
        "http_req_sending",
        "http_req_tls_handshaking",
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
    return contains == "time" or (contains is None and metric in _TIMES)


def unread(metrics: Iterable[str]) -> tuple[str, ...]:
    """Say that metrics were left out, for `Reading.skipped`."""
    names = ", ".join(sorted(metrics))
    return (f"the file does not say whether more of these is better: {names}",) if names else ()

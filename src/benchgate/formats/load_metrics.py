"""What tools that put load on a server have in common: the metrics, and runs that are repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.formats.parsed import RowError, benchmark, failed, sampled
from benchgate.model.run import Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.model.run import BenchmarkResult, Series

TIME: Final = Metric("time", "s", kind=Kind.SUMMARY)
"""The mean or the median of the response times."""
THROUGHPUT: Final = Metric("throughput", "1/s", Better.HIGHER, Kind.SUMMARY)
ERROR_RATIO: Final = Metric("error_ratio", "", kind=Kind.SUMMARY)
"""Failed requests of all requests."""


def percentile(percent: str) -> Metric:
    """The response time that this many percent of the requests do not exceed, such as "99.9"."""
    return Metric(f"time_p{percent}", "s", kind=Kind.SUMMARY)


def error_ratio(errors: float, requests: float, place: str) -> float:
    """Failed requests of all requests.

    Raises:
        RowError: these numbers are not possible.
    """
    if not (requests > 0 and errors >= 0):
        raise RowError(f"{place}: {errors:g} errors in {requests:g} requests are not possible")
    return errors / requests


@dataclass(frozen=True, slots=True)
class LoadRun:
    """One run of a tool, or why it failed.

    Attributes:
        id: of the benchmark.
        figures: in the unit of the metric.
        place: in the file.
        error: with its place.
    """

    id: str
    place: str
    figures: Mapping[Metric, float]
    error: str | None = None


def benchmarks(tool: str, runs: Iterable[LoadRun]) -> tuple[BenchmarkResult, ...]:
    """Join the runs of the same benchmark: each was a process of its own, and is a launch."""
    by_id: dict[str, list[LoadRun]] = {}
    for run in runs:
        by_id.setdefault(run.id, []).append(run)
    return tuple(_joined(tool, id_, same) for id_, same in by_id.items())


def _joined(tool: str, id_: str, runs: list[LoadRun]) -> BenchmarkResult:
    for run in runs:
        if run.error is not None:
            return failed(tool, id_, run.error)
    metrics = dict.fromkeys(metric for run in runs for metric in run.figures)
    try:
        return benchmark(tool, id_, [_series(metric, runs) for metric in metrics])
    except RowError as error:
        return failed(tool, id_, str(error))


def _series(metric: Metric, runs: list[LoadRun]) -> Series:
    found = [run for run in runs if metric in run.figures]
    return sampled(
        metric,
        [[run.figures[metric]] for run in found],
        [f"{run.place}: {metric.name}" for run in found],
    )

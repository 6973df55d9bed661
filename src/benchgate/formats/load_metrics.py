"""What tools that put load on a server have in common: the metrics, and runs that are repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.formats.means import usual_loops
from benchgate.formats.parsed import RowError, benchmark, failed, sampled
from benchgate.model.run import ERROR_RATIO, Better, Kind, Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.model.run import BenchmarkResult, Series

TIME: Final = Metric("time", "s", kind=Kind.SUMMARY)
"""The mean or the median of the response times."""
THROUGHPUT: Final = Metric("throughput", "1/s", Better.HIGHER, Kind.SUMMARY)
NO_ANSWER: Final = "the server answered no request"


def percentile(percent: str) -> Metric:
    """The response time that this many percent of the requests do not exceed, such as "99.9"."""
    return Metric(f"time_p{percent}", "s", kind=Kind.SUMMARY)


def no_answer(place: str, errors: float = 0) -> RowError:
    """The error of a run without a single answer, with what the tool counted instead."""
    counted_errors = f"; the tool counted {errors:.0f} errors" if errors > 0 else ""
    return RowError(f"{place}: {NO_ANSWER}{counted_errors}")


@dataclass(frozen=True, slots=True)
class LoadRun:
    """One run of a tool, or why it failed.

    Attributes:
        id: of the benchmark.
        figures: in the unit of the metric.
        place: in the file.
        error: with its place.
        errors: how many requests failed; None if the tool does not tell. It may count a request
            several times.
        requests: all of them, if the errors are known.
    """

    id: str
    place: str
    figures: Mapping[Metric, float]
    error: str | None = None
    errors: float | None = None
    requests: float = 0

    def metrics(self) -> dict[Metric, float]:
        """The figures with the error ratio.

        Raises:
            RowError: the run failed, nothing was answered, or the counts are not possible.
        """
        if self.error is not None:
            raise RowError(self.error)
        if self.figures.get(THROUGHPUT) == 0:
            raise no_answer(self.place, self.errors or 0)
        if self.errors is None:
            return dict(self.figures)
        if not (self.requests > 0 and self.errors >= 0):
            what = f"{self.errors:g} errors in {self.requests:g} requests are not possible"
            raise RowError(f"{self.place}: {what}")
        return {**self.figures, ERROR_RATIO: min(1.0, self.errors / self.requests)}


def benchmarks(tool: str, runs: Iterable[LoadRun]) -> tuple[BenchmarkResult, ...]:
    """Join the runs of the same benchmark: each was a process of its own, and is a launch."""
    by_id: dict[str, list[LoadRun]] = {}
    for run in runs:
        by_id.setdefault(run.id, []).append(run)
    return tuple(_joined(tool, id_, same) for id_, same in by_id.items())


def _joined(tool: str, id_: str, runs: list[LoadRun]) -> BenchmarkResult:
    try:
        found = [(run, run.metrics()) for run in runs]
        metrics = dict.fromkeys(metric for _, figures in found for metric in figures)
        return benchmark(tool, id_, [_series(metric, found) for metric in metrics])
    except RowError as error:
        return failed(tool, id_, str(error))


def _series(metric: Metric, runs: list[tuple[LoadRun, dict[Metric, float]]]) -> Series:
    found = [(run, figures[metric]) for run, figures in runs if metric in figures]
    return sampled(
        metric,
        [[value] for _, value in found],
        [f"{run.place}: {metric.name}" for run, _ in found],
        loops=usual_loops([run.requests for run, _ in found]) if metric == ERROR_RATIO else 1,
    )

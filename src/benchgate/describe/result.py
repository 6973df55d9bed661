"""The statistics of a whole result file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.describe.detail import describe_series
from benchgate.describe.grids import grids
from benchgate.describe.series import summarise
from benchgate.model.run import CANARY_IDS, Status
from benchgate.model.statistics import Failure, ResultStatistics, RunStatistics, SeriesStatistics

if TYPE_CHECKING:
    from benchgate.describe.detail import DetailSettings
    from benchgate.model.result import Result
    from benchgate.model.run import BenchmarkResult, Run, Series


def describe(result: Result, detail: DetailSettings | None = None) -> ResultStatistics:
    """Describe the benchmarks of a result, the head's run first.

    Args:
        detail: None for a line per series only.
    """
    runs = [_describe_run("head", result.head, detail)]
    if result.base is not None:
        runs.append(_describe_run("base", result.base, detail))
    return ResultStatistics(tuple(runs), result.duration_s, result.warnings)


def _describe_run(arm: str, run: Run, detail: DetailSettings | None) -> RunStatistics:
    shown = [b for b in run.benchmarks if b.id not in CANARY_IDS]
    return RunStatistics(
        arm=arm,
        source=run.source,
        started=run.started,
        complete=run.complete,
        environment=run.environment,
        series=tuple(_describe(b, s, run, detail) for b in shown for s in b.series if s.launches),
        failures=tuple(Failure(b.id, b.error or "") for b in shown if b.status is Status.FAILED),
        grids=grids(shown) if detail else (),
    )


def _describe(
    benchmark: BenchmarkResult, series: Series, run: Run, detail: DetailSettings | None
) -> SeriesStatistics:
    found = summarise(benchmark, series)
    if detail is None:
        return found
    cost_ns = run.environment.timer_cost_ns
    more = describe_series(series, detail, seed=run.seed, timer_cost_ns=cost_ns)
    return replace(found, detail=more)

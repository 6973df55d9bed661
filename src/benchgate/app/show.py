"""`benchgate show` and `benchgate list`: plain numbers for people, from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.model.result import CANARY_ID, Kind, Status, Tier
from benchgate.report.result_view import ListedBenchmark, ResultView, RunView, SeriesView
from benchgate.stats.power import robust_spread
from benchgate.stats.quantiles import nearest_rank

if TYPE_CHECKING:
    from benchgate.measure.session import Session
    from benchgate.model.result import BenchmarkResult, Result, Run, Series

LEAST_TAIL_SAMPLES = 40
_LEAST_LAUNCHES = 2


def view_result(result: Result) -> ResultView:
    """Prepare a result for display: for each series medians over its launches."""
    runs = [_view_run("head", result.head)]
    if result.base is not None:
        runs.append(_view_run("base", result.base))
    return ResultView(tuple(runs), result.duration_s, result.warnings)


def list_benchmarks(session: Session) -> tuple[ListedBenchmark, ...]:
    """Prepare what a session found for display, in the order in which it was found."""
    kinds = {Tier.LOCKSTEP: "python", Tier.INTERLEAVED: "command"}
    definitions = {d.id: d for arm in session.arms for d in session.recorder.definitions(arm)}
    return tuple(
        ListedBenchmark(id_, kinds[d.tier], d.location, d.tags)
        for id_ in session.ids
        for d in (definitions[id_],)
    )


def _view_run(arm: str, run: Run) -> RunView:
    shown = [b for b in run.benchmarks if b.id != CANARY_ID]
    return RunView(
        arm=arm,
        source=run.source,
        started=run.started,
        complete=run.complete,
        environment=run.environment,
        series=tuple(_view_series(b, s) for b in shown for s in b.series if s.launches),
        failures=tuple((b.id, b.error or "") for b in shown if b.status is Status.FAILED),
    )


def _view_series(benchmark: BenchmarkResult, series: Series) -> SeriesView:
    launches = [launch.samples for launch in series.launches]
    counts = [len(samples) for samples in launches]

    def typical(p: float) -> float:
        return float(np.median([float(nearest_rank(samples, p)) for samples in launches]))

    has_tail = min(counts) >= LEAST_TAIL_SAMPLES
    return SeriesView(
        benchmark=benchmark.id,
        metric=series.metric.name,
        unit=series.metric.unit,
        launches=len(launches),
        samples=int(np.median(counts)),
        loops=series.loops,
        p25=typical(0.25),
        median=typical(0.5),
        p95=typical(0.95) if has_tail else None,
        spread_ratio=_spread_ratio(series, launches),
        display_unit=benchmark.display_unit,
        notes=benchmark.notes,
    )


def _spread_ratio(series: Series, launches: list[np.typing.NDArray[np.float64]]) -> float | None:
    """Robust spread of the launches' p25, as a fraction of their median."""
    if len(launches) < _LEAST_LAUNCHES or series.metric.kind is Kind.EXACT:
        return None
    values = np.array([[float(nearest_rank(samples, 0.25)) for samples in launches]])
    middle = float(np.median(values))
    return float(robust_spread(values)[0]) / middle if middle else None

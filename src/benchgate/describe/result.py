"""The statistics of a whole result file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.describe.series import summarise
from benchgate.model.result import CANARY_ID, Status
from benchgate.model.statistics import Failure, ResultStatistics, RunStatistics

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchgate.model.result import Result, Run


def describe(result: Result, wanted: Callable[[str], bool] = lambda _: True) -> ResultStatistics:
    """Describe the benchmarks of a result, the head's run first.

    Args:
        wanted: whether the benchmark of an id is to be shown.
    """
    runs = [_describe_run("head", result.head, wanted)]
    if result.base is not None:
        runs.append(_describe_run("base", result.base, wanted))
    return ResultStatistics(tuple(runs), result.duration_s, result.warnings)


def _describe_run(arm: str, run: Run, wanted: Callable[[str], bool]) -> RunStatistics:
    shown = [b for b in run.benchmarks if b.id != CANARY_ID and wanted(b.id)]
    return RunStatistics(
        arm=arm,
        source=run.source,
        started=run.started,
        complete=run.complete,
        environment=run.environment,
        series=tuple(summarise(b, s) for b in shown for s in b.series if s.launches),
        failures=tuple(Failure(b.id, b.error or "") for b in shown if b.status is Status.FAILED),
    )

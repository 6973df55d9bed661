"""`benchgate show`: the statistics of a stored result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from benchgate.app.choice import nothing_chosen
from benchgate.describe.result import describe
from benchgate.errors import UsageError, did_you_mean
from benchgate.files import read_result
from benchgate.model.run import CANARY_IDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.app.choice import Choice
    from benchgate.describe.detail import DetailSettings
    from benchgate.model.run import Run
    from benchgate.model.statistics import ResultStatistics


def show(
    path: Path, choice: Choice, detail: DetailSettings | None, metrics: Sequence[str] = ()
) -> ResultStatistics:
    """Describe what was chosen of a result file.

    Args:
        detail: None for a line per series only.
        metrics: names of those that are wanted; none for all.

    Raises:
        UsageError: the file cannot be read, nothing in it is chosen, or none of the benchmarks
            chosen has a metric of such a name.
        FormatError: the file is no result, or damaged.
    """
    result = read_result(path)
    runs = [result.head] if result.base is None else [result.head, result.base]
    ids = {b.id for run in runs for b in run.benchmarks} - CANARY_IDS
    if ids and not any(choice.wants(id_, ()) for id_ in ids):
        raise nothing_chosen(choice, dict.fromkeys(ids, ()))
    chosen = [_choose(run, choice) for run in runs]
    if metrics:
        chosen = _with_metrics(chosen, metrics)
    base = chosen[1] if len(chosen) > 1 else None
    return describe(replace(result, head=chosen[0], base=base), detail)


def _choose(run: Run, choice: Choice) -> Run:
    return replace(run, benchmarks=tuple(b for b in run.benchmarks if choice.wants(b.id, ())))


def _with_metrics(runs: Sequence[Run], metrics: Sequence[str]) -> list[Run]:
    benchmarks = [b for run in runs for b in run.benchmarks if b.id not in CANARY_IDS]
    names = sorted({series.metric.name for b in benchmarks for series in b.series})
    for name in metrics:
        if name not in names:
            raise UsageError(
                f"none of the shown benchmarks has a metric {name!r}{did_you_mean(name, names)}",
                hint=f"Available: {', '.join(names) or 'none'}.",
            )
    return [
        replace(
            run,
            benchmarks=tuple(
                replace(b, series=tuple(s for s in b.series if s.metric.name in metrics))
                for b in run.benchmarks
            ),
        )
        for run in runs
    ]

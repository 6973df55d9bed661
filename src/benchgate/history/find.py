"""Makes the history of a suite from the rows of its runs."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.errors import UsageError, did_you_mean
from benchgate.gate.under_load import deciding_under_load
from benchgate.history.order import commit_order
from benchgate.history.trends import LEAST_BLOCKS, LEAST_RUNS_IN_ALL, block_size, find_trend
from benchgate.model.history import History, HistoryRun
from benchgate.model.metrics import THROUGHPUT, TIME
from benchgate.stats.changepoint import LONGEST_HISTORY
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.history.order import Commit
    from benchgate.history.query import Rows, StoredRun, StoredSeries
    from benchgate.model.history import Trend


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    """Which part of a history is wanted.

    Attributes:
        suite: its name; None for the only one.
        wants: whether a benchmark is wanted.
        metrics: names; none for those that usually decide.
        last: only so many of the newest runs; None for all.
        since: only runs of commits from this day on, as "2026-05-03"; "" for all.
        margin: the smallest change that matters, as a fraction.
    """

    suite: str | None = None
    wants: Callable[[str], bool] = lambda _: True
    metrics: tuple[str, ...] = ()
    last: int | None = None
    since: str = ""
    margin: float = 0.02


def find_history(
    rows: Rows,
    request: HistoryRequest,
    commits_of: Callable[[Iterable[str]], Mapping[str, Commit]],
    notes: Iterable[str] = (),
) -> History:
    """Put the runs in order, and find where each trend changed.

    Args:
        commits_of: gives the commits that the repository knows, by hash.
        notes: what a reader must know about the rows.

    Raises:
        UsageError: nothing is left, or the suite, benchmark or metric does not exist.
    """
    suite = _suite(rows, request.suite)
    stored = rows.runs(suite)
    commits = commits_of({run.sha for run in stored if run.sha})
    ordered = _chosen(commit_order(stored, commits), commits, request)
    if not ordered:
        raise UsageError(
            f"no run of the suite {suite!r} is left",
            hint="Use another --since, or none." if request.since else "",
        )
    names = _machine_names(ordered)
    runs = tuple(_history_run(run, commits, names) for run in ordered)
    conditions = [_parsed(run.conditions) for run in ordered]
    wanted = _wanted(rows, suite, request)
    found, unusable = rows.series([run.id for run in ordered], wanted)
    newest = _newest(found)
    trends = [
        find_trend(
            one,
            runs,
            conditions,
            margin=request.margin,
            machine=names[one.machine_key],
            ended=newest[_of(one)] != int(one.positions[-1]),
        )
        for one in found
    ]
    told = (*notes, *_notes(unusable, ordered, commits, trends))
    return History(suite=suite, runs=runs, trends=tuple(sorted(trends, key=_rank)), notes=told)


def _suite(rows: Rows, name: str | None) -> str:
    known = rows.suites()
    if name is None and len(known) == 1:
        return known[0]
    if name in known:
        return str(name)
    listed = ", ".join(known)
    if name is None:
        raise UsageError(f"there are runs of {len(known)} suites", hint=f"--suite NAME: {listed}.")
    raise UsageError(
        f"there are no runs of the suite {name!r}{did_you_mean(name, known)}",
        hint=f"Available: {listed}.",
    )


def _chosen(
    ordered: Sequence[StoredRun], commits: Mapping[str, Commit], request: HistoryRequest
) -> Sequence[StoredRun]:
    since = [run for run in ordered if _when(run, commits) >= request.since]
    return since[-request.last :] if request.last else since


def _when(run: StoredRun, commits: Mapping[str, Commit]) -> str:
    return commits[run.sha].committed if run.sha in commits else run.committed or run.started


def _machine_names(runs: Iterable[StoredRun]) -> dict[str, str]:
    """A name for each machine; machines of one name are told apart by their hash."""
    found = {run.machine_key: run.machine for run in runs}
    times = Counter(found.values())
    return {key: name if times[name] == 1 else f"{name} ({key})" for key, name in found.items()}


def _history_run(
    run: StoredRun, commits: Mapping[str, Commit], names: Mapping[str, str]
) -> HistoryRun:
    committed = commits[run.sha].committed if run.sha in commits else run.committed
    return HistoryRun(
        id=run.id,
        sha=run.sha,
        ref=run.ref,
        subject=run.subject or (commits[run.sha].subject if run.sha in commits else ""),
        started=run.started,
        machine=names[run.machine_key],
        url=run.url,
        committed=committed or None,
    )


def _parsed(conditions: str) -> dict[str, str]:
    try:
        found = json.loads(conditions)
    except (ValueError, RecursionError):
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _wanted(rows: Rows, suite: str, request: HistoryRequest) -> list[tuple[str, str]]:
    """The benchmarks and metrics that are wanted."""
    by_benchmark: dict[str, list[str]] = {}
    for benchmark, metric in rows.metrics(suite):
        if request.wants(benchmark):
            by_benchmark.setdefault(benchmark, []).append(metric)
    if not by_benchmark:
        raise UsageError("no benchmark matches --filter", hint="`benchgate history` lists them.")
    known = sorted({metric for metrics in by_benchmark.values() for metric in metrics})
    for name in request.metrics:
        if name not in known:
            raise UsageError(
                f"none of these benchmarks has a metric {name!r}{did_you_mean(name, known)}",
                hint=f"Available: {', '.join(known)}.",
            )
    return [
        (benchmark, metric)
        for benchmark, metrics in by_benchmark.items()
        for metric in (_usual(metrics) if not request.metrics else request.metrics)
        if metric in metrics
    ]


def _usual(metrics: Sequence[str]) -> Sequence[str]:
    """The metrics that decide unless the configuration names others."""
    if TIME.name in metrics:
        return (TIME.name,)
    if THROUGHPUT.name in metrics:
        return deciding_under_load((TIME.name,), metrics)
    return metrics


def _of(series: StoredSeries) -> tuple[str, ...]:
    return series.benchmark, series.metric, series.statistic, series.machine_key


def _newest(found: Iterable[StoredSeries]) -> dict[tuple[str, ...], int]:
    newest: dict[tuple[str, ...], int] = {}
    for one in found:
        newest[_of(one)] = max(newest.get(_of(one), 0), int(one.positions[-1]))
    return newest


def _rank(trend: Trend) -> tuple[int, str, str, str, str]:
    """Those that changed last come first; then by name."""
    last = -trend.points[trend.shifts[-1].point].run if trend.shifts else 1
    return last, trend.benchmark, trend.metric, trend.statistic, trend.machine


def _notes(
    unusable: int, runs: Sequence[StoredRun], commits: Mapping[str, Commit], trends: Sequence[Trend]
) -> list[str]:
    notes = []
    if unusable:
        notes.append(f"{counted(unusable, 'value')} left out: not a number, or too large")
    unknown = sum(run.sha not in commits for run in runs if run.sha)
    if commits and unknown:
        notes.append(
            f"this repository lacks the commits of {counted(unknown, 'run')} of {len(runs)}: they "
            "are ordered by date"
        )
    per_machine = Counter(run.machine_key for run in runs)
    if len(per_machine) > 1:
        notes.append(f"the runs are from {len(per_machine)} machines: each has trends of its own")
    if max(per_machine.values()) < LEAST_RUNS_IN_ALL:
        notes.append(
            f"changes can be found from {LEAST_RUNS_IN_ALL} runs on one machine on; there are at "
            f"most {max(per_machine.values())}"
        )
    if ended := sum(one.ended for one in trends):
        notes.append(f"{counted(ended, 'trend')} ended because the work of the benchmark changed")
    longest = max((len(one.points) for one in trends), default=0)
    if longest > LONGEST_HISTORY:
        notes.append(
            "among the older runs of a long trend, a change that lasted for less than about "
            f"{LEAST_BLOCKS * block_size(longest)} runs may be missed"
        )
    return notes

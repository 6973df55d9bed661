"""Makes the history of a suite: the trend of each series, and where it changed."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.errors import UsageError, did_you_mean
from benchgate.gate.under_load import deciding_under_load
from benchgate.history.adding import commit_order
from benchgate.history.record import EXACT
from benchgate.model.history_document import History, HistoryRun, Moved, Shift, Trend, TrendPoints
from benchgate.model.metrics import THROUGHPUT, TIME, Better
from benchgate.stats.changepoint import (
    DEFAULT_ALPHA,
    LEAST_EQUAL,
    LEAST_RUNS,
    LONGEST_HISTORY,
    change_points,
    count_changes,
)
from benchgate.stats.spread import robust_spread
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.history.adding import KnownCommit
    from benchgate.history.stored_rows import ListedRun, Rows, StoredSeries
    from benchgate.stats.changepoint import ChangePoint


LEAST_FOR_NOISE: Final = 5
LEAST_RUNS_IN_ALL: Final = 11
"""The fewest runs in which `change_points` finds a change at the usual alpha."""

# Newest runs that are farther from the level before than this many times the noise have moved.
_FAR: Final = 4.0
_LESS_KNOWN: Final = 8  # in six runs the noise is known less well
_LEAST_SIZE: Final = 1e-9
_NEWEST: Final = 200
_WINDOW: Final = 1000
_OVERLAP: Final = 100
_MOST_BLOCKS: Final = 5000
LEAST_BLOCKS: Final = 20
"""A level of so many values is found wherever it is; one of fewer values may be missed."""


def find_trend(
    series: StoredSeries,
    runs: Sequence[HistoryRun],
    conditions: Sequence[Mapping[str, str]],
    *,
    margin: float,
    machine: str,
    ended: bool,
) -> Trend:
    """Make the trend of a series.

    Args:
        runs: all runs, in order.
        conditions: of each run, the versions of what else may change the values.
        margin: the smallest change of the level that matters, as a fraction.
        ended: whether a newer series continues it.
    """
    values = series.values
    is_exact = series.statistic == EXACT
    find = (
        partial(count_changes, otherwise=changes_of_any_length)
        if is_exact
        else changes_of_any_length
    )
    kept = _that_matter(values, [(one.index, one) for one in find(values)], margin)
    edges = [0, *(index for index, _ in kept), len(values)]
    levels = [float(np.median(values[a:b])) for a, b in pairwise(edges)]
    positions = series.positions.tolist()
    better = Better(series.better)
    return Trend(
        benchmark=series.benchmark,
        metric=series.metric,
        statistic=series.statistic,
        unit=series.unit,
        better=better,
        display_unit=series.display_unit,
        machine=machine,
        points=TrendPoints(series.positions, values, series.low, series.high),
        shifts=tuple(
            Shift(
                point=index,
                p=one.p,
                before=before,
                after=after,
                ratio=_finite(after, before),
                worse=(after > before) is (better is Better.LOWER),
                last_before=runs[positions[index - 1]].sha,
                first_after=runs[positions[index]].sha,
                also=_changes(conditions[positions[index - 1]], conditions[positions[index]]),
            )
            for (index, one), (before, after) in zip(kept, pairwise(levels), strict=True)
        ),
        noise_ratio=_noise_ratio(values, edges, levels),
        workload=series.workload,
        ended=ended,
        too_short=len(values) < least_runs(series.statistic),
        moved=_moved(values[max(edges[-2], len(values) - _NEWEST) :], better, margin),
    )


def changes_of_any_length(values: FloatArray) -> tuple[ChangePoint, ...]:
    """Find the changes of a history of any length.

    One search cannot take all values of a long one. So the newest values are searched as they are,
    and medians of a few neighbors in windows over the whole history.
    """
    n = len(values)
    if n <= LONGEST_HISTORY:
        return change_points(values) if n else ()
    size = block_size(n)
    blocks = np.median(values[n % size :].reshape(-1, size), axis=1)
    starts = range(0, len(blocks) - _OVERLAP, _WINDOW - _OVERLAP)
    alpha = DEFAULT_ALPHA / (len(starts) + 1)  # of each search
    newest = n - _WINDOW
    found = [
        replace(one, index=_placed(values, n % size + (start + one.index) * size, size, one))
        for start in starts
        for one in change_points(blocks[start : start + _WINDOW], alpha=alpha)
    ]
    kept = _apart([one for one in found if one.index < newest + LEAST_RUNS], LEAST_RUNS * size // 2)
    later = change_points(values[newest:], alpha=alpha)
    kept += [replace(one, index=one.index + newest) for one in later]
    return tuple(_apart(kept, LEAST_RUNS))


def block_size(count: int) -> int:
    """How many neighbors are taken together in a history that is longer than LONGEST_HISTORY."""
    return max(5, -(-count // _MOST_BLOCKS))


def _apart(changes: Sequence[ChangePoint], least: int) -> list[ChangePoint]:
    """Leave out what is the same change again, because two searches found it."""
    kept: list[ChangePoint] = []
    for one in sorted(changes, key=lambda one: one.index):
        if kept and one.index - kept[-1].index < least:
            kept[-1] = min(kept[-1], one, key=lambda change: change.p)
        else:
            kept.append(one)
    return kept


def _placed(values: FloatArray, about: int, size: int, change: ChangePoint) -> int:
    """Where near a place the values go from one level to the other."""
    low, high = max(1, about - size), min(len(values) - 1, about + size)
    near = values[low:high]
    from_before = np.abs(near - change.before) - np.abs(near - change.after)
    return low + int(np.argmin(np.concatenate([[0.0], np.cumsum(from_before)])))


def least_runs(statistic: str) -> int:
    """The fewest runs in which a change can be found."""
    return 2 * LEAST_EQUAL if statistic == EXACT else LEAST_RUNS_IN_ALL


def _moved(stretch: FloatArray, better: Better, margin: float) -> Moved | None:
    """Say whether the newest values since the last change are away from the others.

    Where they begin is where two levels fit the values best.
    """
    n = len(stretch)
    if n <= LEAST_FOR_NOISE:
        return None
    # In a long stretch, what only the first runs did was long ago.
    first = 2 if n < 2 * LEAST_RUNS_IN_ALL else n - 2 * LEAST_RUNS
    at = min(range(first, n), key=lambda at: _misfit(stretch[:at]) + _misfit(stretch[at:]))
    old, new = stretch[:at], stretch[at:]
    before, after = float(np.median(old)), float(np.median(new))
    noise = float(robust_spread(max(old, new, key=len)[np.newaxis])[0])
    apart = (new - before) * np.sign(after - before)
    far = _FAR * (1 + _LESS_KNOWN / n)
    if apart.min() < far * noise or _size(before, after) < max(margin, _LEAST_SIZE):
        return None
    return Moved(
        runs=n - at,
        ratio=_finite(after, before),
        worse=(after > before) is (better is Better.LOWER),
    )


def _misfit(values: FloatArray) -> float:
    return float(np.abs(values - np.median(values)).sum())


def _that_matter(
    values: FloatArray, found: Sequence[tuple[int, ChangePoint]], margin: float
) -> list[tuple[int, ChangePoint]]:
    """Leave out the changes between levels that differ by less than the margin, least first."""
    kept = list(found)
    while kept:
        edges = [0, *(index for index, _ in kept), len(values)]
        levels = [float(np.median(values[a:b])) for a, b in pairwise(edges)]
        sizes = [_size(before, after) for before, after in pairwise(levels)]
        least = int(np.argmin(sizes))
        if sizes[least] >= margin:
            break
        del kept[least]
    return kept


def _size(before: float, after: float) -> float:
    """How far two levels are apart, as a fraction of the lower one."""
    if before == after:
        return 0.0
    lower, higher = sorted((abs(before), abs(after)))
    return abs(after - before) / lower if lower and higher / lower < 1e9 else float("inf")


def _finite(after: float, before: float) -> float | None:
    ratio = after / before if before else float("inf")
    return ratio if np.isfinite(ratio) else None


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """What else differs between two runs."""
    names = sorted(before.keys() | after.keys())
    told = [(name, before.get(name, "absent"), after.get(name, "absent")) for name in names]
    return tuple(f"{name}: {old!r} and {new!r}" for name, old, new in told if old != new)


def _noise_ratio(values: FloatArray, edges: Sequence[int], levels: Sequence[float]) -> float | None:
    """The spread of the values around their levels, as a fraction of these."""
    if len(values) < LEAST_FOR_NOISE or not all(levels):
        return None
    about = np.concatenate(
        [values[a:b] / level - 1 for (a, b), level in zip(pairwise(edges), levels, strict=True)]
    )
    if not np.isfinite(about).all():
        return None
    return float(robust_spread(about[np.newaxis])[0])


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    """Which part of a history is wanted.

    Attributes:
        suite: its name; None for the only one.
        wants: whether a benchmark is wanted.
        none_of: the error if none of these benchmarks is.
        metrics: names; none for those that usually decide.
        last: only so many of the newest runs; None for all.
        since: only runs of commits from this day on, as "2026-05-03"; "" for all.
        margin: the smallest change that matters, as a fraction.
    """

    suite: str | None = None
    wants: Callable[[str], bool] = lambda _: True
    none_of: Callable[[Sequence[str]], UsageError] = lambda _: UsageError("no benchmark matches")
    metrics: tuple[str, ...] = ()
    last: int | None = None
    since: str = ""
    margin: float = 0.02


def find_history(
    rows: Rows,
    request: HistoryRequest,
    commits_of: Callable[[Iterable[str]], Mapping[str, KnownCommit]],
    notes: Iterable[str] = (),
) -> History:
    """Put the runs in order, and find where each trend changed.

    Args:
        commits_of: gives the commits that the repository knows, by hash.
        notes: what a reader must know about the rows.
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
    ordered: Sequence[ListedRun], commits: Mapping[str, KnownCommit], request: HistoryRequest
) -> Sequence[ListedRun]:
    since = [run for run in ordered if _when(run, commits) >= request.since]
    return since[-request.last :] if request.last else since


def _when(run: ListedRun, commits: Mapping[str, KnownCommit]) -> str:
    return commits[run.sha].committed if run.sha in commits else run.committed or run.started


def _machine_names(runs: Iterable[ListedRun]) -> dict[str, str]:
    """A name for each machine; machines of one name are told apart by their hash."""
    found = {run.machine_key: run.machine for run in runs}
    times = Counter(found.values())
    return {key: name if times[name] == 1 else f"{name} ({key})" for key, name in found.items()}


def _history_run(
    run: ListedRun, commits: Mapping[str, KnownCommit], names: Mapping[str, str]
) -> HistoryRun:
    known = commits.get(run.sha)
    return HistoryRun(
        id=run.id,
        sha=run.sha,
        ref=run.ref,
        subject=run.subject or (known.subject if known else ""),
        started=run.started,
        machine=names[run.machine_key],
        url=run.url,
        committed=(known.committed if known else run.committed) or None,
        author=known.author if known else "",
    )


def _parsed(conditions: str) -> dict[str, str]:
    try:
        found = json.loads(conditions)
    except (ValueError, RecursionError):
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _wanted(rows: Rows, suite: str, request: HistoryRequest) -> list[tuple[str, str]]:
    """The benchmarks and metrics that are wanted."""
    every: dict[str, list[str]] = {}
    for benchmark, metric in rows.metrics(suite):
        every.setdefault(benchmark, []).append(metric)
    by_benchmark = {one: metrics for one, metrics in every.items() if request.wants(one)}
    if not by_benchmark:
        raise request.none_of(list(every))
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
    unusable: int,
    runs: Sequence[ListedRun],
    commits: Mapping[str, KnownCommit],
    trends: Sequence[Trend],
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

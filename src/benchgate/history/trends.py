"""Makes the trend of a series: its points, where they changed, and how noisy they are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.history.record import EXACT
from benchgate.model.history import Moved, Shift, Trend, TrendPoints
from benchgate.model.run import Better
from benchgate.stats.changepoint import (
    DEFAULT_ALPHA,
    LEAST_EQUAL,
    LEAST_RUNS,
    LONGEST_HISTORY,
    change_points,
    count_changes,
)
from benchgate.stats.spread import robust_spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.history.query import StoredSeries
    from benchgate.model.history import HistoryRun
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

"""Makes the trend of a series: its points, where they changed, and how noisy they are."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from benchgate.history.record import EXACT
from benchgate.model.history import Shift, Trend, TrendPoint
from benchgate.model.run import Better
from benchgate.stats.changepoint import LONGEST_HISTORY, change_points, count_changes
from benchgate.stats.spread import robust_spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.arrays import FloatArray
    from benchgate.history.query import StoredSeries
    from benchgate.model.history import HistoryRun
    from benchgate.stats.changepoint import ChangePoint

LEAST_FOR_NOISE: Final = 5


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
    skipped = max(0, len(values) - LONGEST_HISTORY)
    find = count_changes if series.statistic == EXACT else change_points
    found = find(values[skipped:]) if len(values) else ()
    kept = _that_matter(values, [(one.index + skipped, one) for one in found], margin)
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
        points=tuple(
            TrendPoint(*point)
            for point in zip(
                positions,
                values.tolist(),
                series.low.tolist(),
                series.high.tolist(),
                strict=True,
            )
        ),
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
    )


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

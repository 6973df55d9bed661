"""Computes what the figures of a scenario's step show: its course, and its latencies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from benchgate.describe.launches import mean_of_launches
from benchgate.describe.loads import histogram_of
from benchgate.interval import CONFIDENCE
from benchgate.model.figures import LatencyBar, LoadArm, LoadFigures
from benchgate.stats.quantiles import small_sample_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.arrays import FloatArray
    from benchgate.model.load import LoadLaunch, LoadResult

_Course: TypeAlias = tuple[tuple[float, ...], tuple[float, ...], tuple[float | None, ...]]

_PERCENTILES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
# A rate over a small part of a window says little.
_LEAST_PART: Final = 0.5


def load_figures(
    benchmark: str, base: LoadResult | None, head: LoadResult | None, points: int, *, seed: int
) -> LoadFigures | None:
    """Compute the figures of a step; None if it was not launched.

    Args:
        points: how many values a course may have.
        seed: of the bootstrap.

    Raises:
        FormatError: a histogram is damaged.
    """
    known = [one for one in (base, head) if one and one.launches]
    if not known:
        return None
    width_s = max(launch.windows.width_s for one in known for launch in one.launches)
    longest = max(len(launch.windows.ops) for one in known for launch in one.launches)
    joined = max(1, math.ceil(longest / points))

    def arm(one: LoadResult | None) -> LoadArm | None:
        if one is None or not one.launches:
            return None
        course = _in_line(one.launches) if longest == 1 else _over(one.launches, width_s, joined)
        return LoadArm(len(one.launches), *course, _latencies(benchmark, one.launches, seed))

    return LoadFigures(width_s * joined, arm(base), arm(head), in_line=longest == 1)


def _over(launches: Sequence[LoadLaunch], width_s: float, joined: int) -> _Course:
    """The course of a launch: each value is the mean or median over the launches."""
    # Launches are of one length; one with wider windows has no value of its own where others have.
    regular = [one for one in launches if one.windows.width_s == width_s]
    length = max(len(one.windows.ops) for one in regular)
    rates = np.full((len(regular), length), math.nan)
    p95 = np.full((len(regular), length), math.nan)
    for index, one in enumerate(regular):
        found = _rates(one)
        count = len(found)
        if one.windows.last_s < _LEAST_PART * width_s:
            count = max(1, count - 1)
        rates[index, :count] = found[:count]
        p95[index, :count] = _p95_s(one)[:count]
    course: tuple[list[float], list[float], list[float | None]] = ([], [], [])
    for start in range(0, length, joined):
        part = slice(start, start + joined)
        rate = _known(rates[:, part])
        if not len(rate):
            continue
        slow = _known(p95[:, part])
        course[0].append((start + min(joined, length - start) / 2) * width_s)
        course[1].append(float(rate.mean()))
        course[2].append(float(np.median(slow)) if len(slow) else None)
    return tuple(course[0]), tuple(course[1]), tuple(course[2])


def _in_line(launches: Sequence[LoadLaunch]) -> _Course:
    """One value for each launch, which has one window, at the time that was measured until then."""
    ends = np.cumsum([one.duration_s for one in launches])
    middles = [end - one.duration_s / 2 for end, one in zip(ends, launches, strict=True)]
    slow = [_p95_s(one)[:1] for one in launches]
    return (
        tuple(map(float, middles)),
        tuple(float(_rates(one)[0]) if one.windows.ops else 0.0 for one in launches),
        tuple(float(x[0]) if len(x) and not math.isnan(x[0]) else None for x in slow),
    )


def _rates(one: LoadLaunch) -> FloatArray:
    widths = np.full(len(one.windows.ops), one.windows.width_s)
    widths[-1:] = one.windows.last_s or one.windows.width_s
    found: FloatArray = np.array(one.windows.ops) / widths
    return found


def _p95_s(one: LoadLaunch) -> FloatArray:
    return np.array([math.nan if ns is None else ns / 1e9 for ns in one.windows.p95_ns])


def _known(values: FloatArray) -> FloatArray:
    found: FloatArray = values[~np.isnan(values)]
    return found


def _latencies(benchmark: str, launches: Sequence[LoadLaunch], seed: int) -> tuple[LatencyBar, ...]:
    """The percentiles that a launch has enough operations for; p50 always, if there are any."""
    found = [histogram_of(benchmark, launch) for launch in launches]
    filled = [one for one in found if one.count]
    if not filled:
        return ()
    fewest = min(one.count for one in filled)
    bars = []
    for name, p in _PERCENTILES.items():
        if small_sample_note(fewest, p) and name != "p50":
            continue
        values = np.array([one.percentile(p) or 0 for one in filled]) / 1e9
        mean = mean_of_launches(values, CONFIDENCE, seed=seed)
        ends = mean.interval
        bars.append(
            LatencyBar(name, mean.mean, ends.low if ends else None, ends.high if ends else None)
        )
    return tuple(bars)

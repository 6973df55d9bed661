"""Compares the launches of a benchmark in each lane with those that were measured alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchgate.describe.series import launch_values, spread_ratio
from benchgate.model.run import Kind
from benchgate.model.statistics import LaneStatistics
from benchgate.stats.spread import robust_spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.model.launches import Launch
    from benchgate.model.run import Series

_LEAST_PAIRS = 2


def compare_lanes(series: Series, other: Series | None) -> tuple[LaneStatistics, ...]:
    """Describe each lane of a series of times; nothing if there is only one.

    Args:
        other: the same metric on the other side, measured in turn; None if there is none.
    """
    if series.metric.kind is not Kind.SAMPLED or series.metric.unit != "s":
        return ()
    lanes = sorted({launch.lane for launch in series.launches}, key=lambda x: (x is not None, x))
    if len(lanes) < 2:
        return ()
    return tuple(
        _describe(lane, [one for one in series.launches if one.lane == lane], other)
        for lane in lanes
    )


def _describe(lane: int | None, launches: Sequence[Launch], other: Series | None) -> LaneStatistics:
    typical = launch_values([launch.samples for launch in launches], 0.25)
    return LaneStatistics(
        lane=lane,
        launches=len(launches),
        p25=float(np.median(typical)),
        spread_ratio=spread_ratio(typical),
        pair_spread_ratio=_pair_spread(launches, other) if other else None,
    )


def _pair_spread(launches: Sequence[Launch], other: Series) -> float | None:
    beside = {launch.round: launch for launch in other.launches}
    pairs = [(one, beside[one.round]) for one in launches if one.round in beside]
    if len(pairs) < _LEAST_PAIRS:
        return None
    own, theirs = (
        launch_values([launch.samples for launch in side], 0.25)
        for side in zip(*pairs, strict=True)
    )
    if min(own.min(), theirs.min()) <= 0:
        return None
    return float(robust_spread((np.log(own) - np.log(theirs))[None, :])[0])

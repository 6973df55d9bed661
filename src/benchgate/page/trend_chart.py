"""Makes the chart of a trend: its values in commit order, and where they changed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from benchgate.page.charts import Axis, Chart, Draw, Look, Mark, Plotted
from benchgate.page.scale import scale_of
from benchgate.report.escape import plain_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchgate.model.history import HistoryRun, Trend, TrendPoint
    from benchgate.page.scale import Scale
    from benchgate.report.history_view import ShiftView, TrendView

MOST_POINTS: Final = 100_000
"""Of all charts of a page together: about 3 MB."""

_LEAST_POINTS: Final = 100
_AROUND_SHIFT: Final = 5
_NEWEST: Final = 30
_MOST_SYMBOLS: Final = 80
_LONG_LABELS: Final = 1
_SHA_LENGTH: Final = 7
_NAME_LIMIT: Final = 72


def axis_of(runs: Sequence[HistoryRun]) -> Axis:
    """The axis of runs, which all charts of a history share."""
    return Axis("run, the newest on the right", names=tuple(map(_name, runs)), whole=True)


def points_per_chart(charts: int) -> int:
    """How many points a chart may have if there are so many charts."""
    return max(_LEAST_POINTS, MOST_POINTS // max(1, charts))


def thinned(trend: Trend, limit: int) -> tuple[int, ...]:
    """The points to draw, by index, ascending: about `limit`, or all if they are no more.

    The newest ones, and those on both sides of a change, are kept. Of the others, the lowest and
    the highest of equal groups are kept, so that no outlier disappears.
    """
    count = len(trend.points)
    if count <= limit:
        return tuple(range(count))
    kept = {0, *range(count - _NEWEST, count)}
    for shift in trend.shifts:
        around = range(shift.point - _AROUND_SHIFT, shift.point + _AROUND_SHIFT)
        kept.update(index for index in around if 0 <= index < count)
    others = [index for index in range(count) if index not in kept]
    groups = max(1, (limit - len(kept)) // 2)
    size = max(2, math.ceil(len(others) / groups))
    values = trend.values()
    for start in range(0, len(others), size):
        group = others[start : start + size]
        kept.add(min(group, key=values.__getitem__))
        kept.add(max(group, key=values.__getitem__))
    return tuple(sorted(kept))


def chart_of(view: TrendView, axis: Axis, shown: Sequence[int]) -> Chart:
    """The chart of a trend.

    Args:
        shown: the points to draw, by index.
    """
    trend = view.trend
    points = [trend.points[index] for index in shown]
    largest = max(max(abs(one.low), abs(one.high), abs(one.value)) for one in points)
    scale = scale_of(largest, trend.unit, trend.display_unit or None)
    metric = plain_line(trend.metric, _NAME_LIMIT)
    label = f"{metric} ({scale.name})" if scale.name else metric
    return Chart(
        title=f"{metric} of each run",
        x=axis,
        y=Axis(label),
        series=(_values(points, scale), *_levels(trend, scale)),
        vertical=tuple(
            Mark(trend.points[one.point].run, _label(one, view.shifts), strong=True)
            for one in reversed(view.shifts)
        ),
        zooms=True,
    )


def _values(points: Sequence[TrendPoint], scale: Scale) -> Plotted:
    has_band = any(one.low != one.high for one in points)
    return Plotted(
        name="median, with the middle half of the launches" if has_band else "value",
        draw=Draw.POINTS if len(points) <= _MOST_SYMBOLS else Draw.LINE,
        look=Look.BASE,
        x=tuple(one.run for one in points),
        y=_scaled([one.value for one in points], scale),
        low=_scaled([one.low for one in points], scale) if has_band else (),
        high=_scaled([one.high for one in points], scale) if has_band else (),
        band=has_band,
    )


def _levels(trend: Trend, scale: Scale) -> tuple[Plotted, ...]:
    """The level between changes; none if nothing changed."""
    if not trend.shifts:
        return ()
    starts = [0, *(one.point for one in trend.shifts)]
    levels = [trend.shifts[0].before, *(one.after for one in trend.shifts)]
    last = len(trend.points) - 1
    if starts[-1] != last:
        starts, levels = [*starts, last], [*levels, levels[-1]]
    return (
        Plotted(
            name="level",
            draw=Draw.STEP,
            look=Look.HEAD,
            x=tuple(trend.points[index].run for index in starts),
            y=_scaled(levels, scale),
            dashed=True,
        ),
    )


def _scaled(values: Sequence[float], scale: Scale) -> tuple[float | None, ...]:
    return tuple(one if math.isfinite(one) else None for one in map(scale.value, values))


def _label(shift: ShiftView, among: Sequence[ShiftView]) -> str:
    """The change, with its word if there is room: if it is the only one."""
    return shift.change if len(among) <= _LONG_LABELS else shift.size


def _name(run: HistoryRun) -> str:
    day = (run.committed or run.started).partition("T")[0]
    parts = (plain_line(run.sha)[:_SHA_LENGTH], day, plain_line(run.subject, _NAME_LIMIT))
    return " ".join(filter(None, parts))

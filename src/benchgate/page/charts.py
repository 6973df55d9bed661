"""What a chart shows, as the browser draws it: every number is already in the unit of its axis."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from benchgate.escape import plain_line
from benchgate.model.redact import redacted
from benchgate.report.drawing import heights
from benchgate.report.history_table import describe_commit, run_day, short
from benchgate.units import TIME_UNITS, axis_scale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.model.history_document import HistoryRun, Trend, TrendPoint
    from benchgate.report.history_table import ShiftView, TrendView


_SHARED: Final = frozenset({"title", "caption", "x", "y", "right"})


class Draw(StrEnum):
    """How a series is drawn."""

    LINE = "line"
    STEP = "step"
    POINTS = "points"
    BARS = "bars"


class Look(StrEnum):
    """The color and the symbol of a series; the two never depend on each other's being seen."""

    BASE = "base"
    HEAD = "head"
    THIRD = "third"
    FOURTH = "fourth"


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis.

    Attributes:
        label: what it shows, with its unit in parentheses at the end: "time (ms)". The readout
            takes the unit from it.
        categories: names instead of numbers; the values of the axis are then 0, 1, 2 and so on.
        names: of 0, 1, 2 and so on in the readout and the table, for charts that share an axis.
        ticks: short names of these for the axis itself, with a second line: ("1a2b3c4", "May 3").
        links: what a click on each of these opens; "" for nothing.
        from_zero: whether it begins at 0.
        whole: whether only whole numbers make sense.
        log: whether it is logarithmic; all values are then above 0. Only an axis of y can be.
    """

    label: str
    categories: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    ticks: tuple[tuple[str, str], ...] = ()
    links: tuple[str, ...] = ()
    from_zero: bool = False
    whole: bool = False
    log: bool = False


@dataclass(frozen=True, slots=True)
class Plotted:
    """One series of a chart.

    Attributes:
        x: ascending; see `y`.
        y: as many values as `x`; None leaves a gap. A step holds until the next x.
        low, high: ends of an interval around each y, or () for none.
        band: whether the interval is a band behind the line instead of a bar at each point.
        width: of a bar, in the unit of x; 0 shares the place among the series.
        right: whether it belongs to the axis on the right; its line then has dots.
        dashed: for lines that must differ without color.
    """

    name: str
    draw: Draw
    look: Look
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    band: bool = False
    width: float = 0.0
    right: bool = False
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across the chart, or a band.

    Attributes:
        at: the x of a vertical mark, or the y of a horizontal one.
        label: beside a vertical mark; in the legend for a horizontal one.
        strong: whether it is what the reader looks for, such as a change point.
        to: the other end of a band, which only a horizontal mark can be.
    """

    at: float
    label: str
    strong: bool = False
    to: float | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart.

    Attributes:
        title: a few words.
        caption: what it shows, in a sentence for those who do not see it; "" if the template says
            it.
        right: the second axis of y; None for none.
        vertical, horizontal: marks.
        labels: a name for each x of the first series in the readout and the table, such as a
            commit; () to show x itself.
        zooms: whether a reader may look at a part of it.
        view, view_y: the part of an axis that is shown at first; () for all of it. A point beyond
            it is an arrow at the edge.
    """

    title: str
    x: Axis
    y: Axis
    series: tuple[Plotted, ...]
    right: Axis | None = None
    vertical: tuple[Mark, ...] = ()
    horizontal: tuple[Mark, ...] = ()
    labels: tuple[str, ...] = ()
    zooms: bool = False
    view: tuple[float, ...] = ()
    view_y: tuple[float, ...] = ()
    caption: str = ""


def without_secrets(chart: Chart, redact: Callable[[str], str]) -> Chart:
    """The same chart with every text redacted; its many numbers hold no secrets."""
    texts = ("title", "caption", "x", "y", "right", "vertical", "horizontal", "labels")
    series = tuple(replace(one, name=redact(one.name)) for one in chart.series)
    redacted_texts = {name: redacted(getattr(chart, name), redact) for name in texts}
    return replace(chart, series=series, **redacted_texts)


def packed(charts: Mapping[str, Chart]) -> dict[str, Any]:
    """What the browser reads: without what is empty, and with each axis and text only once.

    Charts of many benchmarks differ only in their numbers, and their texts would be most of the
    page. "shared" has each text and axis, and a chart has its index. A series without "x" has that
    of the first one, and one without "low" has "y" in its place if it has "high".
    """
    shared: dict[str, int] = {}
    found = {}
    for key, chart in charts.items():
        parts = _plain(chart)
        for name in sorted(_SHARED & parts.keys()):  # a page is the same each time
            text = json.dumps(parts[name])
            parts[name] = shared.setdefault(text, len(shared))
        first, *others = parts["series"]
        for one in others:
            if one["x"] == first["x"]:
                del one["x"]
        for one in parts["series"]:
            if one.get("low") == one["y"]:
                del one["low"]
        found[key] = parts
    return {"shared": [json.loads(text) for text in shared], "charts": found}


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Dataclasses as objects, without what is empty."""
    if is_dataclass(value):
        kept = ((one.name, _plain(getattr(value, one.name))) for one in fields(value))
        return {name: one for name, one in kept if one or isinstance(one, float)}
    if isinstance(value, tuple) and value and is_dataclass(value[0]):
        return [_plain(one) for one in value]
    return value


@dataclass(frozen=True, slots=True)
class Scale:
    """The unit of an axis.

    Attributes:
        size: of one step, in base units.
        name: "ms"; "" for plain counts.
    """

    size: float
    name: str

    def values(self, numbers: Iterable[float]) -> tuple[float, ...]:
        """Numbers in base units as numbers of the axis."""
        return tuple(map(self.value, numbers))

    def value(self, number: float) -> float:
        return float(f"{number / self.size:.5g}")


def scale_of(largest: float, unit: str, display_unit: str | None = None) -> Scale:
    """The unit for values of about this size; percentages for an error rate, which has "%"."""
    if unit == "%":
        return Scale(0.01, "%")
    known = display_unit if display_unit in TIME_UNITS else None
    return Scale(*axis_scale(largest, plain_line(unit), known))


WIDTH: Final = 120
HEIGHT: Final = 24
_MOST_POINTS: Final = 60
_ROOM: Final = 3


def spark(values: Sequence[float]) -> tuple[str, float, float]:
    """The `d` of an SVG path, and where its last point is.

    Args:
        values: finite, at least one.
    """
    shown = [height for height in heights(values, _MOST_POINTS) if height is not None]
    step = (WIDTH - 2 * _ROOM) / max(1, len(shown) - 1)
    points = [
        (_ROOM + index * step, HEIGHT - _ROOM - height * (HEIGHT - 2 * _ROOM))
        for index, height in enumerate(shown)
    ]
    x, y = points[-1]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points), round(x, 1), round(y, 1)


MOST_POINTS: Final = 100_000
"""Of all charts of a page together: about 3 MB."""

_LEAST_POINTS: Final = 100
_AROUND_SHIFT: Final = 5
_NEWEST: Final = 30
_MOST_SYMBOLS: Final = 80
_LONG_LABELS: Final = 1
_NAME_LIMIT: Final = 72


_SHA: Final = re.compile(r"[0-9a-f]{7,64}")


def compare_address(repository: str, before: str, after: str) -> str:
    """The page that compares two commits, or shows the only one that is known; "" for none.

    Args:
        repository: address of the repository; "" if it is not known.
        before, after: commits, which may hold any text.
    """
    if not repository or not _SHA.fullmatch(after):
        return ""
    if not _SHA.fullmatch(before) or before == after:
        return f"{repository}/commit/{after}"
    return f"{repository}/compare/{before}...{after}"


def axis_of(runs: Sequence[HistoryRun], repository: str) -> Axis:
    """The axis of runs, which all charts of a history share.

    Args:
        repository: as for `compare_address`.
    """
    days = [run_day(run) for run in runs]
    links = tuple(compare_address(repository, "", run.sha) for run in runs)
    names = zip(map(describe_commit, runs), days, strict=True)
    return Axis(
        "commit, the newest on the right",
        names=tuple(", ".join(filter(None, name)) for name in names),
        ticks=tuple(zip((short(run.sha) for run in runs), days, strict=True)),
        links=links if any(links) else (),
        whole=True,
    )


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
            Mark(trend.points[data.point].run, _label(one, view.shifts), strong=True)
            for one, data in zip(reversed(view.shifts), trend.shifts, strict=True)
        ),
        zooms=True,
    )


def _values(points: Sequence[TrendPoint], scale: Scale) -> Plotted:
    has_band = any(one.low != one.high for one in points)
    return Plotted(
        name="value",
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

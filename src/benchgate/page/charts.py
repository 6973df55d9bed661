"""What a chart shows, as the browser draws it: every number is already in the unit of its axis."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from benchgate.model.redact import redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
        label: what it shows, with its unit: "time of one operation (ms)".
        categories: names instead of numbers; the values of the axis are then 0, 1, 2 and so on.
        names: of 0, 1, 2 and so on in the readout and the table, for charts that share an axis.
        from_zero: whether it begins at 0.
        whole: whether only whole numbers make sense.
        log: whether it is logarithmic; all values are then above 0. Only an axis of y can be.
    """

    label: str
    categories: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
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
        right: whether it belongs to the axis on the right.
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
    """A line across the chart.

    Attributes:
        at: the x of a vertical mark, or the y of a horizontal one.
        strong: whether it is what the reader looks for, such as a change point.
    """

    at: float
    label: str
    strong: bool = False


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
        view: the part of the x axis that is shown at first, if it zooms; () for all of it.
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
        for name in _SHARED & parts.keys():
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

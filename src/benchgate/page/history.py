"""Writes the history of a project as a page of HTML."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.page.commits import compare_address
from benchgate.page.frame import render
from benchgate.page.spark import HEIGHT, WIDTH, spark
from benchgate.page.trend_chart import axis_of, chart_of, points_per_chart, thinned
from benchgate.report.history_view import Direction, view_history

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.model.history import History
    from benchgate.page.charts import Chart
    from benchgate.report.history_view import HistoryView, ShiftView, TrendView

STYLE: Final = ("trends.css",)
SPARK: Final = (WIDTH, HEIGHT)
_WORDS: Final = {
    Direction.WORSE: "worse",
    Direction.BETTER: "better",
    Direction.MOVED: "not confirmed",
    Direction.UNKNOWN: "too few runs",
    Direction.NONE: "unchanged",
}


@dataclass(frozen=True, slots=True)
class ShiftLine:
    """A change, with the address of the page that shows its commits; "" if there is none."""

    view: ShiftView
    address: str


@dataclass(frozen=True, slots=True)
class TrendSection:
    """A trend.

    Attributes:
        key: its place in the page, for links.
        spark: the `d` of a path, and where its last point is.
        shifts: the newest first.
    """

    key: str
    view: TrendView
    spark: tuple[str, float, float]
    shifts: tuple[ShiftLine, ...]

    @property
    def noise(self) -> str:
        """How much runs differ, as a sentence."""
        if not self.view.noise:
            return "There are too few runs to know how much they differ without a change."
        return (
            f"Noise: about two of three runs lie within {self.view.noise} of their level, without "
            "any change."
        )


@dataclass(frozen=True, slots=True)
class MachineSection:
    """The trends of a machine."""

    name: str
    runs: str
    trends: tuple[TrendSection, ...]


def machine_sections(view: HistoryView, repository: str) -> tuple[MachineSection, ...]:
    """The trends of each machine, as pages show them.

    Args:
        repository: address of the repository on its host; "" if it is not known.
    """
    found = []
    number = 0
    for machine in view.machines:
        sections = []
        for one in machine.trends:
            number += 1
            lines = zip(one.shifts, reversed(one.trend.shifts), strict=True)
            shifts = tuple(
                ShiftLine(shown, compare_address(repository, data.last_before, data.first_after))
                for shown, data in lines
            )
            sections.append(TrendSection(f"t{number}", one, spark(one.values), shifts))
        found.append(MachineSection(machine.name, machine.runs, tuple(sections)))
    return tuple(found)


def render_history_page(
    history: History, *, repository: str = "", nav: Iterable[tuple[str, str]] = ()
) -> str:
    """Write the page.

    Args:
        history: without secrets.
        repository: address of the repository on its host, for links; "" if it is not known.
        nav: text and address of links to other pages.

    Raises:
        UsageError: Jinja2 is not installed.
    """
    view = view_history(history)
    machines = machine_sections(view, repository)
    sections = [one for machine in machines for one in machine.trends]
    axis = axis_of(history.runs)
    limit = points_per_chart(len(sections))
    charts: dict[str, Chart] = {}
    captions: dict[str, str] = {}
    for one in sections:
        shown = thinned(one.view.trend, limit)
        charts[one.key] = chart_of(one.view, axis, shown)
        captions[one.key] = _caption(one.view, len(shown))
    return render(
        "history.html",
        title=f"History: {view.title}",
        figures=charts,
        nav=nav,
        extra_style=STYLE,
        extra_script=("trends.js",),
        view=view,
        machines=machines,
        captions=captions,
        counts=_counts(sections),
        aside=sum(not one.view.is_shown for one in sections),
        spark_size=SPARK,
    )


def _counts(sections: Iterable[TrendSection]) -> list[tuple[str, str, int]]:
    """How many trends got worse, better, or neither at their last change, with a word for each."""
    found = Counter(one.view.direction for one in sections if one.view.is_shown)
    always = {Direction.WORSE, Direction.BETTER, Direction.NONE}
    return [
        (direction.value, word, found[direction])
        for direction, word in _WORDS.items()
        if found[direction] or direction in always
    ]


def _caption(view: TrendView, shown: int) -> str:
    """What the chart shows, for those who see it and those who do not."""
    count = len(view.trend.points)
    parts = [f"The latest value is {view.latest}."]
    if view.shifts:
        one = len(view.shifts) == 1
        lines = "line marks the change:" if one else "lines mark changes; the last one is"
        parts.append(f"The vertical {lines} {view.shifts[0].sentence}.")
    elif view.trend.too_short:
        parts.append(f"There are too few runs, {count}, to tell whether it changed.")
    else:
        parts.append(f"No change was found in {view.runs}.")
    if view.moved:
        parts.append(f"{view.moved[0].upper()}{view.moved[1:]}.")
    if shown < count:
        parts.append(
            f"Of {count:,} runs, {shown:,} are drawn: the newest ones, those around changes, and "
            "the lowest and the highest of each group of the others."
        )
    return " ".join(parts)

"""Writes the history of a project as a page of HTML, and the files of a site."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.page.charts import HEIGHT, WIDTH, axis_of, chart_of, points_per_chart, spark, thinned
from benchgate.page.frame import render
from benchgate.report.history import (
    Direction,
    badge_of,
    render_endpoint,
    view_history,
)
from benchgate.report.view import view_verdict, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchgate.model.history import History
    from benchgate.model.verdict import Verdict
    from benchgate.page.charts import Chart
    from benchgate.report.history import HistoryView, ShiftView, TrendView


_SHA: Final = re.compile(r"[0-9a-f]{7,64}")


def compare_address(repository: str, before: str, after: str) -> str:
    """The page that compares two commits, or shows the only one that is known; "" for none.

    Args:
        repository: address of the repository; "" if it is not known.
        before, after: commits, which may hold any text.
    """
    known = [sha for sha in (before, after) if _SHA.fullmatch(sha)]
    if not repository or not known or not _SHA.fullmatch(after):
        return ""
    if len(known) == 1 or before == after:
        return f"{repository}/commit/{after}"
    return f"{repository}/compare/{before}...{after}"


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


MARKER: Final = "benchgate-site.json"
"""Says that a folder is a site, and which files of it benchgate wrote."""

INDEX: Final = "index.html"
_HISTORY: Final = "history.html"
_OVERVIEW: Final = "Overview"


@dataclass(frozen=True, slots=True)
class Report:
    """A report of the site.

    Attributes:
        verdict: None for a result of one side.
        what: one line for a report without a verdict.
        page: writes it, given the text and address of links to other pages.
    """

    verdict: Verdict | None
    what: str
    page: Callable[[Sequence[tuple[str, str]]], bytes]


@dataclass(frozen=True, slots=True)
class Site:
    """What a site shows.

    Attributes:
        name: of the project.
        repository: address of the repository on its host, for links; "" if it is not known.
        history: without secrets; None if there is none.
    """

    name: str
    repository: str
    reports: tuple[Report, ...]
    history: History | None


def site_files(site: Site, redact: Callable[[str], str]) -> dict[str, bytes]:
    """The files, by their names in the folder, without the marker.

    Args:
        redact: removes the secrets from a text.
    """
    names = [_report_name(index) for index in range(len(site.reports))]
    nav = [(_OVERVIEW, INDEX)]
    if site.history is not None:
        nav.append(("History", _HISTORY))
    badge = badge_of([one.verdict for one in site.reports if one.verdict is not None])
    files = {
        **{name: one.page(nav) for name, one in zip(names, site.reports, strict=True)},
        "badge.json": render_endpoint(badge).encode(),
        ".nojekyll": b"",
        INDEX: _index(site, names, nav, redact).encode(),
    }
    if site.history is not None:
        page = render_history_page(site.history, repository=site.repository, nav=nav)
        files[_HISTORY] = page.encode()
    return files


def marker_of(names: Iterable[str]) -> bytes:
    """The marker of a folder with these files."""
    content = {"schema": 1, "files": sorted(names)}
    return f"{json.dumps(content, indent=2)}\n".encode()


def written_before(marker: bytes) -> frozenset[str]:
    """The names in a marker; those that no site has are left out.

    Raises:
        ValueError: it is not a marker.
    """
    try:
        content = json.loads(marker)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict) or not isinstance(content.get("files"), list):
        raise ValueError("it names no files")  # noqa: TRY004 - as of json.loads
    return frozenset(name for name in content["files"] if _is_ours(name))


def _is_ours(name: object) -> bool:
    """Whether it is a name of a page that a later site may lack."""
    if not isinstance(name, str):
        return False
    number = name.removeprefix("report-").removesuffix(".html")
    is_numbered = number.isdecimal() and len(number) < len(name)
    return name in {_HISTORY, _report_name(0)} or (is_numbered and name == f"report-{number}.html")


def _report_name(index: int) -> str:
    return f"report-{index + 1}.html" if index else "report.html"


def _index(
    site: Site,
    names: Sequence[str],
    nav: Sequence[tuple[str, str]],
    redact: Callable[[str], str],
) -> str:
    reports = [
        (
            name,
            one.verdict and without_secrets(view_verdict(one.verdict), redact),
            redact(one.what),
        )
        for name, one in zip(names, site.reports, strict=True)
    ]
    history = view_history(site.history) if site.history is not None else None
    return render(
        "site.html",
        title=f"Performance of {site.name}",
        nav=nav,
        extra_style=STYLE,
        reports=reports,
        history=history,
        machines=machine_sections(history, site.repository) if history else (),
        trends_page=_HISTORY,
        spark_size=SPARK,
    )

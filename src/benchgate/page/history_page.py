"""Writes the history of a project as a page of HTML, and the files of a site."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final

from benchgate.page.charts import (
    HEIGHT,
    WIDTH,
    axis_of,
    chart_of,
    compare_address,
    points_per_chart,
    spark,
    thinned,
)
from benchgate.page.frame import render
from benchgate.report.badge import badge_of, render_endpoint
from benchgate.report.history_table import view_history
from benchgate.report.view import view_verdict, without_secrets
from benchgate.report.words import DECISION_ICONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchgate.model.history_document import History
    from benchgate.model.verdict import Verdict
    from benchgate.page.charts import Chart
    from benchgate.report.history_table import HistoryView, ShiftView, TrendView


STYLE: Final = ("trends.css",)
SPARK: Final = (WIDTH, HEIGHT)


@dataclass(frozen=True, slots=True)
class ShiftLine:
    """A change, with the addresses of its commits and of those that undid it; "" for none."""

    view: ShiftView
    address: str
    until: str


@dataclass(frozen=True, slots=True)
class TrendSection:
    """A trend.

    Attributes:
        key: of its chart in the page.
        shifts: the newest first.
        told: the change to tell; None if there is none.
    """

    key: str
    view: TrendView
    shifts: tuple[ShiftLine, ...]
    told: ShiftLine | None

    @property
    def spark(self) -> tuple[str, float, float]:
        """The `d` of a path, and where its last point is."""
        return spark(self.view.trend.values())


@dataclass(frozen=True, slots=True)
class MachineSection:
    """The trends of each benchmark on a machine, the one that stands for it first."""

    name: str
    runs: str
    benchmarks: tuple[tuple[TrendSection, ...], ...]


def machine_sections(view: HistoryView, repository: str) -> tuple[MachineSection, ...]:
    """The trends of each machine, as pages show them.

    Args:
        repository: address of the repository on its host; "" if it is not known.
    """
    numbers = count(1)
    return tuple(
        MachineSection(
            machine.name,
            machine.runs,
            tuple(
                tuple(_section(trend, f"t{next(numbers)}", repository) for trend in one.trends)
                for one in machine.benchmarks
            ),
        )
        for machine in view.machines
    )


def _section(view: TrendView, key: str, repository: str) -> TrendSection:
    data = view.trend.shifts
    addresses = [compare_address(repository, one.last_before, one.first_after) for one in data]
    lines = [
        ShiftLine(shown, address, "" if shown.undone is None else addresses[shown.undone])
        for shown, address in zip(view.shifts, reversed(addresses), strict=True)
    ]
    told = next((one for one in lines if one.view is view.told), None)
    return TrendSection(key, view, tuple(lines), told)


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
    sections = [one for machine in machines for trends in machine.benchmarks for one in trends]
    axis = axis_of(history.runs, repository)
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
        spark_size=SPARK,
    )


def _caption(view: TrendView, shown: int) -> str:
    """What the chart shows, for those who see it and those who do not."""
    every = len(view.trend.points)
    parts = [f"{view.runs}; the latest value is {view.latest}."]
    if view.noise:
        parts.append(f"About two of three runs lie within {view.noise} of their level.")
    if shown < every:
        parts.append(
            f"Of {every:,} runs, {shown:,} are drawn: the newest ones, those around changes, and "
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
        icons=DECISION_ICONS,
        spark_size=SPARK,
    )

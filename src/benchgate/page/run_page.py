"""Writes the statistics of a result as a page of HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.escape import plain_block, plain_line
from benchgate.model.redact import redacted
from benchgate.page.frame import render
from benchgate.page.plots import MOST_DRAWN, leaves_out, plots
from benchgate.page.provenance import Facts, known, machine
from benchgate.report import words
from benchgate.report.statistics_table import LEGEND, series_cells
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from benchgate.model.figures import BenchmarkFigures
    from benchgate.model.statistics import ResultStatistics, RunStatistics, SeriesStatistics
    from benchgate.page.charts import Chart
    from benchgate.page.plots import Plot


@dataclass(frozen=True, slots=True)
class _BenchmarkPart:
    """A benchmark: its place in the page, a line per metric, notes, and its figures."""

    key: str
    name: str
    lines: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    error: str
    figures: tuple[tuple[str, Plot], ...]


def render_run(
    statistics: ResultStatistics,
    figures: Mapping[str, BenchmarkFigures],
    redact: Callable[[str], str],
    *,
    nav: Iterable[tuple[str, str]] = (),
) -> str:
    """Write the page of a result that holds one side.

    Args:
        nav: text and address of links to other pages.
    """
    (run,) = statistics.runs
    run = redacted(run, redact)
    charts: dict[str, Chart] = {}
    by_name = {redact(id_): id_ for id_ in figures}
    parts = []
    less = leaves_out(len(figures))
    errors = {failure.benchmark: failure.error for failure in run.failures}
    series: dict[str, list[SeriesStatistics]] = {id_: [] for id_ in errors}
    for one in run.series:
        series.setdefault(one.benchmark, []).append(one)
    for index, (id_, some) in enumerate(series.items()):
        key = f"b{index + 1}"
        own = figures[by_name[id_]] if id_ in by_name and index < MOST_DRAWN else None
        found = plots(own, redact, all_metrics=not less)
        charts |= {f"{key}-{number}": plot.chart for number, plot in enumerate(found)}
        parts.append(
            _BenchmarkPart(
                key,
                plain_line(id_) or "(no name)",
                tuple(series_cells(one)[1:] for one in some),
                tuple(dict.fromkeys(plain_line(n) for one in some for n in one.notes)),
                plain_block(errors.get(id_, "")),
                tuple((f"{key}-{number}", plot) for number, plot in enumerate(found)),
            )
        )
    title = f"Statistics of {words.source(run.source)}"
    return render(
        "run.html",
        title=f"benchgate: {title}",
        figures=charts,
        nav=nav,
        extra_style=("report.css",),
        extra_script=("report.js",),
        heading=title,
        parts=parts,
        interrupted=not run.complete,
        warnings=[plain_line(redact(text), 1000) for text in statistics.warnings],
        legend=LEGEND,
        absent=less,
        about=_about(run, statistics.duration_s),
        machine=known(machine(run.environment)),
    )


def _about(run: RunStatistics, duration_s: float) -> Facts:
    return known(
        (
            ("code", words.source(run.source)),
            ("whole commit", plain_line(run.source.sha or "")),
            ("about it", plain_line(run.source.why)),
            ("started", plain_line(run.started)),
            ("measured in", format_duration(duration_s) if duration_s else ""),
        )
    )

"""Prints the statistics of a result, on a terminal or as plain lines in a pipe."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from benchgate.escape import plain_block, plain_line
from benchgate.model.metrics import Kind
from benchgate.model.notes import machine, values
from benchgate.report import words
from benchgate.report.load_statistics import print_load
from benchgate.report.statistics_detail import print_detail
from benchgate.report.terminal import (
    Column,
    Line,
    print_columns,
    print_facts,
    print_text,
    render_timing,
)
from benchgate.report.view import shared_notes
from benchgate.units import counted, format_change, format_duration, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

    from benchgate.model.statistics import (
        Grid,
        GridPair,
        ResultStatistics,
        RunStatistics,
        SeriesStatistics,
    )
    from benchgate.report.row_view import Footnote


_COLUMNS = (
    Column("benchmark", name=True),
    Column("metric"),
    Column("launches", right=True, drop=3),
    Column("loops", right=True, drop=1),
    Column("typical (p25)", right=True),
    Column("median", right=True),
    Column("tail (p95)", right=True, drop=6),
    Column("p99", right=True, drop=5),
    Column("p99.9", right=True, drop=4),
    Column("spread", right=True, drop=2),
)
LEGEND = (
    "launches: processes x samples in each; loops: operations in one sample; "
    "spread: between launches, as a share of the median"
)

_DETAIL_LEGEND = (
    "a launch is a process; sd: standard deviation; CV: sd / mean; SEM: standard error of a mean; "
    "the interval of the mean of all samples assumes that they are independent: trust the row of "
    "the launches; docs/statistics.md explains every number"
)

_LOAD_LEGEND = (
    "a launch is a run of the load generator, and one value; sd: standard deviation; CV: sd / "
    "mean; the mean is geometric where all values are above 0"
)

_NOTE_LIMIT = 1000
_ALPHA = 0.05
# The number of pairs grows with the square of the cells; a pipe gets all of them, for grep.
_PAIRS_SHOWN = 20
_CELLS = (
    Column("parameters", name=True),
    Column("launches", right=True, drop=1),
    Column("typical (p25)", right=True),
    Column("vs. the first", right=True),
)
_PAIRS = (
    Column("no difference found", name=True),
    Column("change", right=True),
    Column("p adjusted", right=True),
)


def render_result(result: ResultStatistics, console: Console) -> None:
    """Print every benchmark and metric of a result file."""
    for warning in result.warnings:
        print_text(console, Text.assemble(("warning: ", "yellow"), plain_line(warning, 1000)))
    of_loads = (one.notes for run in result.runs for one in run.loads)
    of_series = (one.notes for run in result.runs for one in run.series)
    shared = shared_notes([*of_loads, *of_series], "row")
    for run in result.runs:
        _print_run(console, _marked(run, shared))
        console.print()
    for note in shared.values():
        text = f"{note.mark} {note.about}: {plain_line(note.text, _NOTE_LIMIT)}"
        print_text(console, Text(text, "dim"))
    if shared:
        console.print()
    if result.phases:
        render_timing(result.phases, console)
        console.print()
    took = f"measured in {format_duration(result.duration_s)}"
    said = "; ".join(filter(None, (_legend(result), took)))
    print_text(console, Text(f"{said}.", "dim"))


def _marked(run: RunStatistics, shared: Mapping[str, Footnote]) -> RunStatistics:
    """The same with marks in place of the notes that several rows share."""

    def marked(notes: Iterable[str]) -> tuple[str, ...]:
        return tuple(shared[text].mark if text in shared else text for text in notes)

    return replace(
        run,
        loads=tuple(replace(one, notes=marked(one.notes)) for one in run.loads),
        series=tuple(replace(one, notes=marked(one.notes)) for one in run.series),
    )


def _legend(result: ResultStatistics) -> str:
    """Explain the columns that were printed; "" if there are none."""
    under_load = {(run.arm, load.benchmark) for run in result.runs for load in run.loads}
    others = [
        series
        for run in result.runs
        for series in run.series
        if (run.arm, series.benchmark) not in under_load
    ]
    if not others:
        return _LOAD_LEGEND if under_load else ""
    return _DETAIL_LEGEND if any(series.detail for series in others) else LEGEND


def _print_run(console: Console, run: RunStatistics) -> None:
    _print_about(console, run)
    under_load = {load.benchmark for load in run.loads}
    others = [series for series in run.series if series.benchmark not in under_load]
    for load in run.loads:
        console.print()
        print_load(console, load)
    for series in others:
        if series.detail and series.kind is Kind.SAMPLED:
            console.print()
            print_detail(console, series, series.detail)
    short = [s for s in others if s.detail is None or s.kind is not Kind.SAMPLED]
    if short:
        console.print()
        print_columns(console, _COLUMNS, [_line(series) for series in short])
    for grid in run.grids:
        console.print()
        print_grid(console, grid)
    for failure in run.failures:
        console.print()
        print_text(console, Text(f"{plain_line(failure.benchmark)} crashed:", "bold red"))
        for line in plain_block(failure.error).splitlines():
            print_text(console, line, indent=4)


def _print_about(console: Console, run: RunStatistics) -> None:
    title = f"{plain_line(run.arm)} {words.source(run.source)}, started {plain_line(run.started)}"
    print_text(console, Text(title, "bold"))
    if where := machine(run.environment):
        print_text(console, where)
    if not run.complete:
        print_text(
            console, Text("interrupted: only a part of what was planned was measured", "yellow")
        )
    measured = {one.benchmark for one in run.series} | {one.benchmark for one in run.failures}
    same = len(run.same_code)
    if text := words.not_measured(same, same + len(measured)):
        print_text(console, text)


def series_cells(series: SeriesStatistics) -> tuple[str, ...]:
    """Benchmark, metric, launches, loops, typical, median, tail and spread; "" if unknown."""
    return (
        plain_line(series.benchmark),
        plain_line(series.metric),
        f"{series.launches} x {series.samples}",
        str(series.loops),
        words.series_value(series, series.p25),
        words.series_value(series, series.median),
        _tail(series, series.p95),
        "" if series.spread_ratio is None else format_percent(series.spread_ratio),
    )


def _line(series: SeriesStatistics) -> Line:
    *cells, spread = series_cells(series)
    tails = (_tail(series, series.p99), _tail(series, series.p999))
    return Line((*cells, *tails, spread), note="; ".join(map(plain_line, series.notes)))


def _tail(series: SeriesStatistics, value: float | None) -> str:
    return "" if value is None else words.series_value(series, value)


def print_grid(console: Console, grid: Grid) -> None:
    """Print one metric of a benchmark with parameters."""
    title = f"{plain_line(grid.benchmark)}, {plain_line(grid.metric)}, by its parameters"
    print_text(console, Text(title, "bold"))
    first = grid.cells[0].median
    medians = values(grid, [cell.median for cell in grid.cells])
    cells = [
        Line(
            (
                plain_line(cell.label),
                str(cell.launches),
                shown,
                format_change(cell.median / first) if index and first else "",
            )
        )
        for index, (cell, shown) in enumerate(zip(grid.cells, medians, strict=True))
    ]
    print_columns(console, _CELLS, cells)
    console.print()
    print_facts(console, [("test", _test(grid)), *(("note", plain_line(n)) for n in grid.notes)])
    alike = [pair for pair in grid.pairs if pair.p_adjusted > _ALPHA]
    if _p(grid) <= _ALPHA and 0 < len(alike) < len(grid.pairs):
        _print_alike(console, alike)


def _print_alike(console: Console, pairs: Sequence[GridPair]) -> None:
    """Print the pairs for which no difference is found, although the parameters matter."""
    shown = pairs[:_PAIRS_SHOWN] if console.is_terminal else pairs
    lines = [
        Line(
            (
                f"{plain_line(pair.first)} and {plain_line(pair.second)}",
                format_change(pair.ratio) if pair.ratio else "",
                words.probability(pair.p_adjusted),
            )
        )
        for pair in shown
    ]
    console.print()
    print_columns(console, _PAIRS, lines)
    if len(shown) < len(pairs):
        more = counted(len(pairs) - len(shown), "more pair")
        print_text(console, f"and {more}")


def _test(grid: Grid) -> str:
    found = f"Kruskal-Wallis H {grid.h:.1f}, df {grid.df}, p {words.probability(grid.p)}"
    if _is_pair(grid):
        found = f"Mann-Whitney p {words.probability(_p(grid))}; {found}"
    if _p(grid) > _ALPHA:
        return f"no effect of the parameters was found ({found})"
    if len(grid.pairs) < 2:
        return f"the parameters matter ({found})"
    differ = sum(pair.p_adjusted <= _ALPHA for pair in grid.pairs)
    pairs = f"{differ} of {len(grid.pairs)} pairs differ (Mann-Whitney, adjusted by Holm)"
    return f"the parameters matter ({found}); {pairs}"


def _p(grid: Grid) -> float:
    """The p that decides: a single pair's own test, which is exact for few launches."""
    return grid.pairs[0].p if _is_pair(grid) else grid.p


def _is_pair(grid: Grid) -> bool:
    return len(grid.pairs) == 1

"""Writes the report of a verdict as a page of HTML."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from benchgate.errors import without_it
from benchgate.escape import plain_line
from benchgate.model.metrics import TIME
from benchgate.model.redact import redacted
from benchgate.page.flames import flames
from benchgate.page.frame import render
from benchgate.page.plots import MOST_DRAWN, is_news, leaves_out, plots
from benchgate.page.provenance import Facts, decided, known, machine, provenance
from benchgate.page.scale import ChangeScale, overview_scale
from benchgate.report import row_notes
from benchgate.report.arrangement import arrange
from benchgate.report.columns import ON_PAGE
from benchgate.report.headline import bare
from benchgate.report.links import NO_LINKS
from benchgate.report.row_detail import RATIO_TITLES, TEST_TITLES
from benchgate.report.view import view_verdict, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.model.figures import BenchmarkFigures
    from benchgate.model.row import Row
    from benchgate.model.verdict import Verdict
    from benchgate.page.flames import FlameView
    from benchgate.page.plots import Plot
    from benchgate.report.links import Links
    from benchgate.report.row_view import BenchmarkView, Footnote, RowView
    from benchgate.report.view import VerdictView


NO_SAMPLES: Final = (
    "This page was made from a verdict, which holds no samples. `benchgate report RESULT` makes a "
    "page with the figures of each benchmark."
)


@dataclass(frozen=True, slots=True)
class PageRow:
    """A row of the list.

    Attributes:
        rounds: "12 rounds"; "" if it has none.
        margin, drawing: paths of SVG; "" if there is no change.
    """

    row: RowView
    rounds: str
    margin: str
    drawing: str


@dataclass(frozen=True, slots=True)
class BenchmarkSection:
    """A benchmark.

    Attributes:
        key: its place in the page, for links.
        first: the row that stands for it.
        news: other rows whose outcome differs.
        change: how much worse it is, as a number to sort by; "" if that is not known.
        source: address of where it is defined; "" if it is not known.
        note: of the first row, in words.
        notes: of all rows, each after what it is about.
        error: the end of the output if it failed; "" if another benchmark has the same.
        error_key: the place of that benchmark.
        titles, numbers: a table with a column for each row.
        figures: each with its key in the page.
        flames: drawings of what it calls.
    """

    key: str
    view: BenchmarkView
    first: PageRow
    news: tuple[PageRow, ...]
    change: str
    source: str
    note: str
    notes: Facts
    error: str
    error_key: str
    titles: tuple[str, ...]
    numbers: tuple[tuple[str, tuple[str, ...]], ...]
    figures: tuple[tuple[str, Plot], ...]
    flames: tuple[FlameView, ...]


def render_report(
    verdict: Verdict,
    figures: Mapping[str, BenchmarkFigures] | None,
    redact: Callable[[str], str],
    *,
    links: Links = NO_LINKS,
    absent: str = NO_SAMPLES,
    nav: Iterable[tuple[str, str]] = (),
) -> str:
    """Write the page.

    Args:
        figures: of the result that the verdict is about, by benchmark; None if only the verdict is
            known.
        redact: removes the secrets from a text.
        absent: why there are no figures, and where they are; "`...`" is code.
        nav: text and address of links to other pages.
    """
    view = without_secrets(view_verdict(verdict, links), redact)
    arranged = arrange(verdict)
    groups = (*arranged.shown, *(rows for group in arranged.folded for rows in group))
    scale = overview_scale(
        row for rows in groups for row in rows if row is rows[0] or is_news(row, rows[0])
    )
    lost: list[str] = []
    draw = partial(_drawn, redact=redact, all_metrics=not leaves_out(len(groups)), tell=lost.append)
    sections = _sections(groups, view, figures, scale, draw)
    if lost:
        warned = tuple(redact(plain_line(text)) for text in dict.fromkeys(lost))
        view = replace(view, warnings=(*view.warnings, *warned))
    said = redacted(
        (provenance(verdict), machine(verdict.environment), decided(verdict)),
        redact,
    )
    return render(
        "report.html",
        title=f"benchgate: {bare(view.headline)}",
        figures={key: plot.chart for one in sections for key, plot in one.figures},
        nav=nav,
        extra_style=("report.css",),
        extra_script=("report.js", "flames.js"),
        view=view,
        icons={one.view.first.word: one.view.first.icon for one in sections},
        counts=Counter(one.view.first.word for one in sections),
        scale=scale,
        has_changes=any(line.drawing for one in sections for line in (one.first, *one.news)),
        sections=sections,
        places={one.view: one for one in sections[: len(view.shown)]},
        absent=redact(absent) if figures is None else leaves_out(len(groups)),
        provenance=known(said[0]),
        machine=known(said[1]),
        decided=said[2],
        ratio_titles=(*RATIO_TITLES[:2], view.interval_title, RATIO_TITLES[3]),
        test_titles=TEST_TITLES,
    )


@dataclass(frozen=True, slots=True)
class _Drawings:
    """The drawings of a benchmark.

    Attributes:
        key: the benchmark's place in the page.
        plots: each with its key in the page.
    """

    key: str
    plots: tuple[tuple[str, Plot], ...]
    flames: tuple[FlameView, ...]


def _drawn(
    key: str,
    rows: Sequence[Row],
    figures: BenchmarkFigures | None,
    *,
    redact: Callable[[str], str],
    all_metrics: bool,
    tell: Callable[[str], None],
) -> _Drawings:
    """Draw a benchmark.

    Args:
        tell: receives what could not be drawn.
    """
    draw = partial(plots, figures, redact, rows, all_metrics=all_metrics)
    found = without_it("figures of a benchmark", draw, (), tell)
    calls = figures.calls.get(TIME.name) if figures else None
    drawn: tuple[FlameView, ...] = ()
    if calls:
        drawn = without_it("flame graph", partial(flames, *calls, redact), (), tell)
    return _Drawings(
        key, tuple((f"{key}-{number}", plot) for number, plot in enumerate(found)), drawn
    )


def _sections(
    groups: Sequence[Sequence[Row]],
    view: VerdictView,
    figures: Mapping[str, BenchmarkFigures] | None,
    scale: ChangeScale,
    draw: Callable[[str, Sequence[Row], BenchmarkFigures | None], _Drawings],
) -> list[BenchmarkSection]:
    """Make the sections of all benchmarks, the shown ones first."""
    views = (*view.shown, *(one for group in view.folded for one in group.benchmarks))
    errors: dict[str, str] = {}
    sections = []
    for index, (rows, one) in enumerate(zip(groups, views, strict=True)):
        own = figures.get(rows[0].benchmark) if figures and index < MOST_DRAWN else None
        drawn = draw(f"b{index + 1}", rows, own)
        sections.append(_section(rows, one, drawn, verdict=view, scale=scale, errors=errors))
    return sections


def _section(
    rows: Sequence[Row],
    view: BenchmarkView,
    drawn: _Drawings,
    *,
    verdict: VerdictView,
    scale: ChangeScale,
    errors: dict[str, str],
) -> BenchmarkSection:
    """Make the section of a benchmark.

    Args:
        errors: the outputs that are shown, each with its place; this benchmark's is added.
    """
    worse = rows[0].worse_ratio
    shown = [_page_row(row, one, scale) for row, one in zip(rows, view.rows, strict=True)]
    others = ((row.statistic, _written_out(note, verdict.footnotes)) for row, note in view.others)
    note = _written_out(view.note, verdict.footnotes)
    error = next((row.error for row in view.rows if row.error), "")
    said = tuple(one for one in (("", note), *others) if one[1] and one[1] not in error)
    first_key = errors.setdefault(error, drawn.key) if error else ""
    return BenchmarkSection(
        drawn.key,
        view,
        shown[0],
        tuple(one for row, one in zip(rows, shown, strict=True) if is_news(row, rows[0])),
        "" if worse is None else f"{worse:.6g}",
        verdict.links.source(view.first.location),
        note,
        said,
        error if first_key == drawn.key else "",
        first_key,
        tuple(one.row.statistic or "value" for one in shown),
        _numbers(shown, verdict.interval_title),
        drawn.plots,
        drawn.flames,
    )


def _page_row(row: Row, view: RowView, scale: ChangeScale) -> PageRow:
    rounds = row_notes.rounds(row)
    drawing = scale.draw(row)
    return PageRow(
        view,
        f"{rounds} round{'s' * (rounds != '1')}" if rounds else "",
        scale.margin(row) if drawing and row.margin else "",
        drawing,
    )


def _numbers(
    rows: Sequence[PageRow], interval_title: str
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Everything that is known of the rows, without lines that say nothing."""
    lines: list[tuple[str, tuple[str, ...]]] = [
        ("outcome", tuple(x.row.word + ("" if x.row.decides else " (shown only)") for x in rows)),
        ("change", tuple(one.row.change for one in rows)),
        (interval_title, tuple(one.row.interval for one in rows)),
        ("base", tuple(one.row.base for one in rows)),
        ("head", tuple(one.row.head for one in rows)),
    ]
    lines += (
        (column.title, tuple(one.row.evidence[index] for one in rows))
        for index, column in ON_PAGE.items()
    )
    return tuple((title, cells) for title, cells in lines if any(cells))


def _written_out(note: str, footnotes: Iterable[Footnote]) -> str:
    """A note with what its marks stand for: a section is read without the others."""
    for one in footnotes:
        note = note.replace(one.mark, one.text)
    return note

"""Writes the report of a verdict as a page of HTML."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.model.redact import redacted
from benchgate.page import facts, signs
from benchgate.page.forest import Drawing, draw
from benchgate.page.frame import render
from benchgate.page.plots import MOST_DRAWN, leaves_out, plots
from benchgate.page.prose import sentence, sentences, unbroken
from benchgate.report.comparison import RATIO_TITLES, TEST_TITLES
from benchgate.report.ordering import arrange
from benchgate.report.view import NO_LINKS, view_verdict, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.model.figures import BenchmarkFigures
    from benchgate.model.row import Row
    from benchgate.model.verdict import Verdict
    from benchgate.page.charts import Chart
    from benchgate.page.plots import Plot
    from benchgate.report.benchmark_view import BenchmarkView, RowView
    from benchgate.report.footnotes import Footnote
    from benchgate.report.links import Links

NO_SAMPLES: Final = (
    "A verdict holds no samples, so there are no figures of them. The result file has them: "
    "`benchgate report RESULT`."
)


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table.

    Attributes:
        statistic: what it is about.
        drawing: None if it has no interval.
        source: address of where it is defined; "" if it is not known.
    """

    row: RowView
    statistic: str
    drawing: Drawing | None
    source: str


@dataclass(frozen=True, slots=True)
class Section:
    """A benchmark.

    Attributes:
        key: its place in the page, for links.
        change: how much worse it is, as a number to sort by; "" if that is not known.
        notes: in words, as HTML.
        figures: each with its key in the page.
    """

    key: str
    view: BenchmarkView
    lines: tuple[Line, ...]
    change: str
    notes: tuple[str, ...]
    figures: tuple[tuple[str, Plot], ...]


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

    Raises:
        UsageError: Jinja2 is not installed.
    """
    view = without_secrets(view_verdict(verdict, links), redact)
    arranged = arrange(verdict)
    groups = (*arranged.shown, *(rows for group in arranged.folded for rows in group))
    views = (*view.shown, *(one for group in view.folded for one in group.benchmarks))
    charts: dict[str, Chart] = {}
    sections = []
    less = leaves_out(len(views))
    for index, (rows, one) in enumerate(zip(groups, views, strict=True)):
        key = f"b{index + 1}"
        own = figures.get(rows[0].benchmark) if figures and index < MOST_DRAWN else None
        found = plots(own, redact, rows, all_metrics=not less) if index < MOST_DRAWN else ()
        charts |= {f"{key}-{number}": plot.chart for number, plot in enumerate(found)}
        captions = tuple((f"{key}-{number}", plot) for number, plot in enumerate(found))
        sections.append(_section(key, rows, one, captions, footnotes=view.footnotes, links=links))
    said = redacted(
        (facts.provenance(verdict), facts.machine(verdict.environment), facts.decided(verdict)),
        redact,
    )
    return render(
        "report.html",
        title=f"benchgate: {view.headline}",
        figures=charts,
        nav=nav,
        extra_style=("report.css",),
        extra_script=("report.js",),
        view=view,
        headline=unbroken(view.headline),
        signs={outcome.value: sign for outcome, sign in signs.OUTCOMES.items()},
        counts=_counts(views),
        sections=sections,
        absent=sentence(redact(absent)) if figures is None else sentence(less) if less else "",
        more=sentence(view.more) if view.more else "",
        warnings=sentences(view.warnings),
        footnotes=[(one.mark, sentence(one.text), one.about) for one in view.footnotes],
        skipped=[(what, sentence(why)) for what, why in view.skipped],
        provenance=facts.known(said[0]),
        machine=facts.known(said[1]),
        decided=sentences(said[2]),
        last_line=sentence(view.last_line),
        ratio_titles=(*RATIO_TITLES[:2], view.interval_title, RATIO_TITLES[3]),
        test_titles=TEST_TITLES,
    )


def _section(
    key: str,
    rows: Sequence[Row],
    view: BenchmarkView,
    figures: tuple[tuple[str, Plot], ...],
    *,
    footnotes: Sequence[Footnote],
    links: Links,
) -> Section:
    worse = rows[0].worse_ratio
    others = ((row.statistic, _written_out(note, footnotes)) for row, note in view.others)
    notes = [one for one in ((view.first.statistic, view.first.note), *others) if one[1]]
    return Section(
        key,
        view,
        tuple(
            Line(row, row.statistic, draw(row.span), links.source(row.location))
            for row in view.rows
        ),
        "" if worse is None else f"{worse:.6g}",
        tuple(
            f"<b>{sentence(about)}</b>: {sentence(note)}" if about else sentence(note)
            for about, note in notes
        ),
        figures,
    )


def _written_out(note: str, footnotes: Iterable[Footnote]) -> str:
    """A note with what its marks stand for: a section is read without the others."""
    for one in footnotes:
        note = note.replace(one.mark, one.text)
    return note


def _counts(views: Sequence[BenchmarkView]) -> list[tuple[str, int]]:
    """How many benchmarks have each outcome, in the order in which the page shows them."""
    found = Counter(one.first.outcome for one in views)
    return [(outcome.value, count) for outcome, count in found.items()]

"""Writes the report of a verdict, or the statistics of a result, as a page of HTML.

The margin and the line of no change are the background of the image, in report.css.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from benchgate.escape import plain_block, plain_line
from benchgate.model.redact import redacted
from benchgate.model.run import BenchmarkFiles
from benchgate.model.verdict import NO_BASELINE
from benchgate.page import frame
from benchgate.page.frame import render, sentence, sentences, unbroken
from benchgate.page.plots import MOST_DRAWN, leaves_out, plots
from benchgate.report import words
from benchgate.report.columns import ON_PAGE
from benchgate.report.headline import arrange
from benchgate.report.statistics import LEGEND, series_cells
from benchgate.report.view import NO_LINKS, RATIO_TITLES, TEST_TITLES, view_verdict, without_secrets
from benchgate.units import counted, format_duration, format_percent, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.model.figures import BenchmarkFigures
    from benchgate.model.run import Environment, Source
    from benchgate.model.statistics import ResultStatistics, RunStatistics, SeriesStatistics
    from benchgate.model.verdict import Row, Verdict
    from benchgate.page.charts import Chart
    from benchgate.page.plots import Plot
    from benchgate.report.drawing import Span
    from benchgate.report.view import BenchmarkView, Footnote, Links, RowView


Facts = tuple[tuple[str, str], ...]

_CHOSEN = {
    "git": "measured on the same machine, for this verdict",
    "file": "read from a stored result",
    "directory": "read from a folder of stored results",
    "artifact": "read from the results of earlier runs on GitHub",
    NO_BASELINE: "there is none yet",
}
_RULES = {
    "launch": "The launch is the unit of evidence: one fresh process is one observation.",
}


def provenance(verdict: Verdict) -> Facts:
    """What was compared, and how the base was chosen."""
    return (
        *(("base", text) for text in [_source(verdict.base)] if verdict.base_source != NO_BASELINE),
        ("how the base was chosen", plain_line(verdict.base.why)),
        (
            "where the base comes from",
            _CHOSEN.get(verdict.base_source, plain_line(verdict.base_source)),
        ),
        ("head", _source(verdict.head)),
        ("about the head", plain_line(verdict.head.why)),
        ("measured", _effort(verdict)),
    )


def _source(code: Source) -> str:
    ref = f" ({plain_line(code.ref)})" if code.ref and code.sha else ""
    full = f"; whole commit {plain_line(code.sha)}" if code.sha and len(code.sha) > 7 else ""
    return f"{words.source(code)}{ref}{full}"


def _effort(verdict: Verdict) -> str:
    if not verdict.rounds:
        return ""
    ended = "" if verdict.complete else ", interrupted"
    return f"{counted(verdict.rounds, 'round')} in {format_duration(verdict.duration_s)}{ended}"


def decided(verdict: Verdict) -> tuple[str, ...]:
    """How it was decided, one sentence each; "`...`" is code."""
    settings = verdict.settings
    margins = sorted({row.margin for row in verdict.rows if row.margin})
    shown = ", ".join(map(format_percent, margins))
    rule = _RULES.get(settings.rule, f"The rule `{plain_line(settings.rule)}` decided.")
    found = [rule]
    if settings.rule == "launch":
        found.append(
            f"At most {format_percent(settings.alpha)} of runs in which nothing changed fail, "
            f"however many rows there are (`gate.alpha`; correction: {settings.correction})."
        )
    if margins:
        found.append(
            f"A change counts if it is at least the margin: {shown}. A row is regressed if "
            "chance is an unlikely explanation for it, and unchanged if its interval "
            f"({format_percent(settings.confidence)}) lies within the margin."
        )
    outcomes = ", ".join(map(plain_line, settings.fail_on)) or "nothing"
    found.append(f"The suite fails on: {outcomes} (`gate.fail_on`).")
    if settings.min_compared:
        found.append(f"At least {settings.min_compared} benchmarks had to be compared.")
    if settings.max_rounds:
        found.append(
            f"A benchmark got at most {counted(settings.max_rounds, 'round')}, "
            "or as many as the test of a suspect needs."
        )
    found.append(f"The configuration of the {plain_line(settings.policy)} judged.")
    if verdict.files is BenchmarkFiles.HEAD:
        found.append("Both sides ran the benchmark files of the head.")
    elif verdict.files is BenchmarkFiles.OWN and verdict.base_source == "git":
        found.append("Each side ran its own benchmark files.")
    return tuple(found)


def machine(environment: Environment) -> Facts:
    """The machine, without what is not known."""
    one = environment
    turbo = {True: "on", False: "off", None: ""}[one.turbo]
    tools = tuple((plain_line(k), plain_line(v)) for k, v in sorted(one.toolchains.items()))
    busy = "" if one.busy_elsewhere is None else f"{one.busy_elsewhere:.2f} CPUs on average"
    return (
        ("operating system", plain_line(one.os)),
        ("kernel", plain_line(one.kernel)),
        ("processor", plain_line(one.cpu_model)),
        ("architecture", plain_line(one.machine)),
        ("logical CPUs", str(one.cpu_count or "")),
        ("memory", format_value(one.memory_bytes, "B") if one.memory_bytes else ""),
        ("frequency governor", plain_line(one.governor or "")),
        ("turbo", turbo),
        ("virtualization", plain_line(one.virtualization)),
        ("runner image", plain_line(one.runner_image or "")),
        ("load before the run", "" if one.load_average is None else f"{one.load_average:.2f}"),
        ("other programs kept busy", busy),
        ("Python of benchgate", plain_line(one.python)),
        ("cost of reading the clock", _time_ns(one.timer_cost_ns)),
        ("step of the clock", _time_ns(one.timer_resolution_ns)),
        *tools,
    )


def _time_ns(value: float | None) -> str:
    return "" if value is None else format_value(value / 1e9, "s")


def known(facts: Facts) -> Facts:
    """Without those that say nothing."""
    return tuple((name, text) for name, text in facts if text)


_HALF = 80
_EDGE = 8
_STUB = 8
_MIDDLE = 10
_DOT = 4


@dataclass(frozen=True, slots=True)
class Drawing:
    """The image of a row, in pixels.

    Attributes:
        path: the `d` of an SVG path: the interval, its ends or arrows, and the change as a dot.
    """

    WIDTH: ClassVar[int] = 2 * (_HALF + _EDGE)
    HEIGHT: ClassVar[int] = 2 * _MIDDLE
    path: str


def draw(span: Span | None) -> Drawing | None:
    if span is None:
        return None
    left, right = _x(span.low), _x(span.high)
    if left == right:  # at an edge: an arrow needs a line
        left, right = max(left - _STUB, _EDGE), min(right + _STUB, _EDGE + 2 * _HALF)
    parts = [f"M{left:g} {_MIDDLE}H{right:g}"]
    parts += (f"M{_x(end):g} 6v8" for end in (span.low, span.high) if abs(end) <= 1)
    if span.low < -1:
        parts.append(f"M{left + 5:g} 6l-5 4l5 4")
    if span.high > 1:
        parts.append(f"M{right - 5:g} 6l5 4l-5 4")
    if abs(span.estimate) <= 1:
        parts.append(f"M{_x(span.estimate) - _DOT:g} {_MIDDLE}{_half_turn(1)}{_half_turn(-1)}")
    return Drawing("".join(parts))


def _half_turn(direction: int) -> str:
    return f"a{_DOT} {_DOT} 0 0 1 {direction * 2 * _DOT} 0"


def _x(place: float) -> float:
    return round(_EDGE + _HALF * (1 + min(max(place, -1.0), 1.0)), 1)


NO_SAMPLES: Final = (
    "A verdict holds no samples, so there are no figures of them. The result file has them: "
    "`benchgate report RESULT`."
)


@dataclass(frozen=True, slots=True)
class PageRow:
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
class BenchmarkSection:
    """A benchmark.

    Attributes:
        key: its place in the page, for links.
        change: how much worse it is, as a number to sort by; "" if that is not known.
        notes: in words, as HTML.
        figures: each with its key in the page.
    """

    key: str
    view: BenchmarkView
    lines: tuple[PageRow, ...]
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
        (provenance(verdict), machine(verdict.environment), decided(verdict)),
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
        signs={outcome.value: sign for outcome, sign in frame.OUTCOMES.items()},
        counts=_counts(views),
        sections=sections,
        absent=sentence(redact(absent)) if figures is None else sentence(less) if less else "",
        more=sentence(view.more) if view.more else "",
        warnings=sentences(view.warnings),
        footnotes=[(one.mark, sentence(one.text), one.about) for one in view.footnotes],
        skipped=[(what, sentence(why)) for what, why in view.skipped],
        provenance=known(said[0]),
        machine=known(said[1]),
        decided=sentences(said[2]),
        last_line=sentence(view.last_line),
        evidence=ON_PAGE,
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
) -> BenchmarkSection:
    worse = rows[0].worse_ratio
    others = ((row.statistic, _written_out(note, footnotes)) for row, note in view.others)
    notes = [one for one in ((view.first.statistic, view.first.note), *others) if one[1]]
    return BenchmarkSection(
        key,
        view,
        tuple(
            PageRow(row, row.statistic, draw(row.span), links.source(row.location))
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


@dataclass(frozen=True, slots=True)
class _BenchmarkPart:
    """A benchmark: its place in the page, a line per metric, notes as HTML, and its figures."""

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
                sentences(dict.fromkeys(plain_line(n) for one in some for n in one.notes)),
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
        warnings=sentences(plain_line(redact(text), 1000) for text in statistics.warnings),
        legend=LEGEND,
        absent=sentence(less) if less else "",
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

"""Writes the report of a verdict, or the statistics of a result, as a page of HTML."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from benchgate.errors import without_it
from benchgate.escape import plain_block, plain_line
from benchgate.model.redact import redacted
from benchgate.model.run import TIME, BenchmarkFiles
from benchgate.model.verdict import NO_BASELINE
from benchgate.page.flames import flames
from benchgate.page.frame import render
from benchgate.page.plots import MOST_DRAWN, is_news, leaves_out, plots
from benchgate.report import words
from benchgate.report.arrangement import arrange
from benchgate.report.columns import ON_PAGE
from benchgate.report.headline import bare
from benchgate.report.row_detail import RATIO_TITLES, TEST_TITLES
from benchgate.report.statistics import LEGEND, series_cells
from benchgate.report.view import NO_LINKS, view_verdict, without_secrets
from benchgate.units import counted, format_duration, format_percent, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchgate.model.figures import BenchmarkFigures
    from benchgate.model.run import Environment, Source
    from benchgate.model.statistics import ResultStatistics, RunStatistics, SeriesStatistics
    from benchgate.model.verdict import Row, Verdict
    from benchgate.page.charts import Chart
    from benchgate.page.flames import FlameView
    from benchgate.page.plots import Plot
    from benchgate.report.view import BenchmarkView, Footnote, Links, RowView, VerdictView


Facts = tuple[tuple[str, str], ...]

_CHOSEN = {
    "git": "measured for this verdict, on the same machine",
    "file": "read from a stored result",
    "directory": "read from a folder of stored results",
    "artifact": "read from earlier runs on GitHub",
    NO_BASELINE: "there is none yet",
}


def provenance(verdict: Verdict) -> Facts:
    """What was compared, and how the base was chosen."""
    return (
        *(("base", text) for text in [_source(verdict.base)] if verdict.base_source != NO_BASELINE),
        ("why this base", plain_line(verdict.base.why)),
        ("its values", _CHOSEN.get(verdict.base_source, plain_line(verdict.base_source))),
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
    margins = ", ".join(map(format_percent, sorted({x.margin for x in verdict.rows if x.margin})))
    if settings.rule == "launch":
        alarms = words.false_alarms(settings.alpha)
        found = [
            "What counts is one value for each process that was started, not each sample.",
            (
                f"{alarms}, however many benchmarks there are (`gate.alpha`; "
                f"correction for many rows: {plain_line(settings.correction)})."
            ),
        ]
    else:
        found = [f"The rule `{plain_line(settings.rule)}` decided."]
    if margins:
        found.append(
            f"Slower, faster, larger or smaller is what changed by the margin ({margins}) or more, "
            f"and hardly by chance. Unchanged is what has its "
            f"{format_percent(settings.confidence)} interval within the margin."
        )
    outcomes = ", ".join(f"`{plain_line(each)}`" for each in settings.fail_on) or "nothing"
    found.append(f"The check fails on: {outcomes} (`gate.fail_on`).")
    if settings.min_compared:
        found.append(f"At least {settings.min_compared} benchmarks had to be compared.")
    if settings.max_rounds:
        found.append(
            f"A benchmark got at most {counted(settings.max_rounds, 'round')}, "
            "or more to confirm that it is slower."
        )
    found.append(f"The configuration of the {plain_line(settings.policy)} decided.")
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


@dataclass(frozen=True, slots=True)
class ChangeScale:
    """The scale of the drawings of all rows: changes in percent, from left to right.

    Attributes:
        low, high: its ends, which are ticks.
        step: from one tick to the next.
    """

    WIDTH: ClassVar[int] = 220
    HEIGHT: ClassVar[int] = 20
    EDGE: ClassVar[int] = 18
    low: float
    high: float
    step: float

    def x(self, percent: float) -> float:
        """Where a change is, in pixels; at an end if it is beyond."""
        share = (percent - self.low) / (self.high - self.low)
        return round(self.EDGE + min(max(share, 0), 1) * (self.WIDTH - 2 * self.EDGE), 1)

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Where the round numbers are, and how they are written."""
        every = range(round(self.low / self.step), round(self.high / self.step) + 1)
        return tuple((self.x(k * self.step), f"{k * self.step:+g}" if k else "0 %") for k in every)

    def margin(self, row: Row) -> str:
        """The `d` of an SVG path: the margin on both sides of no change."""
        left, right = (self.x(sign * 100 * (row.margin or 0)) for sign in (-1, 1))
        return f"M{left:g} 0H{right:g}V{self.HEIGHT}H{left:g}z"

    def draw(self, row: Row) -> str:
        """The `d` of an SVG path: the interval, its ends or arrows, and the change as a dot."""
        found = _percents(row)
        if found is None:
            return ""
        low, estimate, high = found
        left, right, middle = self.x(low), self.x(high), self.HEIGHT // 2
        if left == right:  # at an end: an arrow needs a line
            left, right = max(left - 8, self.EDGE), min(right + 8, self.WIDTH - self.EDGE)
        parts = [f"M{left:g} {middle}H{right:g}"]
        parts += (f"M{self.x(end):g} 6v8" for end in (low, high) if self.low <= end <= self.high)
        if low < self.low:
            parts.append(f"M{left + 5:g} 6l-5 4l5 4")
        if high > self.high:
            parts.append(f"M{right - 5:g} 6l5 4l-5 4")
        if self.low <= estimate <= self.high:
            parts.append(f"M{self.x(estimate) - 4:g} {middle}a4 4 0 0 1 8 0a4 4 0 0 1 -8 0")
        return "".join(parts)


_MOST_TICKS: Final = 5
# With a longer scale the margin could not be seen.
_MOST_MARGINS: Final = 60
_MOST_ROWS: Final = 0.85
_USUAL_MARGIN: Final = 0.02


def _percents(row: Row) -> tuple[float, float, float] | None:
    """The change between the ends of its interval, in percent; None if it is not known."""
    if row.ratio is None:
        return None
    low, high = row.interval or (row.ratio, row.ratio)
    low, middle, high = (100 * (one - 1) for one in (low, row.ratio, high))
    if math.isnan(low + high) or not math.isfinite(middle):
        return None
    return low, middle, high


def overview_scale(rows: Iterable[Row]) -> ChangeScale:
    """A scale that shows all changes, or if some are far away, those of most rows."""
    known = [(row, found) for row in rows if (found := _percents(row))]
    margins = sorted(100 * row.margin for row, _ in known if row.margin)
    margin = margins[len(margins) // 2] if margins else 100 * _USUAL_MARGIN

    def reach(ends: Iterable[float]) -> float:
        ordered = sorted((0.0, *filter(math.isfinite, ends)))
        most = max(ordered[int(_MOST_ROWS * (len(ordered) - 1))], _MOST_MARGINS * margin)
        return max(min(ordered[-1], most), 2 * margin)

    low, high = reach(-one[0] for _, one in known), reach(one[2] for _, one in known)
    least = (low + high) / _MOST_TICKS
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= least)
    return ChangeScale(-math.ceil(low / step) * step, math.ceil(high / step) * step, step)


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
    views = (*view.shown, *(one for group in view.folded for one in group.benchmarks))
    scale = overview_scale(
        row for rows in groups for row in rows if row is rows[0] or is_news(row, rows[0])
    )
    charts: dict[str, Chart] = {}
    sections = []
    errors: dict[str, str] = {}
    less = leaves_out(len(views))
    lost: list[str] = []
    for index, (rows, one) in enumerate(zip(groups, views, strict=True)):
        key = f"b{index + 1}"
        own = figures.get(rows[0].benchmark) if figures and index < MOST_DRAWN else None
        draw = partial(plots, own, redact, rows, all_metrics=not less)
        found = without_it("figures of a benchmark", draw, (), lost.append)
        captions = tuple((f"{key}-{number}", plot) for number, plot in enumerate(found))
        charts |= {key: plot.chart for key, plot in captions}
        make = partial(_section, verdict=view, scale=scale, errors=errors)
        calls = own.calls.get(TIME.name) if own else None
        drawn: tuple[FlameView, ...] = ()
        if calls:
            drawn = without_it("flame graph", partial(flames, *calls, redact), (), lost.append)
        sections.append(make(key, rows, one, captions, drawn))
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
        figures=charts,
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
        absent=redact(absent) if figures is None else less,
        provenance=known(said[0]),
        machine=known(said[1]),
        decided=said[2],
        ratio_titles=(*RATIO_TITLES[:2], view.interval_title, RATIO_TITLES[3]),
        test_titles=TEST_TITLES,
    )


def _section(
    key: str,
    rows: Sequence[Row],
    view: BenchmarkView,
    figures: tuple[tuple[str, Plot], ...],
    drawn: tuple[FlameView, ...],
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
    first_key = errors.setdefault(error, key) if error else ""
    return BenchmarkSection(
        key,
        view,
        shown[0],
        tuple(one for row, one in zip(rows, shown, strict=True) if is_news(row, rows[0])),
        "" if worse is None else f"{worse:.6g}",
        verdict.links.source(view.first.location),
        note,
        said,
        error if first_key == key else "",
        first_key,
        tuple(one.row.statistic or "value" for one in shown),
        _numbers(shown, verdict.interval_title),
        figures,
        drawn,
    )


def _page_row(row: Row, view: RowView, scale: ChangeScale) -> PageRow:
    rounds = words.rounds(row)
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

"""Writes the verdict as GitHub's Markdown: a table of what needs attention, the rest folded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING

from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision
from benchgate.report.cells import (
    WARNING_SIGN,
    about_cell,
    change_cell,
    drawn_cell,
    lines,
    link,
    name,
    unbroken,
)
from benchgate.report.chart import LEGEND as CHART_LEGEND
from benchgate.report.comparison import RATIO_TITLES, TEST_TITLES
from benchgate.report.drawing import LEGEND as DRAWING_LEGEND
from benchgate.report.escape import (
    code_block,
    code_span,
    html_code,
    html_text,
    paragraph,
    plain_line,
    prose,
    with_code,
)
from benchgate.report.sparkline import LEGEND as COURSE_LEGEND
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchgate.report.benchmark_view import BenchmarkView, Failure, RowView
    from benchgate.report.chart import Chart
    from benchgate.report.comparison import ComparisonView
    from benchgate.report.view import Group, VerdictView

PRODUCT = "benchgate"
_ICONS = {
    Decision.PASS: "\N{WHITE HEAVY CHECK MARK}",
    Decision.FAIL: "\N{CROSS MARK}",
    Decision.NO_VERDICT: WARNING_SIGN,
}
_GREETING = "\N{WAVING HAND SIGN}"
# Space for the first and the last line, which every comment has.
_SENTENCE_LIMIT = 2000
_BULLET = "&bull;"
_LEGEND = (
    "In each round, base and head were measured in turn, each in a fresh process. "
    '"Typical" is the value that a quarter of the samples stay below (p25); '
    '"tail" is the value that 19 of 20 stay below (p95). '
    "p is the probability of a difference at least this large if nothing changed, "
    "adjusted for the number of rows that were tested. "
    "The interval holds the changes that agree with the rounds. "
    "The change is estimated from the rounds; the values of base and head agree with it. "
    "The medians are those of the launches as measured: they ignore which launches belong "
    "together, so they can differ from the change. "
    f"{DRAWING_LEGEND} {COURSE_LEGEND}"
)


class Content(IntEnum):
    """The kinds of folded parts, most important first."""

    OUTPUT = 1
    DETAIL = 2
    GROUP = 3
    EVIDENCE = 4
    CHART = 5


@dataclass(frozen=True, slots=True)
class Part:
    """A folded part, which is shown whole or not at all.

    Attributes:
        title: title of a group, in words: "7 unchanged within 2 %".
        rows: the least number of lines in its table.
        benchmarks: how many benchmarks it is about.
    """

    content: Content
    title: str
    rows: int
    render: Callable[[], str]
    benchmarks: int = 1


def render_markdown(verdict: VerdictView) -> str:
    """The complete verdict, however long; ends in a newline."""
    blocks = (
        first_line(verdict),
        second_line(verdict),
        "\n".join(warning_lines(verdict)),
        "\n".join(result_lines(verdict.shown, verdict)),
        "\n".join(footnote_lines(verdict.shown, verdict)),
        what_to_do(verdict),
        *(part.render() for part in folded_parts(verdict)),
        last_line(verdict),
    )
    return "\n\n".join(filter(None, blocks)) + "\n"


def first_line(verdict: VerdictView) -> str:
    """The verdict in words, as a heading."""
    icon = _GREETING if verdict.is_first_run else _ICONS[verdict.decision]
    return f"### {icon} {PRODUCT}: {with_code(plain_line(verdict.headline, _SENTENCE_LIMIT))}"


def second_line(verdict: VerdictView) -> str:
    """What did not fit into the heading; "" if everything did."""
    more = plain_line(verdict.more, _SENTENCE_LIMIT)
    return f"{paragraph(with_code(_sentence(more)))}." if more else ""


def warning_lines(verdict: VerdictView) -> list[str]:
    """One quoted line for each loosening of the gate, and for each warning."""
    lines = []
    for loosening in verdict.loosening:
        lines.append(f"> **{prose(_sentence(loosening.title))}:**  ")
        lines += [f"> {_BULLET} {prose(change)}  " for change in loosening.changes]
    return lines + [f"> **Warning:** {with_code(text)}  " for text in verdict.warnings]


def result_lines(benchmarks: Sequence[BenchmarkView], verdict: VerdictView) -> list[str]:
    """A table: two lines of titles, then one line per benchmark; empty without benchmarks."""
    links = verdict.links
    titles = ("change", "benchmark", link(unbroken(verdict.interval_title), links.columns))
    columns = dict.fromkeys(titles, "---")
    rows = [
        (change_cell(one.first, links), about_cell(one, links), drawn_cell(one.first))
        for one in benchmarks
    ]
    return _table(columns, rows) if rows else []


def footnote_lines(benchmarks: Iterable[BenchmarkView], verdict: VerdictView) -> list[str]:
    """The notes that these benchmarks share with others, each once."""
    used = {mark for one in benchmarks for mark in one.footnotes}
    return [
        f"<sub>{with_code(f'{note.mark} {note.about}: {note.text}')}</sub>  "
        for note in verdict.footnotes
        if note.mark in used
    ]


def what_to_do(verdict: VerdictView) -> str:
    """What a reader can do about it, and how to measure it again; "" if there is nothing to do."""
    is_worse = any(
        one.first.outcome is Outcome.REGRESSED and one.first.fails for one in verdict.shown
    )
    waive = link("accept it for a while", verdict.links.waivers)
    sentences = (
        f"Find out why it got worse, or {waive}." if is_worse else "",
        f"To measure it on your machine: {code_span(verdict.repeat)}" if verdict.repeat else "",
    )
    return " ".join(filter(None, sentences))


def folded_parts(verdict: VerdictView) -> Iterator[Part]:
    """The parts after the table, in the order in which they are shown."""
    for failure in verdict.failures:
        render = partial(_output, failure)
        yield Part(Content.OUTPUT, "", 1, render, len(failure.benchmarks))
    for group in verdict.folded:
        render = partial(_group, group, verdict)
        yield Part(Content.GROUP, group.title, len(group.benchmarks), render)
    if verdict.rows:
        render = partial(_evidence, verdict.rows)
        yield Part(Content.EVIDENCE, "", len(verdict.rows), render)
    for row in verdict.rows:
        if row.detail:
            render = partial(_detail, row.detail, verdict.interval_title)
            yield Part(Content.DETAIL, "", 1, render)
    if verdict.chart:
        render = partial(_chart, verdict.chart)
        yield Part(Content.CHART, "", len(verdict.chart.key), render)
    if verdict.skipped:
        render = partial(_skipped, verdict)
        yield Part(Content.GROUP, verdict.skipped_title, len(verdict.skipped_in_short), render)


def last_line(verdict: VerdictView) -> str:
    """What was compared, where, and how strictly; and where to read more."""
    links = verdict.links
    named = {
        "the run": links.run,
        "the figures of every benchmark": links.page,
        "the comparison": links.compare,
        "how to read this": links.guide,
    }
    known = ", ".join(link(prose(title), url) for title, url in named.items() if url)
    sentences = (
        prose(plain_line(verdict.last_line, _SENTENCE_LIMIT)),
        f"See {known}." if known else "",
    )
    return f"<sub>{' '.join(filter(None, sentences))}</sub>"


def _output(failure: Failure) -> str:
    first, *others = failure.benchmarks
    more = f" and {counted(len(others), 'other benchmark')}" if others else ""
    return folded(f"Output of {html_code(first)}{more}", code_block(failure.output))


def _group(group: Group, verdict: VerdictView) -> str:
    parts = (result_lines(group.benchmarks, verdict), footnote_lines(group.benchmarks, verdict))
    return folded(html_text(group.title), "\n\n".join("\n".join(part) for part in parts if part))


def _chart(chart: Chart) -> str:
    key = "\n".join(
        f"{number}. {code_span(name)} {prose(change)}"
        for number, (name, change) in enumerate(chart.key, start=1)
    )
    body = (f"```mermaid\n{chart.source}\n```", CHART_LEGEND, key)
    return folded("Chart of the changes", "\n\n".join(body))


def _skipped(verdict: VerdictView) -> str:
    lines = (f"- {code_span(what)}: {prose(reason)}" for what, reason in verdict.skipped_in_short)
    return folded(html_text(verdict.skipped_title), "\n".join(lines))


def _evidence(rows: Sequence[RowView]) -> str:
    titles = (
        "benchmark",
        "statistic",
        "measured",
        "medians",
        "test",
        "p",
        "p adjusted",
        "detectable",
        "rounds",
        "textbook comparison",
    )
    table = _table(dict.fromkeys(titles, "---"), [_reasons(row) for row in rows])
    return folded("How each row was decided", "\n".join((_LEGEND, "", *table)))


def _reasons(row: RowView) -> tuple[str, ...]:
    medians = lines(*map(unbroken, row.medians.split(", ")))
    texts = (row.test, row.p_raw, row.p, row.detectable, row.rounds, row.classical)
    return (name(row), prose(row.statistic), prose(row.tier), medians, *map(prose, texts))


def _detail(detail: ComparisonView, interval_title: str) -> str:
    name, estimate, _, method = RATIO_TITLES
    ratios = {name: "---", estimate: "--:", interval_title: "--:", method: "---"}
    tests = {title: "--:" if index else "---" for index, title in enumerate(TEST_TITLES)}
    facts = "\n".join(f"- **{prose(label)}**: {prose(text)}" for label, text in detail.facts)
    tables = (
        _table(ratios, [tuple(map(prose, line)) for line in detail.ratios]),
        _table(tests, [tuple(map(prose, line)) for line in detail.tests]),
    )
    return folded(html_text(detail.title), "\n\n".join((*map("\n".join, tables), facts)))


def _table(columns: Mapping[str, str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table: titles, alignment and rows, without columns that are empty."""
    shown = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    lines = (tuple(columns), tuple(columns.values()), *rows)
    return [f"| {' | '.join(line[i] for i in shown)} |" for line in lines]


def folded(title: str, body: str) -> str:
    """Fold a text; because of the empty lines, GitHub reads the inside as markdown."""
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"

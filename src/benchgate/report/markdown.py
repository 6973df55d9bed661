"""Writes the verdict as GitHub's Markdown: a table of what needs attention, the rest folded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING

from benchgate.model.verdict import Decision
from benchgate.report.escape import (
    code_block,
    code_cell,
    code_span,
    html_code,
    html_text,
    plain_line,
    prose,
)
from benchgate.report.view import RATIO_TITLES, TEST_TITLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchgate.report.view import ComparisonView, Group, RowView, VerdictView

_ICONS = {
    Decision.PASS: "\N{WHITE HEAVY CHECK MARK}",
    Decision.FAIL: "\N{CROSS MARK}",
    Decision.NO_VERDICT: "\N{WARNING SIGN}\N{VARIATION SELECTOR-16}",
}
# A longer name would push the numbers out of sight.
_NAME_LIMIT = 100
_NOTE_LIMIT = 600
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
    "together, so they can differ from the change."
)


class Content(IntEnum):
    """The kinds of folded parts, most important first."""

    OUTPUT = 1
    DETAIL = 2
    GROUP = 3
    EVIDENCE = 4


@dataclass(frozen=True, slots=True)
class Part:
    """A folded part, which is shown whole or not at all.

    Attributes:
        title: title of a group, in words: "7 unchanged within 2 %".
        rows: the least number of lines in its table.
    """

    content: Content
    title: str
    rows: int
    render: Callable[[], str]


def render_markdown(verdict: VerdictView) -> str:
    """The complete verdict, however long; ends in a newline."""
    blocks = (
        first_line(verdict),
        "\n".join(warning_lines(verdict)),
        "\n".join(result_lines(verdict.attention, verdict.interval_title)),
        *(part.render() for part in folded_parts(verdict)),
        last_line(verdict),
    )
    return "\n\n".join(filter(None, blocks)) + "\n"


def first_line(verdict: VerdictView) -> str:
    """The verdict in words, as a heading."""
    return f"### {_ICONS[verdict.decision]} {prose(plain_line(verdict.headline, _SENTENCE_LIMIT))}"


def warning_lines(verdict: VerdictView) -> list[str]:
    """One quoted line for each loosening of the gate, and for each warning."""
    lines = []
    for loosening in verdict.loosening:
        lines.append(f"> **{prose(_sentence(loosening.title))}:**  ")
        lines += [f"> {_BULLET} {prose(change)}  " for change in loosening.changes]
    return lines + [f"> **Warning:** {prose(text)}  " for text in verdict.warnings]


def result_lines(rows: Sequence[RowView], interval_title: str) -> list[str]:
    """A table of rows: two lines of titles, then one line per row; empty without rows."""
    columns = {
        "outcome": "---",
        "benchmark": "---",
        "base": "--:",
        "head": "--:",
        f"change<br>{_unbroken(interval_title)}": "--:",
        "p": "--:",
        "rounds": "--:",
    }
    return _table(columns, [_result(row) for row in rows]) if rows else []


def folded_parts(verdict: VerdictView) -> Iterator[Part]:
    """The parts after the table, in the order in which they are shown."""
    for row in verdict.attention:
        if row.error:
            yield Part(Content.OUTPUT, "", 1, partial(_output, row))
    for group in verdict.folded:
        render = partial(_group, group, verdict.interval_title)
        yield Part(Content.GROUP, group.title, len(group.rows), render)
    if verdict.rows:
        render = partial(_evidence, verdict.rows)
        yield Part(Content.EVIDENCE, "", len(verdict.rows), render)
    for row in verdict.rows:
        if row.detail:
            render = partial(_detail, row.detail, verdict.interval_title)
            yield Part(Content.DETAIL, "", 1, render)
    if verdict.skipped:
        render = partial(_skipped, verdict)
        yield Part(Content.GROUP, verdict.skipped_title, len(verdict.skipped_in_short), render)


def last_line(verdict: VerdictView) -> str:
    """A sentence on what was compared, where, and how strictly."""
    return f"<sub>{prose(plain_line(verdict.last_line, _SENTENCE_LIMIT))}</sub>"


def _output(row: RowView) -> str:
    return folded(f"Output of {html_code(row.benchmark)}", code_block(row.error))


def _group(group: Group, interval_title: str) -> str:
    body = "\n".join(result_lines(group.rows, interval_title))
    return folded(html_text(group.title), body)


def _skipped(verdict: VerdictView) -> str:
    lines = (f"- {code_span(what)}: {prose(reason)}" for what, reason in verdict.skipped_in_short)
    return folded(html_text(verdict.skipped_title), "\n".join(lines))


def _result(row: RowView) -> tuple[str, ...]:
    change = f"**{_unbroken(row.change)}**" if row.change else ""
    return (
        f"**{_unbroken(row.outcome.value)}**",
        _lines(_name(row), prose(row.statistic), _small(plain_line(row.note, _NOTE_LIMIT))),
        _unbroken(row.base),
        _unbroken(row.head),
        _lines(change, _unbroken(row.interval)),
        _unbroken(row.p),
        prose(row.rounds),
    )


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
        "textbook comparison",
    )
    table = _table(dict.fromkeys(titles, "---"), [_reasons(row) for row in rows])
    return folded("How each row was decided", "\n".join((_LEGEND, "", *table)))


def _reasons(row: RowView) -> tuple[str, ...]:
    medians = _lines(*map(_unbroken, row.medians.split(", ")))
    texts = (row.test, row.p_raw, row.p, row.detectable, row.classical)
    return (_name(row), prose(row.statistic), prose(row.tier), medians, *map(prose, texts))


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


def _name(row: RowView) -> str:
    return code_cell(plain_line(row.benchmark, _NAME_LIMIT))


def _lines(*parts: str) -> str:
    return "<br>".join(part for part in parts if part)


def _unbroken(text: str) -> str:
    """Keep a number on one line with its unit."""
    return prose(text).replace(" ", "&nbsp;")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _small(text: str) -> str:
    return f"<sub>{prose(text)}</sub>" if text else ""

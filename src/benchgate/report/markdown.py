"""The verdict as GitHub's markdown: what needs attention in a table, the rest folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchgate.model.verdict import Decision
from benchgate.report.comparison import RATIO_TITLES, TEST_TITLES
from benchgate.report.escape import code_block, code_cell, html_code, html_text, plain_line, prose

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.report.comparison import ComparisonView
    from benchgate.report.view import RowView, VerdictView

_ICONS = {
    Decision.PASS: "\N{WHITE HEAVY CHECK MARK}",
    Decision.FAIL: "\N{CROSS MARK}",
    Decision.NO_VERDICT: "\N{WARNING SIGN}\N{VARIATION SELECTOR-16}",
}
# A longer one pushes the numbers out of sight.
_NAME_LIMIT = 100
_LEGEND = (
    "In each round, base and head were each started afresh and measured in turn. "
    '"Typical" is the value that a quarter of the samples stay below (p25), '
    '"tail" the one that 19 of 20 stay below (p95). '
    "p is the probability of a difference at least this large when nothing changed, "
    "and is adjusted for the number of rows that were tested. "
    "The interval holds the changes that the rounds agree with."
)


def render_markdown(verdict: VerdictView) -> str:
    """The whole comment, without the marker that a publisher adds; ends in a newline."""
    return "\n\n".join(_blocks(verdict)) + "\n"


def _blocks(verdict: VerdictView) -> Iterator[str]:
    yield f"### {_ICONS[verdict.decision]} {prose(verdict.headline)}"
    if verdict.warnings:
        yield "\n".join(f"> **Warning:** {prose(text)}  " for text in verdict.warnings)
    if verdict.attention:
        yield _results(verdict.attention, verdict.interval_title)
    for row in verdict.attention:
        if row.error:
            yield _folded(f"Output of {html_code(row.benchmark)}", code_block(row.error))
    for group in verdict.folded:
        yield _folded(html_text(group.title), _results(group.rows, verdict.interval_title))
    if verdict.rows:
        yield _folded("How each row was decided", f"{_LEGEND}\n\n{_evidence(verdict.rows)}")
    for row in verdict.rows:
        if row.detail:
            body = _detail(row.detail, verdict.interval_title)
            yield _folded(html_text(row.detail.title), body)
    yield f"<sub>{prose(verdict.last_line)}</sub>"


def _results(rows: Sequence[RowView], interval_title: str) -> str:
    columns = {
        "outcome": "---",
        "benchmark": "---",
        "base": "--:",
        "head": "--:",
        f"change<br>{_unbroken(interval_title)}": "--:",
        "p": "--:",
        "rounds": "--:",
    }
    return _table(columns, [_result(row) for row in rows])


def _result(row: RowView) -> tuple[str, ...]:
    change = f"**{_unbroken(row.change)}**" if row.change else ""
    return (
        f"**{_unbroken(row.outcome.value)}**",
        _lines(_name(row), prose(row.statistic), _small(row.note)),
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
        "test",
        "p",
        "p adjusted",
        "could have seen",
        "textbook comparison",
    )
    return _table(dict.fromkeys(titles, "---"), [_reasons(row) for row in rows])


def _reasons(row: RowView) -> tuple[str, ...]:
    texts = (row.tier, row.test, row.p_raw, row.p, row.detectable, row.classical)
    return (_name(row), prose(row.statistic), *map(prose, texts))


def _detail(detail: ComparisonView, interval_title: str) -> str:
    name, estimate, _, method = RATIO_TITLES
    ratios = {name: "---", estimate: "--:", interval_title: "--:", method: "---"}
    tests = {title: "--:" if index else "---" for index, title in enumerate(TEST_TITLES)}
    facts = "\n".join(f"- **{prose(label)}**: {prose(text)}" for label, text in detail.facts)
    return "\n\n".join(
        (
            _table(ratios, [tuple(map(prose, line)) for line in detail.ratios]),
            _table(tests, [tuple(map(prose, line)) for line in detail.tests]),
            facts,
        )
    )


def _table(columns: Mapping[str, str], rows: Sequence[Sequence[str]]) -> str:
    """A table of titles with their alignment; columns without any content are left out."""
    shown = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    lines = (tuple(columns), tuple(columns.values()), *rows)
    return "\n".join(f"| {' | '.join(line[i] for i in shown)} |" for line in lines)


def _folded(title: str, body: str) -> str:
    """The empty lines make GitHub read what is inside as markdown."""
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _name(row: RowView) -> str:
    return code_cell(plain_line(row.benchmark, _NAME_LIMIT))


def _lines(*parts: str) -> str:
    return "<br>".join(part for part in parts if part)


def _unbroken(text: str) -> str:
    """A number stays on one line with its unit."""
    return prose(text).replace(" ", "&nbsp;")


def _small(text: str) -> str:
    return f"<sub>{prose(text)}</sub>" if text else ""

"""Writes the cells of a table in GitHub's Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from benchgate.model.policy import Outcome
from benchgate.report.escape import breaking_code, code_cell, plain_line, prose, with_code

if TYPE_CHECKING:
    from benchgate.report.benchmark_view import BenchmarkView, RowView
    from benchgate.report.links import Links

WARNING_SIGN = "\N{WARNING SIGN}\N{VARIATION SELECTOR-16}"
_OUTCOME_ICONS = {
    Outcome.FAILED: "\N{CROSS MARK}",
    Outcome.REGRESSED: "\N{LARGE RED CIRCLE}",
    Outcome.OVER_LIMIT: "\N{LARGE RED CIRCLE}",
    Outcome.IMPROVED: "\N{LARGE GREEN CIRCLE}",
    Outcome.MISSING: WARNING_SIGN,
    Outcome.INCOMPARABLE: WARNING_SIGN,
    Outcome.BASE_FAILED: WARNING_SIGN,
    Outcome.WAIVED: "\N{LARGE YELLOW CIRCLE}",
    Outcome.INCONCLUSIVE: "\N{BLACK QUESTION MARK ORNAMENT}",
    Outcome.NOT_TESTED: "\N{BLACK QUESTION MARK ORNAMENT}",
    Outcome.NOT_SETTLED: "\N{MEDIUM WHITE CIRCLE}",
    Outcome.NEW: "\N{SQUARED NEW}",
    Outcome.UNCHANGED: "\N{WHITE HEAVY CHECK MARK}",
    Outcome.WITHIN_LIMIT: "\N{WHITE HEAVY CHECK MARK}",
}
# Of the others, a number in bold would look as if it were known.
_CHANGED = frozenset({Outcome.REGRESSED, Outcome.IMPROVED, Outcome.WAIVED})
_NOTE_LIMIT = 600
# A longer name does not fit beside the change on a phone, unless its lines may break.
_UNBROKEN_NAME = 28


def change_cell(row: RowView, links: Links) -> str:
    """The first cell: by how much, and what that is called; the one that counts is bold."""
    change = unbroken(row.change)
    outcome = link(unbroken(row.outcome.value), links.outcome(row.outcome))
    first, second = (change, outcome) if row.outcome in _CHANGED and change else (outcome, change)
    return lines(f"{_OUTCOME_ICONS[row.outcome]}&nbsp;**{first}**", second)


def about_cell(one: BenchmarkView, links: Links) -> str:
    """The second cell, which a phone still shows: the benchmark, its values, and what is said."""
    first = one.first
    statistic = first.statistic if first.values else ""
    note = plain_line(one.note, _NOTE_LIMIT)
    gap = " " if note.startswith("[") else "; "
    return lines(
        link(name(first), links.source(first.location)),
        unbroken(first.values),
        _small(gap.join(filter(None, (statistic, note)))),
        *(_small(plain_line(text, _NOTE_LIMIT)) for text in one.about_others),
    )


def drawn_cell(row: RowView) -> str:
    """The third cell: how sure the change is, and how it compares with earlier runs."""
    return lines(
        code_cell(row.drawing) if row.drawing else "",
        unbroken(row.interval),
        f"{code_cell(row.course)}<br>{_small(row.course_title)}" if row.course else "",
    )


def link(text: str, url: str) -> str:
    """Markdown that shows a text, as a link if there is an address."""
    return f"[{text}](<{quote(url, safe=':/?#=&%')}>)" if url else text


def name(row: RowView) -> str:
    """The whole id; a long one may take several lines."""
    is_long = len(row.benchmark) > _UNBROKEN_NAME
    return breaking_code(row.benchmark) if is_long else code_cell(row.benchmark)


def lines(*parts: str) -> str:
    """The parts that are not empty, one below the other."""
    return "<br>".join(part for part in parts if part)


def unbroken(text: str) -> str:
    """Keep a number on one line with its unit."""
    return prose(text).replace(" ", "&nbsp;")


def _small(text: str) -> str:
    return f"<sub>{with_code(text, code_cell)}</sub>" if text else ""

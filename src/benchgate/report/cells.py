"""Writes the cells of a table in GitHub's Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from benchgate.model.outcome import Outcome
from benchgate.report.escape import code_cell, plain_line, prose, with_code

if TYPE_CHECKING:
    from benchgate.report.benchmark_view import BenchmarkView, RowView
    from benchgate.report.links import Links

WARNING_SIGN = "\N{WARNING SIGN}\N{VARIATION SELECTOR-16}"
_OUTCOME_ICONS = {
    Outcome.FAILED: "\N{CROSS MARK}",
    Outcome.REGRESSED: "\N{LARGE RED CIRCLE}",
    Outcome.IMPROVED: "\N{LARGE GREEN CIRCLE}",
    Outcome.MISSING: WARNING_SIGN,
    Outcome.INCOMPARABLE: WARNING_SIGN,
    Outcome.BASE_FAILED: WARNING_SIGN,
    Outcome.WAIVED: "\N{LARGE YELLOW CIRCLE}",
    Outcome.INCONCLUSIVE: "\N{BLACK QUESTION MARK ORNAMENT}",
    Outcome.NOT_TESTED: "\N{BLACK QUESTION MARK ORNAMENT}",
    Outcome.NEW: "\N{SQUARED NEW}",
    Outcome.UNCHANGED: "\N{WHITE HEAVY CHECK MARK}",
}
_NOTE_LIMIT = 600


def change_cell(row: RowView, links: Links) -> str:
    """The first cell: outcome, change, interval and drawing, which a narrow screen still shows."""
    outcome = link(f"**{unbroken(row.outcome.value)}**", links.outcome(row.outcome))
    change = f"&nbsp;**{unbroken(row.change)}**" if row.change else ""
    drawing = code_cell(row.drawing) if row.drawing else ""
    icon = _OUTCOME_ICONS[row.outcome]
    return lines(f"{icon}&nbsp;{outcome}{change}", unbroken(row.interval), drawing)


def about_cell(one: BenchmarkView, links: Links) -> str:
    """The second cell: the benchmark, its values, its other rows, and notes."""
    first = one.first
    return lines(
        link(name(first), links.source(first.location)),
        _measured(first),
        _small(plain_line(one.note, _NOTE_LIMIT)),
        *(_small(plain_line(text, _NOTE_LIMIT)) for text in one.about_others),
    )


def _measured(row: RowView) -> str:
    return (
        ": ".join(filter(None, (prose(row.statistic), unbroken(row.values)))) if row.values else ""
    )


def link(text: str, url: str) -> str:
    """Markdown that shows a text, as a link if there is an address."""
    return f"[{text}](<{quote(url, safe=':/?#=&%')}>)" if url else text


def name(row: RowView) -> str:
    """The whole id, which comes after the numbers and so cannot push them out of sight."""
    return code_cell(row.benchmark)


def lines(*parts: str) -> str:
    """The parts that are not empty, one below the other."""
    return "<br>".join(part for part in parts if part)


def unbroken(text: str) -> str:
    """Keep a number on one line with its unit."""
    return prose(text).replace(" ", "&nbsp;")


def _small(text: str) -> str:
    return f"<sub>{with_code(text, code_cell)}</sub>" if text else ""

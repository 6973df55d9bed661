"""The cells and lines of a verdict in GitHub's Markdown."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from benchgate.escape import (
    breaking_code,
    code_cell,
    plain_line,
    prose,
    with_code,
)
from benchgate.model.policy import CHANGED
from benchgate.report.row_view import BenchmarkView, TogetherView

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.report.links import Links
    from benchgate.report.row_view import RowView


# Of the others, a number in bold would look as if it were known.
_NOTE_LIMIT = 600
# A longer name does not fit beside the change on a phone, unless its lines may break.
_UNBROKEN_NAME = 28
NO_NOTES: Final[Mapping[str, str]] = MappingProxyType({})


def change_cell(row: RowView, change: str = "") -> str:
    """The first cell: by how much, and how sure that is.

    Args:
        change: instead of that of the row.
    """
    known, what = change or row.change, f"{row.icon}&nbsp;{unbroken(row.word)}"
    if row.outcome not in CHANGED or not known:
        return lines(what, unbroken(row.change))
    below = "least to most" if change else row.interval
    return lines(what, f"**{unbroken(known)}**", _small(unbroken(below)))


def about_cell(one: BenchmarkView, links: Links, once: Mapping[str, str] = NO_NOTES) -> str:
    """The second cell: the benchmark, what is said of it, and its values.

    Args:
        once: what stands in place of these marks.
    """
    first = one.first
    is_changed = first.outcome in CHANGED and first.change
    subject = link(name(first), links.source(first.location))
    note, *others = (plain_line(_written_out(text, once), _NOTE_LIMIT) for text in notes_of(one))
    gap = " " if note.startswith("[") else ", "
    return lines(
        " ".join(filter(None, (f"**{subject}**" if is_changed else subject, prose(first.about)))),
        _small(gap.join(filter(None, (unbroken(first.values), told(note))))),
        _small(_course(first)),
        *(_small(told(text)) for text in others),
    )


def together_cell(one: TogetherView) -> str:
    """The second cell of benchmarks that changed together."""
    note = told(plain_line(one.note, _NOTE_LIMIT))
    title = with_code(one.title, code_cell)
    return lines(f"**{title}**", _small(f"each {note}" if note else ""))


def told(text: str) -> str:
    """A sentence for a table cell, in which `...` is code."""
    return with_code(text, code_cell)


def _course(row: RowView) -> str:
    """The bars of earlier runs and of this one, and what they are."""
    return f"{prose(row.course_title)}: {code_cell(row.course)}" if row.course else ""


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
    return f"<sub>{text}</sub>" if text else ""


def notes_of(one: BenchmarkView | TogetherView) -> tuple[str, ...]:
    """The notes in the line of a table: that on its first row, then those on others."""
    return (one.note, *(one.about_others if isinstance(one, BenchmarkView) else ()))


def _written_out(note: str, once: Mapping[str, str]) -> str:
    for mark, text in once.items():
        note = note.replace(f" {mark}", f"; {text}").replace(mark, text)
    return note

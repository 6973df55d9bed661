"""Fits the verdict's markdown into a limit, and writes the comment if something failed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from benchgate.report.cells import WARNING_SIGN, link
from benchgate.report.escape import (
    code_block,
    paragraph,
    plain_block,
    plain_line,
    prose,
    with_code,
)
from benchgate.report.markdown import (
    PRODUCT,
    Content,
    first_line,
    folded,
    folded_parts,
    footnote_lines,
    last_line,
    result_lines,
    second_line,
    warning_lines,
    what_to_do,
)
from benchgate.report.view import NAME_LIMIT
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchgate.report.benchmark_view import BenchmarkView
    from benchgate.report.markdown import Part
    from benchgate.report.view import VerdictView

_MESSAGE_LIMIT = 1000


def render_failure(
    message: str, *, hint: str, details: str, head: str, name: str = "", run_url: str = ""
) -> str:
    """The failure as GitHub's markdown; ends in a newline.

    Args:
        message: what happened, as the log has it.
        details: output of the program that failed; only its last lines are shown.
        head: the commit that should have been judged.
        name: tells several verdicts on the same page apart; "" if there is only one.
        run_url: address of the log; "" if it is on this page.
    """
    first = f"{plain_line(name, NAME_LIMIT)}: no verdict" if name else "no verdict"
    run = f" {link('The run', run_url)}." if run_url else ""
    last = f"There is no verdict on {prose(head[:7])}; earlier verdicts are about other commits."
    said = with_code(plain_line(message, _MESSAGE_LIMIT))
    blocks = [
        f"### {WARNING_SIGN} {PRODUCT}: {prose(first)}: {said}",
        paragraph(with_code(plain_line(hint, _MESSAGE_LIMIT))),
        folded("What it printed", code_block(plain_block(details))) if details.strip() else "",
        f"<sub>{last}{run}</sub>",
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


COMMENT_BYTES: Final = 65_536 - 1_024
"""Size limit of a verdict in a comment; the rest is for the publisher's hidden marker."""

# An empty line separates two parts.
_GAP = "\n\n"
_TITLE_LINES = 2
# Table lines are never this short: a table with more lines than would fit is not even made.
_LEAST_LINE_BYTES = 16
# However many warnings there are, most of the space is for the table.
_WARNINGS_SHARE = 4


def render_comment(
    verdict: VerdictView, *, limit_bytes: int = COMMENT_BYTES, summary_url: str = ""
) -> str:
    """The verdict within a number of bytes; names below what is left out; ends in a newline.

    It leaves out the least important parts first: the chart, how each row was decided, the rows
    that need no attention, details, outputs of failed benchmarks, then rows that need attention,
    starting with the least bad. The first line always stays, even if it exceeds the limit.

    Args:
        summary_url: address of the complete verdict; "" if there is none.
    """
    first, last = first_line(verdict), last_line(verdict)
    parts, all_warnings = list(folded_parts(verdict)), warning_lines(verdict)
    # Naming what is left out must not take more space than the whole of it.
    least = (
        first,
        second_line(verdict),
        _more_warnings(len(all_warnings)),
        _more_benchmarks(verdict.shown),
        _left_out(parts, summary_url),
        what_to_do(verdict),
        last,
    )
    room = limit_bytes - sum(map(_size, least))
    if room < 0:
        return f"{first}\n"
    warnings = _fitting(all_warnings, room // _WARNINGS_SHARE)
    room -= sum(map(_size, warnings))
    warnings.append(_more_warnings(len(all_warnings) - len(warnings)))
    some = verdict.shown[: room // _LEAST_LINE_BYTES]
    notes = _fitting(footnote_lines(some, verdict), room // _WARNINGS_SHARE)
    room -= sum(map(_size, notes))
    table = _fitting(result_lines(some, verdict), room)
    more = _more_benchmarks(verdict.shown[max(0, len(table) - _TITLE_LINES) :])
    chosen = {} if more else _choose(parts, room - sum(map(_size, table)))
    rest = [part for index, part in enumerate(parts) if index not in chosen]
    is_table = len(table) > _TITLE_LINES
    blocks = (
        first,
        second_line(verdict),
        "\n".join(filter(None, warnings)),
        "\n".join(table) if is_table else "",
        "\n".join(notes) if is_table else "",
        more,
        what_to_do(verdict),
        *(chosen[index] for index in sorted(chosen)),
        _left_out(rest, summary_url) if rest or more else "",
        last,
    )
    return _GAP.join(filter(None, blocks)) + "\n"


def _more_warnings(count: int) -> str:
    """The warnings that are not shown, counted."""
    return f"> and {counted(count, 'more warning')}" if count else ""


def _more_benchmarks(rest: Sequence[BenchmarkView]) -> str:
    """The benchmarks that are not shown, counted by outcome: no regression goes unmentioned."""
    if not rest:
        return ""
    counts = Counter(one.first.outcome.value for one in rest)
    by_outcome = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    return f"and {counted(len(rest), 'more benchmark')}: {by_outcome}"


def _choose(parts: Sequence[Part], room: int) -> dict[int, str]:
    """The parts that fit, by position: the most important first, until one does not fit.

    Less important parts then do not fill the space, or nobody would notice what is missing.
    """
    chosen: dict[int, str] = {}
    for index, part in sorted(enumerate(parts), key=lambda place: place[1].content):
        if part.rows * _LEAST_LINE_BYTES > room:
            break
        text = part.render()
        room -= _size(text)
        if room < 0:
            break
        chosen[index] = text
    return chosen


def _left_out(parts: Iterable[Part], summary_url: str) -> str:
    """Name what is missing, and where to find it."""
    what = "; ".join(_named(parts))
    sentence = f"Not shown here: {prose(what)}." if what else ""
    where = link("Everything is in the summary of the run", summary_url) if summary_url else ""
    where = f"{where}." if where else ""
    return f"<sub>{' '.join(filter(None, (sentence, where)))}</sub>" if sentence or where else ""


def _named(parts: Iterable[Part]) -> Iterator[str]:
    missing = list(parts)
    counts = Counter(part.content for part in missing)
    if outputs := sum(part.benchmarks for part in missing if part.content is Content.OUTPUT):
        yield f"the output of {counted(outputs, 'failed benchmark')}"
    if details := counts[Content.DETAIL]:
        yield f"the details of {counted(details, 'row')}"
    yield from (part.title for part in missing if part.content is Content.GROUP)
    if counts[Content.EVIDENCE]:
        yield "how each row was decided"
    if counts[Content.CHART]:
        yield "the chart"


def _fitting(lines: Iterable[str], room: int) -> list[str]:
    """The longest start of these lines that fits."""
    kept = []
    for line in lines:
        room -= _size(line)
        if room < 0:
            break
        kept.append(line)
    return kept


def _size(text: str) -> int:
    """The bytes of a text including the gap after it; 0 for an empty text."""
    return len(text.encode()) + len(_GAP) if text else 0

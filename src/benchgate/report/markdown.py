"""Writes the verdict as GitHub's Markdown, and fits it into a comment."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from benchgate.escape import (
    breaking_code,
    code_block,
    code_cell,
    code_span,
    html_code,
    html_text,
    paragraph,
    plain_block,
    plain_line,
    prose,
    with_code,
)
from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision
from benchgate.report.columns import IN_COMMENT
from benchgate.report.drawing import COURSE_LEGEND, INTERVAL_LEGEND
from benchgate.report.view import NAME_LIMIT, RATIO_TITLES, TEST_TITLES
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchgate.report.view import (
        BenchmarkView,
        ComparisonView,
        FailureView,
        Group,
        Links,
        RowView,
        VerdictView,
    )


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
    f"{INTERVAL_LEGEND} {COURSE_LEGEND}"
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


def _output(failure: FailureView) -> str:
    first, *others = failure.benchmarks
    more = f" and {counted(len(others), 'other benchmark')}" if others else ""
    return folded(f"Output of {html_code(first)}{more}", code_block(failure.output))


def _group(group: Group, verdict: VerdictView) -> str:
    parts = (result_lines(group.benchmarks, verdict), footnote_lines(group.benchmarks, verdict))
    return folded(html_text(group.title), "\n\n".join("\n".join(part) for part in parts if part))


def _skipped(verdict: VerdictView) -> str:
    lines = (f"- {code_span(what)}: {prose(reason)}" for what, reason in verdict.skipped_in_short)
    return folded(html_text(verdict.skipped_title), "\n".join(lines))


def _evidence(rows: Sequence[RowView]) -> str:
    titles = ("benchmark", "statistic", *(column.title for column in IN_COMMENT.values()))
    table = _table(dict.fromkeys(titles, "---"), [_reasons(row) for row in rows])
    return folded("How each row was decided", "\n".join((_LEGEND, "", *table)))


def _reasons(row: RowView) -> tuple[str, ...]:
    cells = (
        lines(*map(unbroken, text.split(", "))) if column.is_pair else prose(text)
        for column, text in ((one, row.evidence[index]) for index, one in IN_COMMENT.items())
    )
    return (name(row), prose(row.statistic), *cells)


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

    It leaves out the least important parts first: how each row was decided, the rows that need
    no attention, details, outputs of failed benchmarks, then rows that need attention,
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

"""Writes the verdict as GitHub's Markdown, and fits it into a comment."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Final

from benchgate.escape import (
    code_block,
    code_span,
    html_code,
    html_text,
    paragraph,
    plain_line,
    prose,
    with_code,
)
from benchgate.model.policy import CHANGED, Outcome
from benchgate.report import words
from benchgate.report.columns import IN_COMMENT
from benchgate.report.headline import bare
from benchgate.report.markdown_cells import (
    about_cell,
    change_cell,
    link,
    name,
    notes_of,
    together_cell,
    told,
    unbroken,
)
from benchgate.report.row_detail import RATIO_TITLES, TEST_TITLES
from benchgate.report.row_view import BenchmarkView, TogetherView
from benchgate.report.view import Group
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchgate.report.causes import CauseView
    from benchgate.report.links import Links
    from benchgate.report.row_detail import ComparisonView
    from benchgate.report.row_view import FailureView, Footnote, RowView
    from benchgate.report.view import VerdictView


_MARK = re.compile(r"\[\d+\]")
_PERCENT = re.compile(r"(?<=\d) %")
_BOUND = "\N{NO-BREAK SPACE}%"
# They need no line of their own: the table of all benchmarks has them.
_FINE = frozenset({Outcome.UNCHANGED, Outcome.WITHIN_LIMIT})


# Space for the first and the last line, which every comment has.
_SENTENCE_LIMIT = 2000
_LEGEND = (
    '"Typical" is the value that a quarter of the samples stay below (p25), and "tail" the value '
    "that 19 of 20 stay below (p95). The interval of a change holds what agrees with the rounds. "
    "p adjusted is how often chance alone gives such a difference if nothing changed."
)


class Content(IntEnum):
    """The kinds of folded parts, most important first."""

    OUTPUT = 1
    ACCEPT = 2
    DETAIL = 3
    GROUP = 4
    EVIDENCE = 5


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
        "\n".join(alert_lines(verdict)).rstrip(),
        "\n".join(result_lines(verdict.lines, verdict)),
        "\n".join(footnote_lines(verdict.lines, verdict)),
        what_to_do(verdict),
        *(part.render() for part in folded_parts(verdict)),
        last_line(verdict),
    )
    return "\n\n".join(filter(None, blocks)) + "\n"


def first_line(verdict: VerdictView) -> str:
    """The verdict in words, as a heading."""
    said = plain_line(verdict.headline, _SENTENCE_LIMIT)
    return f"### {verdict.icon} {with_code(_PERCENT.sub(_BOUND, said))}"


def second_line(verdict: VerdictView) -> str:
    """What did not fit into the heading, and how many were not measured; "" for nothing."""
    more = plain_line(verdict.more, _SENTENCE_LIMIT)
    said = f"{paragraph(with_code(_sentence(more)))}." if more else ""
    return " ".join(filter(None, (said, verdict.consequence, verdict.not_measured)))


def alert_lines(verdict: VerdictView) -> list[str]:
    """What must not be missed, as GitHub's alerts; an empty line separates two."""
    found: list[str] = []
    for one in verdict.alerts:
        first, *more = one.lines
        said = (f"> {paragraph(with_code(text))}  " for text in (_sentence(first), *more))
        found += [*([""] if found else []), f"> [!{one.kind}]", *said]
    return found


def result_lines(shown: Sequence[BenchmarkView | TogetherView], verdict: VerdictView) -> list[str]:
    """A table: two lines of titles, then one line for each; empty if there are none."""
    once = _said_once(shown, verdict)
    rows = [_result(one, verdict.links, once) for one in shown]
    has_interval = any(one.first.interval and one.first.outcome in CHANGED for one in shown)
    change = f"change, {verdict.interval_title}" if has_interval else "change"
    return _table(dict.fromkeys((change, "benchmark"), "---"), rows) if rows else []


def _result(
    one: BenchmarkView | TogetherView, links: Links, once: Mapping[str, str]
) -> tuple[str, str]:
    if isinstance(one, TogetherView):
        return change_cell(one.first, one.change), together_cell(one)
    return change_cell(one.first), about_cell(one, links, once)


def _said_once(
    shown: Iterable[BenchmarkView | TogetherView], verdict: VerdictView
) -> Mapping[str, str]:
    """The footnotes that only one benchmark in a table has, by mark: they need not be below it."""
    single = [one for one in shown if isinstance(one, BenchmarkView)]
    counts = Counter(mark for one in single for mark in set(_MARK.findall(" ".join(notes_of(one)))))
    return {note.mark: note.text for note in verdict.footnotes if counts[note.mark] == 1}


def footnote_lines(
    shown: Iterable[BenchmarkView | TogetherView], verdict: VerdictView
) -> list[str]:
    """The notes that these benchmarks share with others, each once."""
    shown = list(shown)
    once = _said_once(shown, verdict)
    marks = {mark for one in shown for mark in _MARK.findall(" ".join(notes_of(one)))} - once.keys()
    return [_footnote(note) for note in verdict.footnotes if note.mark in marks]


def _footnote(note: Footnote) -> str:
    return f"{with_code(f'{note.mark} {note.about}: {note.text}')}  "


def what_to_do(verdict: VerdictView) -> str:
    """The other benchmarks, counted, where to look, and how to measure those above again."""
    # Without lines, the heading says it.
    others = f"The others: {verdict.others}." if verdict.others and verdict.lines else ""
    command = f"Measure it yourself:\n\n```sh\n{verdict.repeat}\n```" if verdict.repeat else ""
    where = _where_to_look(verdict) or _changed_files(verdict)
    return _GAP.join(filter(None, (prose(others), where, command)))


def _where_to_look(verdict: VerdictView) -> str:
    """The functions that the changes come from, linked to their lines; "" if none is known."""
    shown, rest = verdict.causes[:_CAUSES_SHOWN], verdict.causes[_CAUSES_SHOWN:]
    said = [_cause(one, verdict.links) for one in shown]
    said += [f"and {counted(len(rest), 'more')} in the report"] if rest else []
    if len(said) == 1:
        return f"Where to look: {said[0]}"
    return "\n".join(("Where to look:", "", *(f"- {one}" for one in said))) if said else ""


def _cause(one: CauseView, links: Links) -> str:
    function = link(code_span(one.function), links.source(one.location)) if one.function else ""
    said = " ".join(filter(None, (f"({one.edit})" if one.edit else "", one.what)))
    return " ".join(filter(None, (function, with_code(said))))


def _changed_files(verdict: VerdictView) -> str:
    files, more = verdict.named_files
    named = ", ".join(link(code_span(file), url) for file, url in files)
    return f"Changed files: {named}{more}." if named else ""


def folded_parts(verdict: VerdictView) -> Iterator[Part]:
    """The parts after the table, in the order in which they are shown."""
    if verdict.accept:
        yield Part(Content.ACCEPT, "", 1, partial(_accept, verdict))
    for failure in verdict.failures:
        render = partial(_output, failure)
        yield Part(Content.OUTPUT, "", 1, render, len(failure.benchmarks))
    for group in _groups(verdict):
        render = partial(_group, group, verdict)
        yield Part(Content.GROUP, bare(group.title), len(group.benchmarks), render)
    if verdict.rows:
        yield Part(Content.EVIDENCE, "", len(verdict.rows), partial(_evidence, verdict))
    for row in verdict.rows:
        if row.detail:
            render = partial(_detail, row.detail, verdict.interval_title)
            yield Part(Content.DETAIL, "", 1, render)
    if verdict.skipped:
        render = partial(_skipped, verdict)
        yield Part(Content.GROUP, verdict.skipped_title, len(verdict.skipped_in_short), render)


def _groups(verdict: VerdictView) -> Iterator[Group]:
    """The members of those that changed together, and what else has something to say."""
    for one in verdict.lines:
        if isinstance(one, TogetherView):
            yield Group(f"{one.title}, one by one", one.members)
    if not verdict.is_first_run:
        yield from (
            group for group in verdict.folded if group.benchmarks[0].first.outcome not in _FINE
        )


def last_line(verdict: VerdictView) -> str:
    """What was compared, where, and how strictly; and where to read more."""
    links = verdict.links
    named = {
        "run": links.run,
        "report": links.page,
        "diff": links.compare,
        "help": links.guide,
    }
    known = " &middot; ".join(link(prose(title), url) for title, url in named.items() if url)
    said = prose(plain_line(verdict.last_line, _SENTENCE_LIMIT))
    return f"<sub>{' '.join(filter(None, (said, known)))}</sub>"


def _accept(verdict: VerdictView) -> str:
    how = link("push it, let somebody approve, and run the job again", verdict.links.waivers)
    text = f"Add this to `benchgate.toml` with a reason, {how}:"
    return folded("<b>Accept this change</b>", f"{text}\n\n```toml\n{verdict.accept}\n```")


def _output(failure: FailureView) -> str:
    first, *others = failure.benchmarks
    more = f" and {counted(len(others), 'other benchmark')}" if others else ""
    return folded(f"Output of {html_code(first)}{more}", code_block(failure.output))


def _group(group: Group, verdict: VerdictView) -> str:
    parts = (result_lines(group.benchmarks, verdict), footnote_lines(group.benchmarks, verdict))
    title = html_text(_sentence(bare(group.title)))
    return folded(title, "\n\n".join("\n".join(part) for part in parts if part))


def _skipped(verdict: VerdictView) -> str:
    lines = (f"- {code_span(what)}: {prose(reason)}" for what, reason in verdict.skipped_in_short)
    return folded(html_text(verdict.skipped_title), "\n".join(lines))


def _evidence(verdict: VerdictView) -> str:
    known = {} if verdict.is_first_run else IN_COMMENT
    titles = [
        "",
        "benchmark",
        "statistic",
        "change",
        verdict.interval_title,
        f"base {words.ARROW} head",
    ]
    titles += (column.title for column in known.values())
    notes = [
        "" if one.first.outcome not in _FINE and (row is one.first or row in said) else note
        for one in verdict.benchmarks
        for said in [[row for row, _ in one.told]]
        for row, note in ((one.first, one.note), *one.others)
    ]
    rows = [
        (*_reasons(row, known), told(note)) for row, note in zip(verdict.rows, notes, strict=True)
    ]
    table = _table(dict.fromkeys((*titles, "note"), "---"), rows)
    below = [_footnote(one) for one in verdict.footnotes if any(one.mark in note for note in notes)]
    explained = link("How to read this table", verdict.links.columns)
    legend = [f"{_LEGEND} {explained}." if verdict.links.columns else _LEGEND, ""] if known else []
    noun = "measured benchmark" if verdict.same_code else "benchmark"
    count = counted(len(verdict.benchmarks), noun)
    is_only = verdict.same_code and len(verdict.benchmarks) == 1
    every = f"The {noun}" if is_only else f"All {count}"
    title = f"{every}, with tails and tests" if known else f"The {count}"
    return folded(title, "\n".join((*legend, *table, *([""] if below else []), *below)))


def _reasons(row: RowView, columns: Iterable[int]) -> tuple[str, ...]:
    said = (prose(row.statistic), *map(unbroken, (row.change, row.interval, row.values)))
    evidence = (prose(row.evidence[index]) for index in columns)
    return (f"{row.icon}&nbsp;{unbroken(row.word)}", name(row), *said, *evidence)


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


COMMENT_BYTES: Final = 65_536 - 1_024
"""Size limit of a verdict in a comment; the rest is for the publisher's hidden marker."""

# An empty line separates two parts.
_GAP = "\n\n"
_TITLE_LINES = 2
_CAUSES_SHOWN = 3
# Table lines are never this short: a table with more lines than would fit is not even made.
_LEAST_LINE_BYTES = 16
# However many warnings there are, most of the space is for the table.
_WARNINGS_SHARE = 4


def render_comment(
    verdict: VerdictView, *, limit_bytes: int = COMMENT_BYTES, summary_url: str = ""
) -> str:
    """The verdict within a number of bytes; names below what is left out; ends in a newline.

    It leaves out the least important parts first: the table of all benchmarks, the rows that need
    no attention, details, how to accept it, outputs of failed benchmarks, then rows that need
    attention, starting with the least bad. The first line always stays, even if it exceeds the
    limit.

    Args:
        summary_url: address of the complete verdict; "" if there is none.
    """
    first, last = first_line(verdict), last_line(verdict)
    parts, all_warnings = list(folded_parts(verdict)), alert_lines(verdict)
    # Naming what is left out must not take more space than the whole of it.
    least = (
        first,
        second_line(verdict),
        _more_warnings(len(all_warnings)),
        _more_benchmarks(verdict.lines),
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
    some = verdict.lines[: room // _LEAST_LINE_BYTES]
    notes = _fitting(footnote_lines(some, verdict), room // _WARNINGS_SHARE)
    room -= sum(map(_size, notes))
    table = _fitting(result_lines(some, verdict), room)
    more = _more_benchmarks(verdict.lines[max(0, len(table) - _TITLE_LINES) :])
    chosen = {} if more else _choose(parts, room - sum(map(_size, table)))
    rest = [part for index, part in enumerate(parts) if index not in chosen]
    is_table = len(table) > _TITLE_LINES
    blocks = (
        first,
        second_line(verdict),
        "\n".join(warnings).rstrip(),
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


def _more_benchmarks(rest: Sequence[BenchmarkView | TogetherView]) -> str:
    """The benchmarks that are not shown, counted by outcome: no slower one goes unmentioned."""
    if not rest:
        return ""
    counts: Counter[str] = Counter()
    for one in rest:
        counts[one.first.word] += len(one.members) if isinstance(one, TogetherView) else 1
    by_outcome = ", ".join(f"{count} {word}" for word, count in counts.items())
    return f"and {counted(counts.total(), 'more benchmark')}: {by_outcome}"


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
        yield f"the output of {counted(outputs, 'crashed benchmark')}"
    if counts[Content.ACCEPT]:
        yield "how to accept it"
    if details := counts[Content.DETAIL]:
        yield f"the details of {counted(details, 'row')}"
    yield from (part.title for part in missing if part.content is Content.GROUP)
    if counts[Content.EVIDENCE]:
        yield "the table of all benchmarks"


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

"""Prints the verdict on a terminal, or as plain lines in a pipe."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from benchgate.escape import in_encoding
from benchgate.model.policy import OPEN, Outcome
from benchgate.model.result import Phase
from benchgate.model.verdict import Decision
from benchgate.report.columns import ON_TERMINAL
from benchgate.report.headline import bare
from benchgate.report.row_detail import RATIO_TITLES, TEST_TITLES
from benchgate.report.row_view import TogetherView
from benchgate.report.words import ARROW
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

    from benchgate.model.result import PhaseTime
    from benchgate.report.row_detail import ComparisonView
    from benchgate.report.row_view import BenchmarkView
    from benchgate.report.view import Group, VerdictView


CUT = "…"
"""Stands for what was cut out of a text that does not fit."""

_GAP = "  "
_NOTE_INDENT = 4
_NAME_WANTED = 24
_NAME_LEAST = 8
_WHOLE_WANTED = 20
# In a pipe, a longer cell is printed in full, but does not widen its column on other lines.
_WIDEST_IN_PIPE = 60
# Replaces the space between a number and its unit while lines are broken; text from outside never
# contains it.
_BOUND = "\ue000"
_IN_NUMBER = re.compile(
    r"(?<=\d) (?=(?:%|[nuµm]?s|min|h|[KMGT]?i?B)(?![\w/]))|(?<=\b[xp]) (?=[\d<])|(?<=<) (?=\d)"
)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        right: aligned to the right, as numbers are.
        name: shortened first on a narrow terminal; a table has one such column.
        drop: a narrow terminal drops columns in the order of this number; 0 is never dropped.
        whole: never shortened; what does not fit is printed below. Only the last column.
        said: how the note repeats a cell that has no column; "" if it need not.
    """

    title: str
    right: bool = False
    name: bool = False
    drop: int = 0
    whole: bool = False
    said: str = "{title} {cell}"


@dataclass(frozen=True, slots=True)
class Line:
    """One row of cells, with a note.

    Attributes:
        style: of the first cell.
        note: printed below the line on a terminal, at the end of the line in a pipe; it may have
            several lines.
        keep: repeat in the note the cells for which a narrow terminal has no column.
    """

    cells: tuple[str, ...]
    style: str = ""
    note: str = ""
    keep: bool = False


def print_text(console: Console, text: str | Text, *, indent: int = 0, wraps: bool = True) -> None:
    """Print text literally: wrapped on a terminal, not in a pipe; no markup or highlighting.

    Args:
        wraps: whether to break lines; the terminal itself breaks what has no line ends, and gives
            it back in one piece if it is copied.
    """
    body = encodable(Text(text) if isinstance(text, str) else text, console)
    wraps = wraps and console.is_terminal
    lines = _wrapped(body, console, console.width - indent) if wraps else [body]
    for line in lines:
        line.pad_left(indent)
        console.print(line, soft_wrap=True, highlight=False)


def print_facts(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    """Print labels with a sentence each, which is wrapped beside its label on a terminal."""
    shown = [[_encoded(text, console) for text in fact] for fact in facts]
    width = max((cell_len(label) for label, _ in shown), default=0) + len(_GAP)
    for label, sentence in shown:
        body = Text(sentence)
        rest = max(console.width - width, _NAME_WANTED)
        lines = _wrapped(body, console, rest) if console.is_terminal else [body]
        for index, line in enumerate(lines):
            lead = label if index == 0 else ""
            start = Text(lead + " " * (width - cell_len(lead)))
            console.print(start.append_text(line), soft_wrap=True, highlight=False)


def _wrapped(text: Text, console: Console, width: int) -> Iterable[Text]:
    """Break text into lines, but not between a number and its unit."""
    bound = text.copy()
    bound.plain = _IN_NUMBER.sub(_BOUND, text.plain)
    for line in bound.wrap(console, max(width, 1)):
        line.plain = line.plain.replace(_BOUND, " ")
        line.rstrip()
        yield line


def print_columns(console: Console, columns: Sequence[Column], lines: Sequence[Line]) -> None:
    """The lines below the line of titles; columns without any content are left out."""
    lines = [replace(one, cells=tuple(_encoded(c, console) for c in one.cells)) for one in lines]
    shown = {i for i in range(len(columns)) if any(line.cells[i] for line in lines)}
    width = console.width if console.is_terminal else None
    widths = _widths(columns, lines, shown, width)
    titles = Line(tuple(column.title for column in columns))
    if width is None:
        # All at once: a large suite has ten thousands of lines, and rich takes long for each.
        whole = "\n".join(_whole_line(columns, line, widths) for line in (titles, *lines))
        console.out(_encoded(whole, console), highlight=False)
        return
    for line in (titles, *lines):
        dropped = sorted(shown - widths.keys()) if line.keep else []
        said = ", ".join(filter(None, (_said(columns[i], line.cells[i]) for i in dropped)))
        notes = [*filter(None, (said, *line.note.split("\n")))]
        below = [
            line.cells[i]
            for i in widths
            if columns[i].whole and cell_len(line.cells[i]) > widths[i]
        ]
        text = Text(_GAP).join(
            Text(_cell(columns[i], line.cells[i], widths[i], whole=False), style)
            for i, style in zip(widths, chain([line.style], repeat("")), strict=False)
            if line.cells[i] not in below
        )
        text.rstrip()
        if len(notes) == 1 and not below and _has_room(text, notes[0], width):
            text.append(f"{_GAP}{notes.pop()}", "dim")
        console.print(encodable(text, console), soft_wrap=True, highlight=False)
        for name in below:
            print_text(console, name, indent=_NOTE_INDENT)
        for note in notes:
            print_text(console, Text(note, "dim"), indent=_NOTE_INDENT)


def _whole_line(columns: Sequence[Column], line: Line, widths: Mapping[int, int]) -> str:
    """A line in a pipe: every cell in full, and the note behind them."""
    cells = [_cell(columns[i], line.cells[i], widths[i], whole=True) for i in widths]
    notes = [note for note in line.note.split("\n") if note]
    if notes:
        cells.append(f"# {'; '.join(notes)}")
    return _GAP.join(cells).rstrip()


def _has_room(text: Text, more: str, width: int) -> bool:
    return text.cell_len + len(_GAP) + cell_len(more) <= width


def _said(column: Column, cell: str) -> str:
    return column.said.format(title=column.title, cell=cell) if cell else ""


def _widths(
    columns: Sequence[Column], lines: Sequence[Line], shown: set[int], width: int | None
) -> dict[int, int]:
    """The columns to print, and the width of each in cells."""
    widths = {
        i: max(cell_len(text) for text in (columns[i].title, *(line.cells[i] for line in lines)))
        for i in sorted(shown)
    }
    if width is None:
        return {i: min(natural, _WIDEST_IN_PIPE) for i, natural in widths.items()}
    for drop in sorted({columns[i].drop for i in shown} - {0}):
        if sum(_wanted(columns[i], widths[i]) + len(_GAP) for i in widths) - len(_GAP) <= width:
            break
        widths = {i: natural for i, natural in widths.items() if columns[i].drop != drop}
    # Shorten the name first, then whatever is widest: a unit may be as long as a sentence.
    for i in sorted(widths, key=lambda i: (not columns[i].name, -widths[i])):
        excess = sum(widths.values()) + len(_GAP) * (len(widths) - 1) - width
        widths[i] -= max(0, min(excess, widths[i] - _NAME_LEAST))
    return widths


def _wanted(column: Column, natural: int) -> int:
    if column.whole:
        return min(natural, _WHOLE_WANTED)
    return min(natural, _NAME_WANTED) if column.name else natural


def _cell(column: Column, text: str, width: int, *, whole: bool) -> str:
    cell = text if whole else shorten(text, width)
    space = " " * (width - cell_len(cell))
    return f"{space}{cell}" if column.right else f"{cell}{space}"


def shorten(text: str, width: int) -> str:
    """Shorten text to `width` cells in its middle: both ends of a name tell it apart."""
    if cell_len(text) <= width:
        return text
    front, back = text[: len(text) // 2], text[len(text) // 2 :]
    while cell_len(front) + cell_len(back) + cell_len(CUT) > width:
        if cell_len(front) > cell_len(back):
            front = front[:-1]
        else:
            back = back[1:]
    return f"{front}{CUT}{back}"


def encodable(text: Text, console: Console) -> Text:
    """Replace what the stream's encoding lacks, because a name must not stop the program."""
    plain = _encoded(text.plain, console)
    if plain == text.plain:
        return text
    return Text(plain, text.style)


def _encoded(text: str, console: Console) -> str:
    return in_encoding(text, console.encoding)


_DECISION_STYLES = {
    Decision.PASS: "bold green",
    Decision.FAIL: "bold red",
    Decision.NO_VERDICT: "bold yellow",
}
_OUTCOME_STYLES = {
    Outcome.FAILED: "bold red",
    Outcome.REGRESSED: "bold red",
    Outcome.OVER_LIMIT: "bold red",
    Outcome.MISSING: "yellow",
    Outcome.INCOMPARABLE: "yellow",
    Outcome.BASE_FAILED: "yellow",
    Outcome.WAIVED: "yellow",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.NOT_TESTED: "yellow",
    Outcome.IMPROVED: "green",
    Outcome.NEW: "cyan",
}
# More are only counted, unless the user asks for them; a pipe gets all of them, for grep.
_ROWS_SHOWN = 12


def render_verdict(verdict: VerdictView, console: Console, *, verbose: bool = False) -> str:
    """The verdict as this console would print it, with its codes of color.

    On a terminal, the first line is repeated at the end if it will have left the screen.

    Args:
        verbose: adds the folded groups and each row's test.
    """
    with console.capture() as printed:
        _print_verdict(console, verdict, verbose=verbose)
    text = printed.get()
    if console.is_terminal and text.count("\n") >= console.size.height:
        with console.capture() as printed:
            console.print()
            _print_headline(console, verdict)
        text += printed.get()
    return text


def _print_verdict(console: Console, verdict: VerdictView, *, verbose: bool) -> None:
    _print_headline(console, verdict)
    _print_alerts(console, verdict)
    is_whole = verbose or not console.is_terminal
    view = partial(_line, console=console)
    lines = [view(one, is_shown=True) for one in (verdict.shown if is_whole else verdict.lines)]
    groups = [group for group in verdict.folded if is_whole or _is_short(group, verdict)]
    folded = [one for group in groups for one in group.benchmarks]
    lines += [view(one, is_shown=is_whole) for one in folded]
    same_code = verdict.same_code if verbose else ()
    lines += [replace(view(one, is_shown=True), note="") for one in same_code]
    if lines:
        console.print()
        print_columns(console, _columns(verdict), lines)
        _print_footnotes(console, verdict, "\n".join(line.note for line in lines))
    hidden = [group.title for group in verdict.folded if group not in groups]
    if verdict.skipped and not verbose:
        hidden.append(verdict.skipped_title)
    if hidden:
        console.print()
        what = f"not shown: {', '.join(hidden)} (-v shows them)"
        print_text(console, what if lines else "-v shows each benchmark")
    _print_failures(console, verdict)
    _print_causes(console, verdict)
    if verbose:
        _print_evidence(console, verdict)
        _print_skipped(console, verdict)
    for row in verdict.rows:
        if row.detail:
            console.print()
            _print_detail(console, row.detail, verdict.interval_title)
    console.print()
    print_text(console, Text(verdict.last_line, "dim"))


def _print_causes(console: Console, verdict: VerdictView) -> None:
    if not verdict.causes:
        return
    console.print()
    print_text(console, "where to look:")
    for one in verdict.causes:
        print_text(console, bare(one.sentence), indent=2)


def _print_headline(console: Console, verdict: VerdictView) -> None:
    sentence = verdict.sentence
    icon = with_icon(verdict.icon, console)
    text = Text(f"{icon}{sentence}")
    text.stylize(_DECISION_STYLES[verdict.decision])
    print_text(console, text)
    for more in filter(None, (verdict.consequence, verdict.not_measured)):
        print_text(console, more)


_ALERT_STYLES = {"CAUTION": "bold red", "IMPORTANT": "bold magenta", "WARNING": "yellow"}


def _print_alerts(console: Console, verdict: VerdictView) -> None:
    for alert in verdict.alerts:
        first, *rest = alert.lines
        if alert.kind == "WARNING":
            for line in alert.lines:
                print_text(console, Text.assemble(("warning: ", "yellow"), line))
            continue
        print_text(console, Text(bare(first), _ALERT_STYLES[alert.kind]))
        for line in rest:
            print_text(console, line, indent=4)


def _print_footnotes(console: Console, verdict: VerdictView, printed: str) -> None:
    notes = [note for note in verdict.footnotes if note.mark in printed]
    if notes:
        console.print()
    for note in notes:
        print_text(console, Text(f"{note.mark} {note.about}: {note.text}", "dim"))


def _is_short(group: Group, verdict: VerdictView) -> bool:
    """Whether there is room for a group that nobody has to look at.

    Open rows have long notes, so they are shown only if everything is.
    """
    is_open = group.benchmarks[0].first.outcome in OPEN
    others = verdict.benchmarks if is_open else (*verdict.lines, *group.benchmarks)
    return len(others) <= _ROWS_SHOWN


def _columns(verdict: VerdictView) -> tuple[Column, ...]:
    return (
        Column("outcome"),
        Column("change", right=True),
        Column(verdict.interval_title, right=True, drop=3),
        Column("earlier runs", drop=1, said=""),
        Column(f"base {ARROW} head", drop=2, said="{cell}"),
        Column("benchmark", name=True, whole=True),
    )


def with_icon(icon: str, console: Console) -> str:
    """An icon and a space; "" if the stream's encoding lacks it."""
    return f"{icon} " if console.encoding.lower().startswith("utf") else ""


def _line(one: BenchmarkView | TogetherView, *, is_shown: bool, console: Console) -> Line:
    """One benchmark, or several that changed together; its other rows only if it is shown."""
    row = one.first
    outcome = f"{with_icon(row.icon, console)}{row.word}"
    style = _OUTCOME_STYLES.get(row.outcome, "")
    if isinstance(one, TogetherView):
        note = f"each {one.note}" if one.note else ""
        return Line((outcome, one.change, "", "", "", bare(one.title)), style, note)
    notes = [one.note, *(one.about_others if is_shown else ())]
    return Line(
        (outcome, row.change, row.interval, row.course, row.measured, row.benchmark),
        style,
        "\n".join(filter(None, notes)),
        keep=is_shown,
    )


def _print_failures(console: Console, verdict: VerdictView) -> None:
    for failure in verdict.failures:
        console.print()
        print_text(console, Text(f"{failure.title}:", "bold"))
        for line in failure.output.splitlines():
            print_text(console, line, indent=4)


def _print_detail(console: Console, detail: ComparisonView, interval_title: str) -> None:
    print_text(console, Text(detail.title, "bold"))
    name, estimate, _, method = RATIO_TITLES
    ratios = (
        Column(name, name=True),
        Column(estimate, right=True),
        Column(interval_title, right=True),
        Column(method, drop=1),
    )
    print_columns(console, ratios, list(map(Line, detail.ratios)))
    console.print()
    test, *p = TEST_TITLES
    tests = (Column(test, name=True), *(Column(title, right=True) for title in p))
    print_columns(console, tests, list(map(Line, detail.tests)))
    console.print()
    print_facts(console, detail.facts)


def _print_evidence(console: Console, verdict: VerdictView) -> None:
    columns = (
        Column("how it was decided"),
        Column("outcome"),
        Column("change", right=True),
        Column(verdict.interval_title, right=True, drop=2),
        Column(f"base {ARROW} head", drop=1),
        *(Column(one.title, right=one.right, drop=one.drop + 2) for one in ON_TERMINAL.values()),
        Column("benchmark", name=True, whole=True),
    )
    lines = [
        Line(
            (
                *(row.statistic, row.word, row.change, row.interval, row.values),
                *(row.evidence[index] for index in ON_TERMINAL),
                row.benchmark,
            )
        )
        for row in verdict.rows
    ]
    if lines:
        console.print()
        print_columns(console, columns, lines)


def _print_skipped(console: Console, verdict: VerdictView) -> None:
    if verdict.skipped:
        console.print()
        print_text(console, Text(f"{verdict.skipped_title}:", "bold"))
        for what, reason in verdict.skipped:
            print_text(console, f"{what}: {reason}", indent=4)


_COLUMNS = (
    Column("phase", name=True),
    Column("times", right=True),
    Column("took", right=True),
    Column("share", right=True),
)
_ABOUT_WORKERS = (
    f"{Phase.START_WORKERS}: a part of the rounds; lanes do it at the same time, and their times "
    "are added. It includes importing the benchmark files."
)


def render_timing(phases: Sequence[PhaseTime], console: Console) -> None:
    """Print what each phase took, and its share of all of them; nothing if there are none."""
    if not phases:
        return
    parts = [one for one in phases if one.phase is Phase.START_WORKERS]
    whole = [one for one in phases if one not in parts]
    total_s = sum(one.seconds for one in whole)
    lines = [
        Line(
            (
                one.phase,
                str(one.times),
                format_duration(one.seconds),
                f"{100 * one.seconds / total_s:.0f} %" if total_s else "",
            )
        )
        for one in whole
    ]
    lines.append(Line(("together", "", format_duration(total_s), "")))
    lines += [Line((one.phase, str(one.times), format_duration(one.seconds), "")) for one in parts]
    print_columns(console, _COLUMNS, lines)
    if parts:
        print_text(console, Text(_ABOUT_WORKERS, "dim"))

"""Prints the verdict on a terminal, or as plain lines in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from benchgate.model.policy import Outcome
from benchgate.model.verdict import Decision
from benchgate.report.columns import Column, Line, print_columns, print_facts, print_text
from benchgate.report.comparison import RATIO_TITLES, TEST_TITLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from benchgate.report.benchmark_view import BenchmarkView, RowView
    from benchgate.report.comparison import ComparisonView
    from benchgate.report.view import Group, VerdictView

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
# A longer group is only counted, unless the user asks for it; a pipe gets all of it, for grep.
_ROWS_SHOWN = 20
# They would fill the screen, and nobody has to act on them.
_LEFT_OPEN = frozenset({Outcome.INCONCLUSIVE, Outcome.NOT_TESTED, Outcome.NOT_SETTLED})


def render_verdict(verdict: VerdictView, console: Console, *, verbose: bool = False) -> None:
    """Print the verdict; `verbose` adds the folded groups and each row's test.

    On a terminal, the first line is repeated at the end if it has left the screen.
    """
    with console.capture() as printed:
        _print_verdict(console, verdict, verbose=verbose)
    text = printed.get()
    console.file.write(text)
    if console.is_terminal and text.count("\n") >= console.size.height:
        console.print()
        _print_headline(console, verdict)
    console.file.flush()


def _print_verdict(console: Console, verdict: VerdictView, *, verbose: bool) -> None:
    _print_headline(console, verdict)
    _print_warnings(console, verdict)
    groups = [group for group in verdict.folded if verbose or _is_short(group, console)]
    folded = [one for group in groups for one in group.benchmarks]
    benchmarks = (*verdict.shown, *folded)
    if benchmarks:
        console.print()
        is_whole = verbose or not console.is_terminal
        lines = [_line(one, is_shown=True) for one in verdict.shown]
        lines += [_line(one, is_shown=is_whole) for one in folded]
        print_columns(console, _columns(verdict), lines)
        _print_footnotes(console, verdict, benchmarks)
    hidden = [group.title for group in verdict.folded if group not in groups]
    if verdict.skipped and not verbose:
        hidden.append(verdict.skipped_title)
    if hidden:
        console.print()
        print_text(console, f"not shown: {', '.join(hidden)} (-v shows them)")
    _print_failures(console, verdict)
    if verbose:
        _print_evidence(console, [row for one in benchmarks for row in one.rows])
        _print_skipped(console, verdict)
    for row in verdict.rows:
        if row.detail:
            console.print()
            _print_detail(console, row.detail, verdict.interval_title)
    console.print()
    print_text(console, Text(verdict.last_line, "dim"))


def _print_headline(console: Console, verdict: VerdictView) -> None:
    word = verdict.decision.value
    text = Text(verdict.sentence)
    if verdict.headline.startswith(word):
        text.stylize(_DECISION_STYLES[verdict.decision], 0, len(word))
    print_text(console, text)


def _print_warnings(console: Console, verdict: VerdictView) -> None:
    for loosening in verdict.loosening:
        print_text(console, Text(f"{loosening.title}:", "yellow"))
        for change in loosening.changes:
            print_text(console, change, indent=4)
    for warning in verdict.warnings:
        print_text(console, Text.assemble(("warning: ", "yellow"), warning))


def _print_footnotes(
    console: Console, verdict: VerdictView, printed: Iterable[BenchmarkView]
) -> None:
    used = {mark for one in printed for mark in one.footnotes}
    notes = [note for note in verdict.footnotes if note.mark in used]
    if notes:
        console.print()
    for note in notes:
        print_text(console, Text(f"{note.mark} {note.about}: {note.text}", "dim"))


def _is_short(group: Group, console: Console) -> bool:
    is_open = group.benchmarks[0].first.outcome in _LEFT_OPEN
    return not console.is_terminal or (len(group.benchmarks) <= _ROWS_SHOWN and not is_open)


def _columns(verdict: VerdictView) -> tuple[Column, ...]:
    return (
        Column("outcome"),
        Column("change", right=True),
        Column(verdict.interval_title, right=True, drop=4),
        Column("margin", drop=3, said=""),
        Column("earlier runs", drop=1, said=""),
        Column("base to head", drop=2, said="{cell}"),
        Column("benchmark", name=True, whole=True),
    )


def _line(one: BenchmarkView, *, is_shown: bool) -> Line:
    """One benchmark; its other rows only if it is shown for what it is."""
    row = one.first
    notes = [one.note]
    if is_shown:
        notes += one.about_others
    return Line(
        cells=(
            row.outcome.value,
            row.change,
            row.interval,
            row.drawing,
            row.course,
            row.measured,
            row.benchmark,
        ),
        style=_OUTCOME_STYLES.get(row.outcome, ""),
        note="\n".join(filter(None, notes)),
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


def _print_evidence(console: Console, rows: Sequence[RowView]) -> None:
    columns = (
        Column("how it was decided"),
        Column("measured", drop=2),
        Column("medians", drop=1),
        Column("test", drop=6),
        Column("p", right=True, drop=5),
        Column("p adjusted", right=True),
        Column("rounds", right=True),
        Column("detectable", right=True, drop=3),
        Column("textbook comparison", drop=4),
        Column("benchmark", name=True, whole=True),
    )
    lines = [
        Line(
            (
                row.statistic,
                row.tier,
                row.medians,
                row.test,
                row.p_raw,
                row.p,
                row.rounds,
                row.detectable,
                row.classical,
                row.benchmark,
            )
        )
        for row in rows
    ]
    console.print()
    print_columns(console, columns, lines)


def _print_skipped(console: Console, verdict: VerdictView) -> None:
    if verdict.skipped:
        console.print()
        print_text(console, Text(f"{verdict.skipped_title}:", "bold"))
        for what, reason in verdict.skipped:
            print_text(console, f"{what}: {reason}", indent=4)

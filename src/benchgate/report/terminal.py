"""Prints the verdict on a terminal, or as plain lines in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from benchgate.model.outcome import Outcome
from benchgate.model.verdict import Decision
from benchgate.report.columns import Column, Line, print_columns, print_facts, print_text
from benchgate.report.view import RATIO_TITLES, TEST_TITLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from benchgate.report.view import ComparisonView, Group, RowView, VerdictView

_DECISION_STYLES = {
    Decision.PASS: "bold green",
    Decision.FAIL: "bold red",
    Decision.NO_VERDICT: "bold yellow",
}
_OUTCOME_STYLES = {
    Outcome.FAILED: "bold red",
    Outcome.REGRESSED: "bold red",
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


def render_verdict(verdict: VerdictView, console: Console, *, verbose: bool = False) -> None:
    """Print the verdict; `verbose` adds the folded groups and each row's test."""
    word = verdict.decision.value
    text = Text(verdict.headline)
    if verdict.headline.startswith(word):
        text.stylize(_DECISION_STYLES[verdict.decision], 0, len(word))
    print_text(console, text)
    _print_warnings(console, verdict)
    shown = [group for group in verdict.folded if verbose or _is_short(group, console)]
    rows = [*verdict.attention, *(row for group in shown for row in group.rows)]
    if rows:
        console.print()
        print_columns(console, _columns(verdict), _lines(rows, set(verdict.attention)))
    folded = [group.title for group in verdict.folded if group not in shown]
    if verdict.skipped and not verbose:
        folded.append(verdict.skipped_title)
    if folded:
        console.print()
        print_text(console, f"not shown: {', '.join(folded)} (-v shows them)")
    _print_errors(console, verdict.attention)
    if verbose:
        _print_evidence(console, rows)
        _print_skipped(console, verdict)
    for row in verdict.rows:
        if row.detail:
            console.print()
            _print_detail(console, row.detail, verdict.interval_title)
    console.print()
    print_text(console, Text(verdict.last_line, "dim"))


def _print_warnings(console: Console, verdict: VerdictView) -> None:
    for loosening in verdict.loosening:
        print_text(console, Text(f"{loosening.title}:", "yellow"))
        for change in loosening.changes:
            print_text(console, change, indent=4)
    for warning in verdict.warnings:
        print_text(console, Text.assemble(("warning: ", "yellow"), warning))


def _is_short(group: Group, console: Console) -> bool:
    return not group.tails and (len(group.rows) <= _ROWS_SHOWN or not console.is_terminal)


def _columns(verdict: VerdictView) -> tuple[Column, ...]:
    return (
        Column("outcome"),
        Column("benchmark", name=True),
        Column("statistic", drop=5),
        Column("base", right=True, drop=3),
        Column("head", right=True, drop=3),
        Column("change", right=True),
        Column(verdict.interval_title, right=True, drop=4),
        Column("p", right=True, drop=2),
        Column("rounds", right=True, drop=1),
    )


def _lines(rows: Sequence[RowView], attention: set[RowView]) -> list[Line]:
    return [
        Line(
            cells=(
                row.outcome.value,
                row.benchmark,
                row.statistic,
                row.base,
                row.head,
                row.change,
                row.interval,
                row.p,
                row.rounds,
            ),
            style=_OUTCOME_STYLES.get(row.outcome, ""),
            note=row.note,
            keep=row in attention,
        )
        for row in rows
    ]


def _print_errors(console: Console, rows: Sequence[RowView]) -> None:
    for row in rows:
        if row.error:
            place = f" ({row.location})" if row.location else ""
            console.print()
            where = " on the base" if row.outcome is Outcome.BASE_FAILED else ""
            print_text(console, Text(f"{row.benchmark}{place} failed{where}:", "bold"))
            for line in row.error.splitlines():
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
        Column("how it was decided", name=True),
        Column("statistic"),
        Column("measured", drop=2),
        Column("medians", drop=1),
        Column("test"),
        Column("p", right=True),
        Column("detectable", right=True, drop=3),
        Column("textbook comparison", drop=4),
    )
    lines = [
        Line(
            (
                row.benchmark,
                row.statistic,
                row.tier,
                row.medians,
                row.test,
                row.p_raw,
                row.detectable,
                row.classical,
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

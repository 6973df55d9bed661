"""Prints a self-check: what each benchmark can detect, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from benchgate.model.policy import Outcome
from benchgate.report import words
from benchgate.report.advice import advise, false_alarms, named
from benchgate.report.columns import Column, Line, print_columns, print_facts, print_text
from benchgate.report.escape import plain_line
from benchgate.units import counted, format_duration, format_percent

if TYPE_CHECKING:
    from rich.console import Console

    from benchgate.model.statistics import Rehearsal, SelfCheck, Sensitivity, Tail

_COLUMNS = (
    Column("benchmark", name=True),
    Column("metric"),
    Column("in a round", right=True),
    Column("launches", right=True, drop=1),
    Column("sees", right=True),
    Column("margin", right=True),
    Column("rounds", right=True),
    Column("tail sees", right=True, drop=2),
)


def render_self_check(check: SelfCheck, console: Console) -> None:
    """Print the findings, a table of the benchmarks, and advice."""
    print_text(console, Text(headline(check), "bold"))
    if wrong := false_alarms(check):
        verb = "appears to differ" if len(wrong) == 1 else "appear to differ"
        print_text(
            console, Text(f"false alarm: {named(wrong)} {verb} from the same code", "bold red")
        )
    for warning in check.verdict.warnings:
        print_text(console, Text.assemble(("warning: ", "yellow"), plain_line(warning, 1000)))
    for row in check.verdict.rows:
        if row.outcome in {Outcome.FAILED, Outcome.BASE_FAILED}:
            first = plain_line((row.error or "").strip().partition("\n")[0])
            print_text(console, Text(f"{words.name(row)} failed: {first}", "red"))
    if check.rows:
        console.print()
        print_columns(console, _COLUMNS, [_line(row) for row in check.rows])
        console.print()
        print_text(console, Text(_legend(check), "dim"))
    facts = [*_rehearsed(check.rehearsal), *(("advice", advice) for advice in advise(check))]
    if facts:
        console.print()
        print_facts(console, facts)


def headline(check: SelfCheck) -> str:
    """Say in a sentence how small a change is detectable, and in how many benchmarks."""
    noisy = dict.fromkeys(row.benchmark for row in check.rows if not row.is_decidable)
    total = len(dict.fromkeys(row.benchmark for row in check.rows))
    if not total:
        return "Nothing can be said about this machine: no benchmark was measured often enough."
    quiet = [row for row in check.rows if row.benchmark not in noisy]
    if not quiet:
        return f"This machine is too noisy for the margins of {_all_of(total)}."
    seen = [row.detectable for row in quiet]
    largest = None if None in seen else max(ratio for ratio in seen if ratio is not None)
    change = words.least_change(largest) if largest is not None else "only very large changes"
    sees = f"This machine can see {change}" + (" or more" if largest is not None else "")
    if not noisy:
        return f"{sees} in {_all_of(total)}."
    verb = "is" if len(noisy) == 1 else "are"
    where = f"{total - len(noisy)} of {counted(total, 'benchmark')}"
    return f"{sees} in {where}; {named(noisy)} {verb} too noisy for the margin."


def _all_of(total: int) -> str:
    return "the benchmark" if total == 1 else f"all {total} benchmarks"


def _line(row: Sensitivity) -> Line:
    note = ""
    if not row.is_decidable:
        note = f"too noisy: this margin needs {_rounds(row.rounds)}, and a check has {row.limit}"
    elif tail := row.open_tail:
        note = (
            f"its tail is too noisy to settle: that needs {_rounds(tail.rounds)}, and a check has "
            f"{row.limit}"
        )
    return Line(
        cells=(
            plain_line(row.benchmark),
            "" if row.metric == "time" else plain_line(row.metric),
            format_percent(row.pair_spread),
            format_percent(row.launch_spread),
            _change(row.detectable),
            format_percent(row.margin),
            "> 1000" if row.rounds is None else str(row.rounds),
            _tail(row.tail),
        ),
        style="" if row.is_decidable else "yellow",
        note=note,
    )


def _rounds(rounds: int | None) -> str:
    return f"{'more than 1000' if rounds is None else f'about {rounds}'} rounds"


def _tail(tail: Tail | None) -> str:
    if tail is None:
        return ""
    return "untested" if tail.obstacle else _change(tail.detectable)


def _change(ratio: float | None) -> str:
    return "nothing" if ratio is None else words.unsigned(ratio)


def _legend(check: SelfCheck) -> str:
    tails = dict.fromkeys(row.tail.statistic for row in check.rows if row.tail)
    tail = f"; tail: {', '.join(tails)}" if tails else ""
    verdict = check.verdict
    return (
        "in a round: spread of head / base between rounds, which decides; launches: spread of one "
        "side between processes; sees: the smallest change that a check finds in 9 of 10 cases; "
        "rounds: how many it takes to show, as often, that nothing has changed"
        f"{tail}. {counted(verdict.rounds, 'round')} in {format_duration(verdict.duration_s)}."
    )


def _rehearsed(rehearsal: Rehearsal | None) -> list[tuple[str, str]]:
    """How often simulated builds failed, and how often a simulated slowdown was found."""
    if rehearsal is None:
        return []
    bound = format_percent(rehearsal.alarms_at_most)
    blamed = f", caused by {named(rehearsal.blamed)}" if rehearsal.blamed else ""
    alarms = f"{rehearsal.alarms} of {rehearsal.clean} builds of unchanged code (at most {bound})"
    bound = format_percent(rehearsal.found_at_least)
    found = f"{rehearsal.found} of {rehearsal.slower} slowdowns of one and a half margins"
    missed = f", missed most often: {named(rehearsal.missed)}" if rehearsal.missed else ""
    return [
        ("false alarms", f"{alarms}{blamed}"),
        ("found", f"{found} (at least {bound}){missed}"),
    ]

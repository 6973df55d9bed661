"""Prints a history on a terminal, or as plain lines in a pipe."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.text import Text

from benchgate.report.columns import Column, Line, print_columns, print_text
from benchgate.report.history_view import Direction, course
from benchgate.report.levels import ASCII, BLOCKS
from benchgate.report.sparkline import sparkline
from benchgate.units import counted

if TYPE_CHECKING:
    from rich.console import Console

    from benchgate.report.history_view import HistoryView, MachineView, ShiftView, TrendView

_STYLES: Final = {Direction.WORSE: "red", Direction.BETTER: "green", Direction.MOVED: "yellow"}
_QUIET: Final = frozenset({Direction.NONE, Direction.UNKNOWN})
_COLUMNS: Final = (
    Column("course"),
    Column("latest", right=True),
    Column("noise", right=True, drop=3, said=""),
    Column("last change", right=True),
    Column("at", drop=2, said="at {cell}"),
    Column("when", drop=1, said="{cell}"),
    Column("benchmark", name=True, whole=True),
)
# On a wide screen there is room for more of the course.
_NARROWEST, _WIDEST = 10, 40
_PART: Final = 5
# A longer list is only counted on a terminal, unless the user asks for it.
_UNCHANGED_SHOWN: Final = 20


def render_history(history: HistoryView, console: Console, *, verbose: bool = False) -> None:
    """Print the trends of each machine; `verbose` adds all changes, tails, and ended trends."""
    print_text(console, Text(history.summary, "bold"))
    print_text(console, history.title)
    for note in history.notes:
        print_text(console, Text.assemble(("note: ", "yellow"), note))
    for machine in history.machines:
        console.print()
        print_text(console, f"{machine.name} ({machine.runs})")
        _print_trends(machine, console, verbose=verbose)


def _print_trends(machine: MachineView, console: Console, *, verbose: bool) -> None:
    shown = [one for one in machine.trends if verbose or one.is_shown]
    unchanged = [one for one in shown if one.direction in _QUIET]
    if console.is_terminal and not verbose and len(unchanged) > _UNCHANGED_SHOWN:
        shown = [one for one in shown if one.direction not in _QUIET]
    if shown:
        print_columns(console, _COLUMNS, [_line(one, console, verbose=verbose) for one in shown])
    left = [one for one in machine.trends if one not in shown]
    told = Counter(_why_left(one) for one in left)
    said = [f"{counted(n, noun)} {why}" for (noun, why), n in sorted(told.items(), reverse=True)]
    if said:
        shows = "it" if len(left) == 1 else "them"
        print_text(console, Text(f"not shown: {', '.join(said)} (-v shows {shows})", "dim"))


def _why_left(trend: TrendView) -> tuple[str, str]:
    """What a trend that is not shown is, and why."""
    if trend.trend.ended:
        return "trend", "that ended"
    noun = "trend" if trend.is_shown else "tail"
    if trend.direction is Direction.MOVED:
        return noun, "whose newest runs moved, not confirmed"
    return noun, "with too few runs to tell" if trend.trend.too_short else "that did not change"


def _line(trend: TrendView, console: Console, *, verbose: bool) -> Line:
    levels = BLOCKS if console.encoding.lower().startswith("utf") else ASCII
    width = max(_NARROWEST, min(_WIDEST, console.width // _PART))
    last = trend.shifts[0] if trend.shifts else None
    notes = [trend.remark, trend.moved]
    if verbose:
        notes += [_told(one) for one in trend.shifts]
    return Line(
        cells=(
            sparkline(course(trend.values, width), levels),
            trend.latest,
            trend.noise,
            last.change if last else trend.unchanged,
            last.commits if last else "",
            f"{last.day}, {last.ago}" if last else "",
            trend.name,
        ),
        style=_STYLES.get(trend.direction, ""),
        note="\n".join(filter(None, notes)),
        keep=trend.direction not in _QUIET and not verbose,
    )


def _told(shift: ShiftView) -> str:
    subject = f': "{shift.subject}"' if shift.subject else ""
    also = f"; there also changed {shift.also}" if shift.also else ""
    return f"{shift.sentence}, {shift.levels}{subject}{also}"

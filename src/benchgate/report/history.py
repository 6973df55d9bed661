"""Turns a history into strings and prints it; and the verdict as a badge.

The strings are plain text without control characters; renderers add markup and escapes.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Final

from rich.text import Text

from benchgate.escape import ASCII, BLOCKS, plain_line
from benchgate.model.policy import Outcome
from benchgate.model.redact import redacted
from benchgate.model.verdict import ORDER, TAIL_STATISTICS, Decision, by_benchmark, is_tail
from benchgate.report import words
from benchgate.report.drawing import sparkline
from benchgate.report.terminal import Column, Line, print_columns, print_text
from benchgate.units import counted, format_change, format_percent, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import Console

    from benchgate.model.history import History, HistoryRun, Shift, Trend
    from benchgate.model.verdict import Row, Verdict


_SHORT_SHA: Final = 7
_SUBJECT_LIMIT: Final = 72
_NOTE_LIMIT: Final = 1000
# What most trends are about, so that their names need not say it.
_USUAL: Final = ("time", "p25")


class Direction(StrEnum):
    """How the last change of a trend is to be shown: that it has none, or that nobody can tell."""

    WORSE = "worse"
    BETTER = "better"
    MOVED = "moved"
    UNKNOWN = "unknown"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ShiftView:
    """A change point.

    Attributes:
        size: such as "+12.3 %", or "from 0".
        word: such as "slower".
        commits: the commits between which it changed, such as "abc1234..def5678".
        day: of the first run after it, such as "2026-05-03".
        levels: such as "31.88 µs to 39.28 µs".
        subject: of the first commit after it; "" if it is not known.
        also: what else changed there; "" if nothing did.
        ago: such as "14 runs ago".
        point: index in `Trend.points` of the first value after the change.
    """

    size: str
    word: str
    direction: Direction
    commits: str
    day: str
    levels: str
    subject: str
    also: str
    ago: str
    point: int

    @property
    def change(self) -> str:
        """Which way and how far, such as "slower +12.3 %"."""
        return f"{self.word} {self.size}"

    @property
    def sentence(self) -> str:
        return f"{self.change} at {self.commits} ({self.day}), {self.ago}"


@dataclass(frozen=True, slots=True)
class TrendView:
    """One trend.

    Attributes:
        name: the benchmark, and what of it if that is not its typical time.
        runs: such as "40 runs".
        latest: the newest value.
        noise: how much runs differ, such as "0.8 %"; "" if that is not known.
        shifts: the newest first.
        is_shown: whether it gets a line unless the user asks for all: it is not the tail of another
            one, unless it changed, and no newer trend continues it.
        remark: why it has no newer values; "" if it has.
        moved: what the newest runs show, but do not confirm; "" if they show nothing.
        trend: the data, for drawings.
    """

    name: str
    machine: str
    runs: str
    latest: str
    noise: str
    shifts: tuple[ShiftView, ...]
    is_shown: bool
    remark: str
    moved: str
    trend: Trend

    @property
    def values(self) -> tuple[float, ...]:
        """In commit order, for drawings."""
        return self.trend.values()

    @property
    def direction(self) -> Direction:
        """Of the last change."""
        if self.shifts:
            return self.shifts[0].direction
        if self.moved:
            return Direction.MOVED
        return Direction.UNKNOWN if self.trend.too_short else Direction.NONE

    @property
    def unchanged(self) -> str:
        """What is said in place of the last change if there is none."""
        return NO_CHANGE.get(self.direction, "")


NO_CHANGE: Final = {
    Direction.MOVED: "not confirmed",
    Direction.UNKNOWN: "too few runs to tell",
    Direction.NONE: "none",
}


@dataclass(frozen=True, slots=True)
class MachineView:
    """The trends of one machine: those that changed last come first."""

    name: str
    runs: str
    trends: tuple[TrendView, ...]


@dataclass(frozen=True, slots=True)
class HistoryView:
    """A history.

    Attributes:
        title: what it is about: the suite, how many runs, from when to when.
        summary: how many trends changed.
        machines: the one with the newest run first.
        notes: what a reader must know.
    """

    title: str
    summary: str
    machines: tuple[MachineView, ...]
    notes: tuple[str, ...]


def view_history(history: History) -> HistoryView:
    """Make the strings of a history, which has one run at least."""
    newest = {run.machine: index for index, run in enumerate(history.runs)}
    machines = tuple(
        _view_machine(history, name, newest[name])
        for name in sorted(newest, key=lambda name: -newest[name])
    )
    shown = [one for machine in machines for one in machine.trends if one.is_shown]
    return HistoryView(
        title=_title(history),
        summary=_summary(shown),
        machines=machines,
        notes=tuple(plain_line(note, _NOTE_LIMIT) for note in history.notes),
    )


def without_secrets(history: History, redact: Callable[[str], str]) -> History:
    """The same history with every text redacted."""
    trends = tuple(
        replace(
            one,
            benchmark=redact(one.benchmark),
            metric=redact(one.metric),
            statistic=redact(one.statistic),
            unit=redact(one.unit),
            machine=redact(one.machine),
            shifts=redacted(one.shifts, redact),
        )
        for one in history.trends
    )
    return replace(
        history,
        suite=redact(history.suite),
        runs=redacted(history.runs, redact),
        trends=trends,
        notes=redacted(history.notes, redact),
    )


def _title(history: History) -> str:
    days = sorted(_day(run) for run in history.runs)
    span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    suite = "" if history.suite == "default" else f" of the suite {plain_line(history.suite)}"
    return f"{counted(len(history.runs), 'run')}{suite}, {span}"


def _summary(shown: Sequence[TrendView]) -> str:
    """Count benchmarks, each by the worst that one of its trends did."""
    order = list(Direction)
    found: dict[str, Direction] = {}
    for one in shown:
        known = found.get(one.trend.benchmark, Direction.NONE)
        found[one.trend.benchmark] = min(known, one.direction, key=order.index)
    count = Counter(found.values())
    trends = [one.trend for one in shown if one.shifts]
    worse, better = count[Direction.WORSE], count[Direction.BETTER]
    parts = [(worse, words.worse_word(trends)), (better, words.better_word(trends))]
    changed = " and ".join(f"{n} got {how}" for n, how in parts if n)
    its = "its" if worse + better == 1 else "their"
    said = [f"{changed} at {its} last change"] if changed else []
    if moved := count[Direction.MOVED]:
        said.append(f"the newest runs of {moved} moved, not confirmed")
    if unknown := count[Direction.UNKNOWN]:
        said.append("too few runs to tell" + (f" of {unknown}" if unknown < len(found) else ""))
    return f"{counted(len(found), 'benchmark')}: {'; '.join(said) or 'none has changed'}"


def _view_machine(history: History, name: str, newest: int) -> MachineView:
    trends = [one for one in history.trends if one.machine == name]
    runs = sum(run.machine == name for run in history.runs)
    views = tuple(_view_trend(one, history.runs, newest) for one in trends)
    return MachineView(plain_line(name), counted(runs, "run"), views)


def _view_trend(trend: Trend, runs: Sequence[HistoryRun], newest: int) -> TrendView:
    unit = trend.display_unit or None
    shifts = tuple(_view_shift(trend, one, runs) for one in reversed(trend.shifts))
    is_aside = trend.statistic in TAIL_STATISTICS or (
        is_tail(trend.metric, trend.statistic) and trend.metric != "time_p95"
    )
    last = trend.points[-1].run
    remark = ""
    if trend.ended:
        remark = "its work changed after this"
    elif last != newest:
        remark = f"last measured {_day(runs[last])}"
    return TrendView(
        name=_name(trend),
        machine=plain_line(trend.machine),
        runs=counted(len(trend.points), "run"),
        latest=format_value(trend.points[-1].value, plain_line(trend.unit, 20), unit),
        noise="" if trend.noise_ratio is None else format_percent(trend.noise_ratio),
        shifts=shifts,
        is_shown=not trend.ended and (bool(shifts) or not is_aside),
        remark=remark,
        moved=_moved(trend),
        trend=trend,
    )


def _moved(trend: Trend) -> str:
    moved = trend.moved
    if moved is None:
        return ""
    runs = "newest run" if moved.runs == 1 else f"newest {moved.runs} runs"
    far = "from 0" if moved.ratio is None else f"by {format_change(moved.ratio)}"
    return f"the {runs} moved {far}, not confirmed"


def _name(trend: Trend) -> str:
    parts = [plain_line(trend.benchmark)]
    if trend.metric != _USUAL[0]:
        parts.append(plain_line(trend.metric))
    if trend.statistic in TAIL_STATISTICS:
        parts.append(f"({trend.statistic})")
    return " ".join(parts)


def _view_shift(trend: Trend, shift: Shift, runs: Sequence[HistoryRun]) -> ShiftView:
    unit = trend.display_unit or None
    before, after = (
        format_value(value, plain_line(trend.unit, 20), unit)
        for value in (shift.before, shift.after)
    )
    first = runs[trend.points[shift.point].run]
    ends = (_short(shift.last_before), _short(shift.first_after))
    return ShiftView(
        size="from 0" if shift.ratio is None else format_change(shift.ratio),
        word=words.worse_word([trend]) if shift.worse else words.better_word([trend]),
        direction=Direction.WORSE if shift.worse else Direction.BETTER,
        commits="unknown commits" if not any(ends) else "..".join(end or "?" for end in ends),
        day=_day(first),
        levels=f"{before} to {after}",
        subject=plain_line(first.subject, _SUBJECT_LIMIT),
        also=plain_line("; ".join(shift.also), _NOTE_LIMIT),
        ago=f"{counted(len(trend.points) - 1 - shift.point, 'run')} ago",
        point=shift.point,
    )


def _short(sha: str) -> str:
    return plain_line(sha)[:_SHORT_SHA]


def _day(run: HistoryRun) -> str:
    return (run.committed or run.started).partition("T")[0]


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
            sparkline(trend.values, levels, most=width),
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


LABEL: Final = "performance"
_TEXT_LIMIT: Final = 60
_OUTCOMES_SHOWN: Final = 2


class BadgeState(StrEnum):
    """What a badge says; its color follows from it."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    NO_VERDICT = "no verdict"
    NOT_CHECKED = "not checked"


# White text on each of them has a contrast of 4.5 to 1 at least.
_COLORS: Final = {
    BadgeState.PASS: "#1a7f37",
    BadgeState.FAIL: "#c0392b",
    BadgeState.NO_VERDICT: "#8a6100",
    BadgeState.NOT_CHECKED: "#656d76",
}


@dataclass(frozen=True, slots=True)
class Badge:
    """A label and a message, both plain text.

    Attributes:
        message: such as "pass", "2 slower" or "no verdict".
    """

    message: str
    state: BadgeState
    label: str = LABEL


NOT_CHECKED: Final = Badge(BadgeState.NOT_CHECKED.value, BadgeState.NOT_CHECKED)
"""What a badge says if there is no verdict, not even an open one."""

_DECIDED: Final = {
    Decision.PASS: BadgeState.PASS,
    Decision.FAIL: BadgeState.FAIL,
    Decision.NO_VERDICT: BadgeState.NO_VERDICT,
}
_WORST_FIRST: Final = (Decision.FAIL, Decision.NO_VERDICT, Decision.PASS)


def badge_of(verdicts: Sequence[Verdict]) -> Badge:
    """The badge of the worst verdict; those that failed are counted together."""
    for decision in _WORST_FIRST:
        found = [one for one in verdicts if one.decision is decision]
        if found:
            blamed = [row for one in found for row in _blamed(one)]
            message = _counts(blamed) if decision is Decision.FAIL else ""
            return Badge(message or decision.value, _DECIDED[decision])
    return NOT_CHECKED


def render_endpoint(badge: Badge) -> str:
    """The badge as JSON for an "endpoint" badge of shields.io, which draws it itself."""
    content = {
        "schemaVersion": 1,
        "label": _shown(badge.label),
        "message": _shown(badge.message),
        "color": _COLORS[badge.state],
    }
    return json.dumps(content, ensure_ascii=False) + "\n"


def _blamed(verdict: Verdict) -> Iterable[Row]:
    """The row of each benchmark that makes the suite fail, one for each."""
    failing = [row for row in verdict.rows if verdict.settings.fails(row)]
    return by_benchmark(failing).values()


def _counts(rows: Sequence[Row]) -> str:
    """The most frequent outcomes in words: "2 slower, 1 failed"; "" without rows."""
    counts = Counter(row.outcome for row in rows)
    kinds = [outcome for outcome in ORDER if counts[outcome]]
    shown, rest = kinds[:_OUTCOMES_SHOWN], kinds[_OUTCOMES_SHOWN:]
    parts = [f"{counts[one]} {_word(one, rows)}" for one in shown]
    more = [f"{sum(counts[one] for one in rest)} more"] if rest else []
    return ", ".join(chain(parts, more))


def _word(outcome: Outcome, rows: Sequence[Row]) -> str:
    if outcome is Outcome.REGRESSED:
        return words.worse_word(row for row in rows if row.outcome is outcome)
    return outcome.value


def _shown(text: str) -> str:
    return plain_line(text, _TEXT_LIMIT) or "-"

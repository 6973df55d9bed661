"""Turns a history into strings and prints it.

The strings are plain text without control characters; renderers add markup and escapes.
"""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from rich.text import Text

from benchgate.escape import ASCII, BLOCKS, plain_line
from benchgate.model.redact import redacted
from benchgate.model.row import TAIL_STATISTICS, is_tail
from benchgate.report import words
from benchgate.report.drawing import sparkline
from benchgate.report.terminal import Column, Line, print_columns, print_text
from benchgate.units import counted, format_change, format_percent, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rich.console import Console

    from benchgate.model.history_document import History, HistoryRun, Moved, Shift, Trend


_SHORT_SHA: Final = 7
_SUBJECT_LIMIT: Final = 72
_AUTHOR_LIMIT: Final = 40
_NOTE_LIMIT: Final = 1000
# What most trends are about, so that their names need not say it.
_USUAL: Final = "time"
_BACK: Final = "went back at"
_NOISES: Final = 2  # about 19 of 20 runs lie within twice the noise
_GOT: Final = dict.fromkeys(("slower", "faster", "larger", "smaller"), "got ")


class Direction(StrEnum):
    """Where the last change left a trend; the worst comes first."""

    WORSE = "worse"
    BETTER = "better"
    BACK = "went back"
    OPEN = "inconclusive"
    NONE = "unchanged"


@dataclass(frozen=True, slots=True)
class ShiftView:
    """A change point.

    Attributes:
        word: "slower", "faster", "larger" or "smaller".
        size: such as "+12.3 %".
        how_far: such as "by 12.3 %" or "from 0 to 12".
        commits: those between which it changed, such as "abc1234..def5678".
        fate: "stayed", or what happened since, such as "went back at".
        until: the commits of that; "" if it stayed.
        undone: index of the change that did that, as in `Trend.shifts`; None if it stayed.
        day: of the first run after it, such as "2026-05-03".
        levels: such as "31.88 µs to 39.28 µs".
        first: the first commit after it, such as "def5678 Read the file once (A. Developer)".
        also: what else changed there; "" if nothing did.
        ago: such as "14 runs ago".
        search: the command that finds the commit; "" if it is known, or if an end is not.
    """

    word: str
    direction: Direction
    size: str
    how_far: str
    commits: str
    fate: str
    until: str
    undone: int | None
    day: str
    levels: str
    first: str
    also: str
    ago: str
    search: str

    @property
    def change(self) -> str:
        """Which way and how far, such as "slower +12.3 %"."""
        return f"{self.word} {self.size}"

    @property
    def sentence(self) -> str:
        """What happened, and whether it still is so."""
        until = f" {self.until}" if self.until else ""
        return f"got {self.word} at {self.commits} {self.how_far}, and {self.fate}{until}"

    @property
    def when(self) -> str:
        return f"{self.day}, {self.ago}"


@dataclass(frozen=True, slots=True)
class TrendView:
    """One trend.

    Attributes:
        name: the benchmark, and what of it if that is not its typical time.
        runs: such as "40 runs".
        latest: the newest value.
        noise: how much runs differ, such as "0.8 %"; "" if that is not known.
        shifts: the newest first.
        direction: of the last change, or that it undid a change for the worse.
        told: the change to tell: the last one, or the one that it undid; None if there is none.
        is_aside: whether it is the tail of another one, or a newer trend continues it.
        remarks: why it has no newer values, and what the newest runs show but do not confirm.
        trend: the data, for drawings.
    """

    name: str
    runs: str
    latest: str
    noise: str
    shifts: tuple[ShiftView, ...]
    direction: Direction
    told: ShiftView | None
    is_aside: bool
    remarks: tuple[str, ...]
    trend: Trend

    @property
    def outcome(self) -> str:
        """A word: "slower", "went back", "inconclusive", "unchanged"."""
        is_changed = self.direction in {Direction.WORSE, Direction.BETTER}
        return self.shifts[0].word if is_changed else self.direction.value


@dataclass(frozen=True, slots=True)
class BenchmarkTrends:
    """The trends of a benchmark on a machine; the one that stands for it comes first."""

    trends: tuple[TrendView, ...]

    @property
    def first(self) -> TrendView:
        return self.trends[0]


@dataclass(frozen=True, slots=True)
class MachineView:
    """The benchmarks of one machine: those that changed last come first."""

    name: str
    runs: str
    benchmarks: tuple[BenchmarkTrends, ...]


@dataclass(frozen=True, slots=True)
class HistoryView:
    """A history.

    Attributes:
        title: what it is about: the suite, how many runs, from when to when.
        counts: how many benchmarks have each outcome, the worst first.
        summary: the same in words.
        machines: the one with the newest run first.
        notes: what a reader must know.
    """

    title: str
    counts: Mapping[str, int]
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
    counts = _by_outcome(one.first for machine in machines for one in machine.benchmarks)
    said = (f"{n} {_GOT.get(outcome, '')}{outcome}" for outcome, n in counts.items())
    return HistoryView(
        title=_title(history),
        counts=counts,
        summary=f"{counted(sum(counts.values()), 'benchmark')}: {', '.join(said)}",
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
    days = sorted(run_day(run) for run in history.runs)
    span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    suite = "" if history.suite == "default" else f" of the suite {plain_line(history.suite)}"
    return f"{counted(len(history.runs), 'run')}{suite}, {span}"


def _by_outcome(leading: Iterable[TrendView]) -> Mapping[str, int]:
    """Count benchmarks, each by the worst that happened to it on any machine."""
    worst: dict[str, TrendView] = {}
    for one in leading:
        known = worst.setdefault(one.trend.benchmark, one)
        worst[one.trend.benchmark] = min(known, one, key=_rank)
    return Counter(one.outcome for one in sorted(worst.values(), key=_rank))


def _rank(trend: TrendView) -> tuple[bool, int, bool]:
    """The order of the trends of a benchmark: the first one stands for it."""
    return trend.trend.ended, list(Direction).index(trend.direction), trend.is_aside


def _view_machine(history: History, name: str, newest: int) -> MachineView:
    runs = sum(run.machine == name for run in history.runs)
    are_short = all(one.too_short for one in history.trends)  # a note says so
    found: dict[str, list[TrendView]] = {}
    for one in history.trends:
        if one.machine == name:
            view = _view_trend(one, history.runs, newest, are_short=are_short)
            found.setdefault(one.benchmark, []).append(view)
    benchmarks = [BenchmarkTrends(tuple(sorted(trends, key=_rank))) for trends in found.values()]
    benchmarks.sort(key=lambda one: (one.first.told is None, one.first.trend.moved is None))
    return MachineView(plain_line(name), counted(runs, "run"), tuple(benchmarks))


def _view_trend(
    trend: Trend, runs: Sequence[HistoryRun], newest: int, *, are_short: bool
) -> TrendView:
    shifts = [_view_shift(trend, index, runs) for index in range(len(trend.shifts))]
    undone = _undone_by_last(trend)
    last = trend.points[-1].run
    remarks = []
    if trend.ended:
        remarks.append("its work changed after this")
    elif last != newest:
        remarks.append(f"last measured {run_day(runs[last])}")
    if trend.moved:
        remarks.append(_moved(trend.moved, runs[trend.points[-trend.moved.runs].run]))
    elif trend.too_short and not are_short:
        remarks.append("too few runs to tell")
    if undone is not None:
        direction = Direction.BACK
    elif shifts:
        direction = shifts[-1].direction
    else:
        direction = Direction.OPEN if trend.moved or trend.too_short else Direction.NONE
    return TrendView(
        name=_name(trend),
        runs=counted(len(trend.points), "run"),
        latest=_value(trend, trend.points[-1].value),
        noise=""
        if trend.noise_ratio is None
        else format_percent(float(f"{trend.noise_ratio:.2g}")),
        shifts=tuple(reversed(shifts)),
        direction=direction,
        told=shifts[-1 if undone is None else undone] if shifts else None,
        is_aside=trend.ended
        or trend.statistic in TAIL_STATISTICS
        or (is_tail(trend.metric, trend.statistic) and trend.metric != "time_p95"),
        remarks=tuple(remarks),
        trend=trend,
    )


def _moved(moved: Moved, first: HistoryRun) -> str:
    runs = "newest run" if moved.runs == 1 else f"newest {moved.runs} runs"
    since = f", from {short(first.sha)} on," if first.sha else ""
    far = "from 0" if moved.ratio is None else f"by {format_change(moved.ratio)}"
    return f"the {runs}{since} moved {far}: not confirmed yet"


def _name(trend: Trend) -> str:
    parts = [plain_line(trend.benchmark)]
    if trend.metric != _USUAL:
        parts.append(plain_line(trend.metric))
    if trend.statistic in TAIL_STATISTICS:
        parts.append(f"({trend.statistic})")
    return " ".join(parts)


def _value(trend: Trend, value: float) -> str:
    return format_value(value, plain_line(trend.unit, 20), trend.display_unit or None)


def _view_shift(trend: Trend, index: int, runs: Sequence[HistoryRun]) -> ShiftView:
    shift = trend.shifts[index]
    before, after = _value(trend, shift.before), _value(trend, shift.after)
    size = "from 0" if shift.ratio is None else format_change(shift.ratio)
    by = size.lstrip("+-").replace("x ", "a factor of ")
    first = runs[trend.points[shift.point].run]
    fate, undone = _fate(trend, index)
    return ShiftView(
        word=_word(trend, shift),
        direction=Direction.WORSE if shift.worse else Direction.BETTER,
        size=size,
        how_far=f"from 0 to {after}" if shift.ratio is None else f"by {by}",
        commits=_commits(shift),
        fate=fate,
        until="" if undone is None else _commits(trend.shifts[undone]),
        undone=undone,
        day=run_day(first),
        levels=f"{before} to {after}",
        first=describe_commit(first),
        also=plain_line("; ".join(shift.also), _NOTE_LIMIT),
        ago=f"{counted(len(trend.points) - 1 - shift.point, 'run')} ago",
        search=_search(trend, shift),
    )


def _word(trend: Trend, shift: Shift) -> str:
    if words.is_speed(trend):
        return "slower" if shift.worse else "faster"
    return "larger" if shift.after > shift.before else "smaller"


def _fate(trend: Trend, index: int) -> tuple[str, int | None]:
    """What became of a change, and the later change that did it, if one did.

    It went back if a later level is where the level before the change was, or beyond.
    """
    shift = trend.shifts[index]
    sign = 1 if shift.after > shift.before else -1
    later = enumerate(trend.shifts[index + 1 :], index + 1)
    against = [(at, one) for at, one in later if (one.after - one.before) * sign < 0]
    for at, one in against:
        if (one.after - shift.before) * sign <= _near(trend, shift):
            return _BACK, at
    return (f"partly {_BACK}", against[0][0]) if against else ("stayed", None)


def _undone_by_last(trend: Trend) -> int | None:
    """The change for the worse that the last change undid, and no more; None if it did not."""
    last = len(trend.shifts) - 1
    for index, one in reversed(list(enumerate(trend.shifts))):
        is_back = one.worse and _fate(trend, index) == (_BACK, last)
        if is_back and abs(trend.shifts[last].after - one.before) <= _near(trend, one):
            return index
    return None


def _near(trend: Trend, shift: Shift) -> float:
    """How far a level may be from the one before a change, and still be the same to a reader."""
    return _NOISES * (trend.noise_ratio or 0.0) * abs(shift.before)


def _commits(shift: Shift) -> str:
    ends = dict.fromkeys((short(shift.last_before), short(shift.first_after)))
    return "..".join(end or "?" for end in ends) if any(ends) else "unknown commits"


def _search(trend: Trend, shift: Shift) -> str:
    good, bad = short(shift.last_before), short(shift.first_after)
    if not good or not bad or good == bad:
        return ""
    return f"benchgate bisect {shlex.quote(plain_line(trend.benchmark))} --good {good} --bad {bad}"


def describe_commit(run: HistoryRun) -> str:
    """Such as "abc1234 Read the file once (A. Developer)"; what is not known is left out."""
    author = plain_line(run.author, _AUTHOR_LIMIT)
    subject = plain_line(run.subject, _SUBJECT_LIMIT)
    return " ".join(filter(None, (short(run.sha), subject, author and f"({author})")))


def short(sha: str) -> str:
    return plain_line(sha)[:_SHORT_SHA]


def run_day(run: HistoryRun) -> str:
    return (run.committed or run.started).partition("T")[0]


_STYLES: Final = {Direction.WORSE: "red", Direction.BETTER: "green"}
_COLUMNS: Final = (
    Column("outcome"),
    Column("runs"),
    Column("latest", right=True),
    Column("noise", right=True, drop=1, said=""),
    Column("benchmark", name=True, whole=True),
)
# On a wide screen there is room for more of the runs.
_NARROWEST, _WIDEST = 10, 40
_PART: Final = 5
# A longer list is only counted on a terminal, unless the user asks for it.
_UNCHANGED_SHOWN: Final = 20


def render_history(history: HistoryView, console: Console, *, verbose: bool = False) -> None:
    """Print the benchmarks of each machine; `verbose` adds all their trends and changes."""
    print_text(console, Text(history.summary, "bold"))
    print_text(console, history.title)
    for note in history.notes:
        print_text(console, Text.assemble(("note: ", "yellow"), note))
    for machine in history.machines:
        console.print()
        print_text(console, f"{machine.name} ({machine.runs})")
        _print_trends(machine, console, verbose=verbose)
    leading = (one.first for machine in history.machines for one in machine.benchmarks)
    worse = (one.told for one in leading if one.told and one.direction is Direction.WORSE)
    if shift := next((one for one in worse if one.search), None):
        console.print()
        print_text(console, f"to see the commits: git log {shift.commits}", wraps=False)
        print_text(console, f"to find the one: {shift.search}", wraps=False)


def _print_trends(machine: MachineView, console: Console, *, verbose: bool) -> None:
    trends = [one.first for one in machine.benchmarks]
    if verbose:
        trends = [one for benchmark in machine.benchmarks for one in benchmark.trends]
    quiet = [one for one in trends if not one.shifts and not one.trend.moved]
    hides = console.is_terminal and not verbose and len(quiet) > _UNCHANGED_SHOWN
    shown = [one for one in trends if not hides or one not in quiet]
    if shown:
        print_columns(console, _COLUMNS, [_line(one, console, verbose=verbose) for one in shown])
    left = Counter(one.outcome for one in quiet if hides)
    said = [f"{counted(n, 'benchmark')} {outcome}" for outcome, n in left.items()]
    if others := sum(len(one.trends) - 1 for one in machine.benchmarks) if not verbose else 0:
        said.append(f"{counted(others, 'other trend')} of these benchmarks, such as tails")
    if said:
        shows = "it" if len(said) == 1 and said[0].startswith("1 ") else "them"
        print_text(console, Text(f"not shown: {', '.join(said)} (-v shows {shows})", "dim"))


def _line(trend: TrendView, console: Console, *, verbose: bool) -> Line:
    levels = BLOCKS if console.encoding.lower().startswith("utf") else ASCII
    width = max(_NARROWEST, min(_WIDEST, console.width // _PART))
    told = trend.shifts if verbose else filter(None, [trend.told])
    return Line(
        cells=(
            trend.outcome,
            sparkline(trend.trend.values(), levels, most=width),
            trend.latest,
            trend.noise,
            trend.name,
        ),
        style=_STYLES.get(trend.direction, ""),
        note="\n".join([*(_told(one, verbose=verbose) for one in told), *trend.remarks]),
    )


def _told(shift: ShiftView, *, verbose: bool) -> str:
    parts = [f"{shift.sentence} ({shift.when})"]
    if shift.first:
        parts.append(f"first run after it: {shift.first}")
    if verbose:
        parts += filter(None, (shift.levels, shift.also and f"there also changed {shift.also}"))
    return "; ".join(parts)

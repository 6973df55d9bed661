"""Shows progress on standard error while benchgate measures, at almost no cost.

No thread or timer draws: the display changes only during these calls, which come between samples,
and on a terminal at most ten times a second.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.live import Live
from rich.text import Text

from benchgate.escape import plain_line
from benchgate.model.notes import change
from benchgate.model.policy import Outcome
from benchgate.model.row_order import WRONG
from benchgate.report import estimates, words
from benchgate.report.terminal import CUT, encodable, print_text
from benchgate.units import counted, format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from benchgate.model.row import Row


MEASURE: Final = "measure"
"""The phase of rounds whose number is fixed."""


@dataclass(frozen=True, slots=True)
class RoundState:
    """The state of a round; the estimate is that of its start.

    Attributes:
        index: from 0.
        phase: "screen", "confirm", "settle" or `MEASURE`.
        benchmarks: how many the round measures.
        suspected: how many of these looked changed.
        changed: how many changed for sure, and are measured further.
        decided: how many need no more rounds.
        chosen: how many there are in all.
        ends_s: when all measuring will end; None if unknown.
        may_end_sooner: whether it will end then at the latest.
        rounds: how many rounds there will be; None if it depends on what they show.
        done: how many of the round have been measured.
        current: which one is being measured.
    """

    index: int
    phase: str
    benchmarks: int
    suspected: int = 0
    changed: int = 0
    decided: int = 0
    chosen: int = 0
    ends_s: float | None = None
    may_end_sooner: bool = False
    rounds: int | None = None
    done: int = 0
    current: str = ""

    def what(self) -> str:
        """What the round is for: "looking at all 60", "making sure of 3, narrowing down 5"."""
        if self.phase == MEASURE:
            return f"measuring {self.benchmarks}, round {self.index + 1} of {self.rounds}"
        if self.phase == "screen":
            is_all = self.benchmarks == self.chosen > 1
            return f"looking at {'all ' if is_all else ''}{self.benchmarks}"
        parts = {
            "making sure of": self.suspected,
            "narrowing down": self.benchmarks - self.suspected - self.changed,
            "looking closer at": self.changed,
        }
        return ", ".join(f"{doing} {count}" for doing, count in parts.items() if count)

    def so_far(self) -> str:
        """Format as in "41 of 60 decided"; without an estimate, the round itself is counted."""
        if self.ends_s is None:
            return f"{min(self.done, self.benchmarks)} of {self.benchmarks} measured"
        return f"{self.decided} of {self.chosen} decided" if self.decided else ""


_LEAST_INTERVAL_S = 0.1
_LONGEST_SILENCE_S = 10.0
_BAR_CELLS = 20
_LINES_AT_ONCE = 5
_NAMES = 3


def _about(seconds: float) -> str:
    """Format without decimals: "8 s", "40 s", "2 min 10 s"."""
    if seconds < 60:
        return f"{5 * round(seconds / 5) if seconds > 20 else round(seconds)} s"
    return format_duration(10.0 * round(seconds / 10))


class Progress:
    """The events of a session; this class ignores them, as with --quiet.

    Attributes:
        told: the messages that the user has seen.
        is_live: whether what is shown is replaced by what is shown next.
    """

    told: Sequence[str] = ()
    is_live = False

    def preparing(self, what: str) -> None:
        """A step before the first round begins, such as "preparing the base"."""

    def building(self, arm: str) -> None:
        self.preparing(f"building the {arm}")

    def found(self, count: int, plan: str = "") -> None:
        """The number of benchmarks to measure is known, and how they will be measured."""

    def round_started(self, state: RoundState) -> None:
        """A round begins."""

    def measuring(self, benchmark: str) -> None:
        """One benchmark of the round begins."""

    def measured(self, benchmark: str) -> None:
        """One benchmark of the round has ended."""

    def decided(self, rows: Sequence[Row]) -> None:
        """These benchmarks need no more rounds, and did not stay as they were: a row of each."""

    def message(self, text: str) -> None:
        """There is a message to show at once."""

    def hint(self, text: str) -> None:
        """There is something to do next: the text may hold a command, which people copy."""

    def close(self) -> None:
        """Leave the terminal as it was; may be called twice."""


def create_progress(
    console: Console,
    *,
    quiet: bool = False,
    plain: bool = False,
    clock: Callable[[], float] = time.monotonic,
    redact: Callable[[str], str] = str,
) -> Progress:
    """Make the display: live on a terminal, a plain line now and then elsewhere, none if quiet.

    Args:
        console: on standard error.
        plain: no live display, even if the console looks like a terminal, as in some CI systems.
        clock: seconds, from any origin.
        redact: removes the secrets from a text.
    """
    if quiet:
        return Progress()
    if plain or not console.is_terminal:
        return PlainProgress(console, clock, redact)
    return LiveProgress(console, clock, redact)


class _ProgressDisplay(Progress):
    """Keeps the state that both kinds of display show."""

    def __init__(
        self,
        console: Console,
        clock: Callable[[], float],
        redact: Callable[[str], str] = str,
    ) -> None:
        self._console = console
        self._clock = clock
        self._redact = redact
        self._began_s = clock()
        self._state: RoundState | None = None
        self.told: list[str] = []

    def round_started(self, state: RoundState) -> None:
        """Store it."""
        self._state = state

    def measuring(self, benchmark: str) -> None:
        """Store its name."""
        if self._state:
            self._state = replace(self._state, current=plain_line(benchmark))
            self._show(self._state)

    def measured(self, benchmark: str) -> None:  # noqa: ARG002 - the next one's name is shown
        if self._state:
            self._state = replace(self._state, done=self._state.done + 1)

    def _show(self, state: RoundState) -> None:
        """Show it, unless something was shown a moment ago."""

    def decided(self, rows: Sequence[Row]) -> None:
        """Print a line for each benchmark, or one for many that were decided alike."""
        for _, group in groupby(rows, words.outcome):
            alike = list(group)
            whole = [alike] if len(alike) > _LINES_AT_ONCE else [[row] for row in alike]
            for some in whole:
                self._print(self._decision(some))

    def _decision(self, rows: Sequence[Row]) -> Text:
        """The icon, the word, the change and the name."""
        first = rows[0]
        is_wrong, is_better = first.outcome in WRONG, first.outcome is Outcome.IMPROVED
        ratios = [row.ratio for row in rows if row.ratio is not None]
        size = estimates.change_span(min(ratios), max(ratios)) if ratios else ""
        is_many = len(rows) > 1
        folders = {words.name(row).partition("[")[0].rpartition("/")[0] for row in rows}
        names = ", ".join(map(_title, rows[:_NAMES]))
        if is_many and len(folders) == 1 and "" not in folders:
            names = f"{len(rows)} of {folders.pop()}/*"
        elif is_many:
            names += f" and {len(rows) - _NAMES} more"
        has_icons = self._console.encoding.lower().startswith("utf")
        icon = f"{words.icon(first)} " if has_icons else ""
        return Text.assemble(
            (
                f"{icon}{words.outcome(first):<7} {size if is_many else change(first):>8}",
                "red" if is_wrong else "green" if is_better else "yellow",
            ),
            f"  {names}",
        )

    def _print(self, text: str | Text, *, wraps: bool = True) -> None:
        print_text(self._console, text, wraps=wraps)

    def found(self, count: int, plan: str = "") -> None:
        """Print the number and the plan, which stay valid."""
        self.message(": ".join(filter(None, (counted(count, "benchmark"), plan))))

    def message(self, text: str) -> None:
        """Print the message; rich keeps a live display below it."""
        self.told.append(text)
        self._print(_labeled(self._redact(text), "warning:", "yellow"))

    def hint(self, text: str) -> None:
        """Print it in one piece: a line end in a command would run a part of it."""
        self.told.append(f"hint: {text}")
        self._print(_labeled(f"hint: {self._redact(text)}", "hint:", "bold"), wraps=False)

    def _elapsed(self, state: RoundState) -> str:
        """Format as in "34 s, about 20 s left", or "at most"; or without, if that is not known."""
        now_s = self._clock()
        left_s = 0.0 if state.ends_s is None else state.ends_s - now_s
        how = "at most" if state.may_end_sooner else "about"
        left = f", {how} {_about(left_s)} left" if left_s >= 1 else ""
        return f"{_about(now_s - self._began_s)}{left}"


def _labeled(text: str, label: str, style: str) -> Text:
    """A line that looks as it does in the verdict and in errors."""
    shown = Text(plain_line(text, 1000))
    if shown.plain.startswith(label):
        shown.stylize(style, 0, len(label))
    return shown


def _title(row: Row) -> str:
    """The benchmark, and what was compared if it is not the typical time."""
    statistic = "" if row.is_typical and not words.metric(row) else words.statistic(row)
    return ", ".join(filter(None, (words.name(row), statistic)))


class PlainProgress(_ProgressDisplay):
    """Prints what happens, and a line after each ten seconds without one, for logs."""

    def __init__(
        self,
        console: Console,
        clock: Callable[[], float],
        redact: Callable[[str], str] = str,
    ) -> None:
        super().__init__(console, clock, redact)
        self._printed_s = clock()

    def _print(self, text: str | Text, *, wraps: bool = True) -> None:
        super()._print(text, wraps=wraps)
        self._printed_s = self._clock()

    def preparing(self, what: str) -> None:
        self.message(what)

    def _show(self, state: RoundState) -> None:
        if self._clock() - self._printed_s >= _LONGEST_SILENCE_S:
            parts = (state.what(), state.so_far(), self._elapsed(state))
            self._print("; ".join(filter(None, parts)))


class LiveProgress(_ProgressDisplay):
    """Two lines that change in place and disappear at the end."""

    is_live = True

    def __init__(
        self,
        console: Console,
        clock: Callable[[], float],
        redact: Callable[[str], str] = str,
    ) -> None:
        super().__init__(console, clock, redact)
        self._drawn_s = float("-inf")
        self._first_round_s: float | None = None
        self._has_results = False
        self._fraction = 0.0
        self._live = Live(
            console=console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def preparing(self, what: str) -> None:
        """Show it until the next call."""
        self._draw(self._line(Text(plain_line(what), "bold")))

    def round_started(self, state: RoundState) -> None:
        """Show the first one at once."""
        super().round_started(state)
        if self._first_round_s is None:
            self._first_round_s, self._drawn_s = self._clock(), float("-inf")

    def decided(self, rows: Sequence[Row]) -> None:
        """Print the lines above the display."""
        super().decided(rows)
        self._has_results = self._has_results or bool(rows)

    def _show(self, state: RoundState) -> None:
        if self._clock() - self._drawn_s >= _LEAST_INTERVAL_S:
            self._draw(self._display(state))

    def close(self) -> None:
        """Remove the display and show the cursor again; set results off from the verdict."""
        self._live.stop()
        if self._has_results:
            self._console.print()
        self._has_results = False

    def _draw(self, content: Text) -> None:
        self._live.start()
        self._live.update(content, refresh=True)
        self._drawn_s = self._clock()

    def _display(self, state: RoundState) -> Text:
        what, elapsed = state.what(), self._elapsed(state)
        room = self._console.width - len(what) - len(elapsed) - 4
        parts = (Text(what, "bold"), self._bar(state, room), Text(elapsed))
        first = Text("  ").join(filter(None, parts))
        second = Text("  ").join(filter(None, (Text(state.so_far()), Text(state.current, "dim"))))
        return Text("\n").join([self._line(first), self._line(second)])

    def _bar(self, state: RoundState, room: int) -> Text:
        """The share of the time that measuring takes; nothing before there is an estimate.

        It never gets shorter, even if the rest takes longer than it was estimated to take.
        """
        if state.ends_s is None or self._first_round_s is None:
            return Text()
        whole_s = state.ends_s - self._first_round_s
        fraction = (self._clock() - self._first_round_s) / whole_s if whole_s > 0 else 0.0
        self._fraction = max(self._fraction, fraction)
        cells = max(min(room, _BAR_CELLS), 0)
        full = min(round(self._fraction * cells), max(cells - 1, 0))
        return Text.assemble(("━" * full, "green"), ("─" * (cells - full), "bright_black"))

    def _line(self, text: Text) -> Text:
        """Cut text to the terminal's width, so that the display keeps its height."""
        shown = encodable(text, self._console)
        width = self._console.width
        if cell_len(shown.plain) > width:
            shown.truncate(width - cell_len(CUT))
            shown = encodable(shown.append(CUT), self._console)
        return shown

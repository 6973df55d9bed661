"""Shows progress on standard error while benchgate measures, at almost no cost.

No thread or timer draws: the display changes only during these calls, which come between samples,
and on a terminal at most ten times a second.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.live import Live
from rich.text import Text

from benchgate.escape import plain_line
from benchgate.report.terminal import CUT, encodable, print_text
from benchgate.units import counted, format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console


_LEAST_SHOWN_S = 0.1


@dataclass(frozen=True, slots=True)
class RoundState:
    """The state of a round; the estimates are those of its start."""

    index: int = 0
    rounds: int | None = None
    phase: str = ""
    benchmarks: int = 0
    done: int = 0
    current: str = ""
    ends_s: float | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    def round(self) -> str:
        """Format as in "round 3 of about 10 (screen)"."""
        of = f" of about {max(self.rounds, self.index + 1)}" if self.rounds else ""
        return f"round {self.index + 1}{of} ({self.phase})"

    def fraction(self) -> float:
        """The share done: of all rounds if their number is known, or else of this round."""
        here = self.done / self.benchmarks if self.benchmarks else 0.0
        if not self.rounds:
            return min(here, 1.0)
        return min((self.index + here) / max(self.rounds, self.index + 1), 1.0)

    def left(self, now_s: float) -> str:
        """Format as in ", about 20 s left"; "" if unknown, or if it takes longer than estimated."""
        left_s = 0.0 if self.ends_s is None else self.ends_s - now_s
        return f", about {format_duration(left_s)} left" if left_s >= _LEAST_SHOWN_S else ""


_LEAST_INTERVAL_S = 0.1
_LONGEST_SILENCE_S = 10.0
_BAR_CELLS = 20
_COUNT_STYLES = {"unchanged": "green", "open": "yellow", "suspected": "red"}


class Progress:
    """The events of a session; this class ignores them, as with --quiet.

    Attributes:
        told: the messages that the user has seen.
    """

    told: Sequence[str] = ()

    def preparing(self, what: str) -> None:
        """A step before the first round begins, such as "preparing the base"."""

    def building(self, arm: str) -> None:
        self.preparing(f"building the {arm}")

    def found(self, count: int, plan: str = "") -> None:
        """The number of benchmarks to measure is known, and how they will be measured."""

    def round_started(
        self,
        index: int,
        phase: str,
        benchmarks: int,
        seconds_left: float | None,
        *,
        rounds: int | None = None,
    ) -> None:
        """A round begins.

        Args:
            index: from 0.
            phase: "screen", "confirm", "settle".
            benchmarks: number of benchmarks in the round.
            seconds_left: about how long until all measuring ends; None if unknown.
            rounds: about how many rounds there will be in all; None if unknown.
        """

    def measuring(self, benchmark: str) -> None:
        """One benchmark of the round begins."""

    def measured(self, benchmark: str) -> None:
        """One benchmark of the round has ended."""

    def round_ended(
        self, index: int, counts: Mapping[str, int], seconds_left: float | None = None
    ) -> None:
        """A round has ended.

        Args:
            counts: by state: "unchanged", "open", "suspected".
            seconds_left: as in `round_started`.
        """

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
) -> Progress:
    """Make the display: live on a terminal, one plain line per round elsewhere, none if quiet.

    Args:
        console: on standard error.
        plain: no live display, even if the console looks like a terminal, as in some CI systems.
        clock: seconds, from any origin.
    """
    if quiet:
        return Progress()
    if plain or not console.is_terminal:
        return PlainProgress(console, clock)
    return LiveProgress(console, clock)


class _ProgressDisplay(Progress):
    """Keeps the state that both kinds of display show."""

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        self._console = console
        self._clock = clock
        self._began_s = clock()
        self._state = RoundState()
        self.told: list[str] = []

    def round_started(
        self,
        index: int,
        phase: str,
        benchmarks: int,
        seconds_left: float | None,
        *,
        rounds: int | None = None,
    ) -> None:
        """Store the round; the counts stay those of the previous round."""
        self._state = RoundState(
            index=index,
            rounds=rounds,
            phase=plain_line(phase),
            benchmarks=benchmarks,
            ends_s=self._end(seconds_left),
            counts=self._state.counts,
        )
        self._round_changed()

    def measuring(self, benchmark: str) -> None:
        """Store its name."""
        self._state = replace(self._state, current=plain_line(benchmark))

    def measured(self, benchmark: str) -> None:  # noqa: ARG002 - the next one's name is shown
        self._state = replace(self._state, done=self._state.done + 1)

    def round_ended(
        self, index: int, counts: Mapping[str, int], seconds_left: float | None = None
    ) -> None:
        """Store the counts of rows."""
        ends_s = self._state.ends_s if seconds_left is None else self._end(seconds_left)
        self._state = replace(
            self._state, index=index, counts=dict(counts), current="", ends_s=ends_s
        )
        self._round_changed()

    def _end(self, seconds_left: float | None) -> float | None:
        return None if seconds_left is None else self._clock() + seconds_left

    def _round_changed(self) -> None:
        """A round has begun or ended."""

    def found(self, count: int, plan: str = "") -> None:
        """Print the number and the plan, which stay valid."""
        self.message(": ".join(filter(None, (f"found {counted(count, 'benchmark')}", plan))))

    def message(self, text: str) -> None:
        """Print the message; rich keeps a live display below it."""
        self.told.append(text)
        print_text(self._console, plain_line(text, 1000))

    def hint(self, text: str) -> None:
        """Print it in one piece: a line end in a command would run a part of it."""
        self.told.append(f"hint: {text}")
        print_text(self._console, plain_line(f"hint: {text}", 1000), wraps=False)

    def _elapsed(self) -> str:
        now_s = self._clock()
        return f"{format_duration(now_s - self._began_s)} elapsed{self._state.left(now_s)}"


class PlainProgress(_ProgressDisplay):
    """Prints one line per round, and more if a round is long, for logs."""

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        super().__init__(console, clock)
        self._printed_s = clock()
        self._has_begun = False

    def message(self, text: str) -> None:
        super().message(text)
        self._printed_s = self._clock()

    def preparing(self, what: str) -> None:
        self.message(what)

    def measuring(self, benchmark: str) -> None:
        """Print a line if this is the first benchmark, or if the last line was long ago."""
        super().measuring(benchmark)
        state = self._state
        is_first, self._has_begun = not self._has_begun, True
        if is_first or self._clock() - self._printed_s >= _LONGEST_SILENCE_S:
            number = min(state.done + 1, state.benchmarks)
            self.message(
                f"{state.round()}: measuring {state.current}, {number} of {state.benchmarks}; "
                f"{self._elapsed()}"
            )

    def round_ended(
        self, index: int, counts: Mapping[str, int], seconds_left: float | None = None
    ) -> None:
        """Print the round's line."""
        super().round_ended(index, counts, seconds_left)
        states = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
        done, planned = self._state.done, self._state.benchmarks
        part = f"{done} of " if 0 < done < planned else ""
        measured = f"{self._state.round()}: {part}{counted(planned, 'benchmark')}"
        self.message("; ".join(part for part in (measured, states, self._elapsed()) if part))


class LiveProgress(_ProgressDisplay):
    """Two lines that change in place and disappear at the end."""

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        super().__init__(console, clock)
        self._drawn_s = float("-inf")
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

    def measuring(self, benchmark: str) -> None:
        """Show its name, unless the display changed a moment ago."""
        super().measuring(benchmark)
        if self._clock() - self._drawn_s >= _LEAST_INTERVAL_S:
            self._round_changed()

    def _round_changed(self) -> None:
        """Show the round, and the counts of rows."""
        self._draw(self._display())

    def close(self) -> None:
        """Remove the display and show the cursor again."""
        self._live.stop()

    def _draw(self, content: Text) -> None:
        self._live.start()
        self._live.update(content, refresh=True)
        self._drawn_s = self._clock()

    def _display(self) -> Text:
        state = self._state
        done = f" {state.done} of {state.benchmarks}"
        room = self._console.width - len(state.round()) - len(done) - 1
        first = Text.assemble((state.round(), "bold"), " ", self._bar(room), done)
        second = Text(self._elapsed())
        for name, count in state.counts.items():
            if count:
                second.append(f"  {count} {name}", _COUNT_STYLES.get(name, ""))
        second.append(f"  {state.current}", "dim")
        return Text("\n").join([self._line(first), self._line(second)])

    def _bar(self, room: int) -> Text:
        """As much of a bar as there is room for beside the numbers, which say the same."""
        cells = max(min(room, _BAR_CELLS), 0)
        full = round(self._state.fraction() * cells)
        return Text.assemble(("━" * full, "green"), ("─" * (cells - full), "bright_black"))

    def _line(self, text: Text) -> Text:
        """Cut text to the terminal's width, so that the display keeps its height."""
        shown = encodable(text, self._console)
        width = self._console.width
        if cell_len(shown.plain) > width:
            shown.truncate(width - cell_len(CUT))
            shown = encodable(shown.append(CUT), self._console)
        return shown

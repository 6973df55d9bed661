"""Shows progress on standard error while benchgate measures, at almost no cost.

Nothing is drawn by a thread or a timer: the display changes only inside these calls, which
come between samples, and on a terminal at most ten times a second.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from benchgate.report.columns import print_text
from benchgate.report.escape import plain_line
from benchgate.units import counted, format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import Console

_LEAST_INTERVAL_S = 0.1
_BAR_CELLS = 20
_COUNT_STYLES = {"unchanged": "green", "open": "yellow", "suspected": "red"}


class Progress:
    """Told by a session what it does; this one says nothing, as with --quiet."""

    def building(self, arm: str) -> None:
        """An arm's build begins."""

    def found(self, count: int) -> None:
        """So many benchmarks will be measured."""

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
            benchmarks: how many are measured in it.
            seconds_left: until all of the measuring ends, about; None when unknown.
            rounds: how many there will be in all, about; None when unknown.
        """

    def measured(self, benchmark: str) -> None:
        """One benchmark of the round is done."""

    def round_ended(self, index: int, counts: Mapping[str, int]) -> None:
        """A round is done; `counts` by state: "unchanged", "open", "suspected"."""

    def message(self, text: str) -> None:
        """Something to be read now."""

    def close(self) -> None:
        """Leave the terminal as it was; may be called twice."""


def create_progress(
    console: Console,
    *,
    quiet: bool = False,
    plain: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> Progress:
    """A live display on a terminal, one plain line per round elsewhere, nothing when quiet.

    Args:
        console: on standard error.
        quiet: nothing at all.
        plain: no live display, even if the console looks like a terminal, as in some CI.
        clock: seconds, from any origin.
    """
    if quiet:
        return Progress()
    if plain or not console.is_terminal:
        return PlainProgress(console, clock)
    return LiveProgress(console, clock)


@dataclass(frozen=True, slots=True)
class _State:
    """What the display says; a round's facts are those of its start."""

    index: int = 0
    rounds: int | None = None
    phase: str = ""
    benchmarks: int = 0
    done: int = 0
    last: str = ""
    ends_s: float | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    def round(self) -> str:
        """As in "round 3 of about 10 (screen)"."""
        of = f" of about {max(self.rounds, self.index + 1)}" if self.rounds else ""
        return f"round {self.index + 1}{of} ({self.phase})"

    def fraction(self) -> float:
        """Of all rounds if their number is known, else of this one."""
        here = self.done / self.benchmarks if self.benchmarks else 0.0
        if not self.rounds:
            return min(here, 1.0)
        return min((self.index + here) / max(self.rounds, self.index + 1), 1.0)

    def left(self, now_s: float) -> str:
        """As in ", about 20 s left"; "" when unknown."""
        if self.ends_s is None:
            return ""
        return f", about {format_duration(max(0.0, self.ends_s - now_s))} left"


class _ProgressDisplay(Progress):
    """Keeps the state that both kinds of display speak of."""

    def __init__(self, console: Console, clock: Callable[[], float]) -> None:
        self._console = console
        self._clock = clock
        self._began_s = clock()
        self._state = _State()

    def round_started(
        self,
        index: int,
        phase: str,
        benchmarks: int,
        seconds_left: float | None,
        *,
        rounds: int | None = None,
    ) -> None:
        """Remember the round; the counts of the last one still stand."""
        self._state = _State(
            index=index,
            rounds=rounds,
            phase=plain_line(phase),
            benchmarks=benchmarks,
            ends_s=None if seconds_left is None else self._clock() + seconds_left,
            counts=self._state.counts,
        )

    def round_ended(self, index: int, counts: Mapping[str, int]) -> None:
        """Remember how the rows stand."""
        self._state = replace(self._state, index=index, counts=dict(counts))

    def message(self, text: str) -> None:
        """Print it; rich keeps a live display below."""
        print_text(self._console, plain_line(text, 1000))

    def _elapsed(self) -> str:
        now_s = self._clock()
        return f"{format_duration(now_s - self._began_s)} elapsed{self._state.left(now_s)}"


class PlainProgress(_ProgressDisplay):
    """One line per round, for logs."""

    def building(self, arm: str) -> None:
        """Print it."""
        self.message(f"building {arm}")

    def found(self, count: int) -> None:
        """Print it."""
        self.message(f"found {counted(count, 'benchmark')}")

    def round_ended(self, index: int, counts: Mapping[str, int]) -> None:
        """Print the round's line."""
        super().round_ended(index, counts)
        states = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
        measured = f"{self._state.round()}: {counted(self._state.benchmarks, 'benchmark')}"
        self.message("; ".join(part for part in (measured, states, self._elapsed()) if part))


class LiveProgress(_ProgressDisplay):
    """Two lines that change in place, and vanish at the end."""

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

    def building(self, arm: str) -> None:
        """Show it until the next call."""
        self._draw(self._line(Text.assemble(("building ", "bold"), plain_line(arm))))

    def found(self, count: int) -> None:
        """Show it until the first round."""
        self._draw(self._line(Text(f"found {counted(count, 'benchmark')}")))

    def round_started(
        self,
        index: int,
        phase: str,
        benchmarks: int,
        seconds_left: float | None,
        *,
        rounds: int | None = None,
    ) -> None:
        """Show the round."""
        super().round_started(index, phase, benchmarks, seconds_left, rounds=rounds)
        self._draw(self._display())

    def measured(self, benchmark: str) -> None:
        """Show it, unless the display changed a moment ago."""
        self._state = replace(self._state, done=self._state.done + 1, last=plain_line(benchmark))
        if self._clock() - self._drawn_s >= _LEAST_INTERVAL_S:
            self._draw(self._display())

    def round_ended(self, index: int, counts: Mapping[str, int]) -> None:
        """Show how the rows stand."""
        super().round_ended(index, counts)
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
        first = Text.assemble(
            (state.round(), "bold"), " ", self._bar(), f" {state.done} of {state.benchmarks}"
        )
        second = Text(self._elapsed())
        for name, count in state.counts.items():
            if count:
                second.append(f"  {count} {name}", _COUNT_STYLES.get(name, ""))
        second.append(f"  {state.last}", "dim")
        return Text("\n").join([self._line(first), self._line(second)])

    def _bar(self) -> Text:
        full = round(self._state.fraction() * _BAR_CELLS)
        done, rest = ("#", "-") if self._console.options.ascii_only else ("━", "─")
        return Text.assemble((done * full, "green"), (rest * (_BAR_CELLS - full), "bright_black"))

    def _line(self, text: Text) -> Text:
        """Cut to the terminal's width, so that the display keeps its height."""
        text.truncate(self._console.width, overflow="ellipsis")
        return text

"""The tables about launches that were recorded apart."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING

from benchmarks.gate.answers import LAUNCH_RULES, ask, ask_rules
from benchmarks.gate.tables import table
from benchmarks.gate.tally import CONFIDENCE, rate, rounds_each, share, with_bounds
from benchmarks.gate.ways import RULED, STORED, STORED_LAUNCHES, TURNS

from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from benchmarks.gate.answers import Answer
    from benchmarks.gate.ways import Way
    from validation.rates import Rate

_FEWER = 3
_TITLES = ("change", "builds with a false alarm", "rows", "change found")


@dataclass(frozen=True, slots=True)
class Line:
    """The results of many builds that were made and changed in one way.

    Attributes:
        way: its name.
        percent: how much more the head of one benchmark did; 0 if nothing changed.
        alarms: builds in which a benchmark regressed that had not changed.
        rows: rows that regressed, of all tested rows that had not changed.
        found: builds whose changed benchmark regressed; None if nothing changed.
        failed: builds that failed.
        open_share: share of the rows of locations that are inconclusive.
        rounds: mean number of rounds of a benchmark.
    """

    way: str
    percent: int
    alarms: Rate
    rows: Rate
    found: Rate | None
    failed: Rate
    open_share: float | None
    rounds: float


@dataclass(frozen=True, slots=True)
class Answers:
    """Everything that the tables show.

    Attributes:
        stored, turns: what the gate said.
        called: for each simple rule, way and percent, how many clean builds the rule fails, or in
            how many changed builds it finds the change.
    """

    stored: Sequence[Line]
    turns: Sequence[Line]
    called: Mapping[tuple[str, str, int], Rate]


def ask_all(builds: int, *, seed: int, processes: int, say: Callable[[str], None]) -> Answers:
    """Make and judge builds in each way.

    Args:
        builds: how many clean ones in each way; there are a third as many with a change.
    """
    with _pool(processes) as pool:
        asking = _Asking(builds, seed, pool, say)
        return Answers(asking.gate(STORED), asking.gate(TURNS), asking.rules())


def _pool(processes: int) -> AbstractContextManager[Executor | None]:
    if processes == 1:
        return nullcontext()
    return ProcessPoolExecutor(processes, get_context("spawn"))


@dataclass(frozen=True, slots=True)
class _Asking:
    builds: int
    seed: int
    pool: Executor | None
    say: Callable[[str], None]

    def gate(self, ways: Sequence[Way]) -> list[Line]:
        return [
            _line(way, percent, ask(way, percent, builds, seed=self.seed, pool=self.pool))
            for way, percent, builds in self._kinds(ways)
        ]

    def rules(self) -> dict[tuple[str, str, int], Rate]:
        called = {}
        for way, percent, builds in self._kinds(RULED):
            ruled = ask_rules(way, percent, builds, seed=self.seed, pool=self.pool)
            for name, of_rule in ruled.items():
                called[name, way.name, percent] = rate(bool(one.called) for one in of_rule)
        return called

    def _kinds(self, ways: Sequence[Way]) -> Iterator[tuple[Way, int, int]]:
        for way in ways:
            for percent in (0, *way.percents):
                builds = max(1, self.builds // _FEWER) if percent else self.builds
                self.say(f"{builds} builds, {percent} % more: {way.name}")
                yield way, percent, builds


def _line(way: Way, percent: int, answers: Sequence[Answer]) -> Line:
    replayed = [answer.replayed for answer in answers]
    builds = [one.build for one in replayed]
    return Line(
        way.name,
        percent,
        rate(one.is_false_alarm for one in replayed),
        rate(
            row.outcome is Outcome.REGRESSED
            for one in replayed
            for row in one.build.rows
            if row.benchmark != one.slower and row.outcome is not Outcome.NOT_TESTED
        ),
        rate(one.is_found for one in replayed) if percent else None,
        rate(answer.fails for answer in answers),
        share(builds, "p25", Outcome.INCONCLUSIVE),
        rounds_each(builds),
    )


def sections(found: Answers) -> list[str]:
    """Give the blocks of markdown: for each part a heading, what to know, and the table."""
    return [*_stored(found.stored), *_turns(found.turns), *_rules(found.called)]


def _stored(lines: Sequence[Line]) -> list[str]:
    rows = [(*_cells(line), with_bounds(line.failed)) for line in lines]
    text = f"""\
Each launch is a fresh process that measures the same ten functions. Base and head have
{STORED_LAUNCHES} launches each, measured at different times, and are compared as `benchgate
compare` compares two result files. A regression found in this way is advisory: it is shown, but
does not fail a build. With `baseline.advisory_fails`, every build with a false alarm would fail.
The builds of a line share launches, and the rows of a build share processes, so the bounds are
about these sessions. There are fewer than 300 different blocks that directly follow each other,
so their real bounds are wider."""
    titles = ("the head was measured", *_TITLES, "builds that failed")
    return ["## Stored results: launches that share no rounds", text, table(titles, rows)]


def _turns(lines: Sequence[Line]) -> list[str]:
    rows = [(*_cells(line), _open_share(line), f"{line.rounds:.1f}") for line in lines]
    text = """\
The same launches, where two that followed each other make a round. Commands and the suites of
other tools are measured like this. The last lines show pairs that were measured in lockstep, as
Python functions are. There are only 30 pairs of each kind, and a build draws them with
replacement."""
    titles = ("how", *_TITLES, "open locations", "rounds each")
    return ["## Launches in turn, and in lockstep", text, table(titles, rows)]


def _rules(called: Mapping[tuple[str, str, int], Rate]) -> list[str]:
    columns = [(way.name, 0) for way in RULED]
    columns += [(way.name, percent) for way in RULED for percent in way.percents]
    rows = [
        (name, *(_short(called[name, way, percent]) for way, percent in columns))
        for name in LAUNCH_RULES
    ]
    text = """\
Rules that people write themselves, applied to launches of the same sessions. The first columns
show how many clean builds fail, by how the launches were measured. The last columns show in how
many builds the rule finds a real change, with launches in turn. All figures are percentages with
their bounds. There are fewer than 300 different single launches and blocks. One launch of each
arm is too little for a test over launches to find anything."""
    titles = ("rule", *(f"finds +{percent} %" if percent else way for way, percent in columns))
    return ["## Simple rules on the same launches", text, table(titles, rows)]


def _cells(line: Line) -> tuple[str, ...]:
    return (
        line.way,
        f"+{line.percent} %" if line.percent else "none",
        with_bounds(line.alarms),
        with_bounds(line.rows),
        with_bounds(line.found) if line.found else "",
    )


def _open_share(line: Line) -> str:
    return f"{line.open_share:.0%}" if line.open_share is not None else ""


def _short(found: Rate) -> str:
    """Write a rate in percent with its exact bounds, in the width of a cell: "5 (2 to 11)"."""
    low, high = found.bounds(CONFIDENCE)
    return f"{100 * found.hits / found.trials:.1f} ({100 * low:.1f} to {100 * high:.1f})"

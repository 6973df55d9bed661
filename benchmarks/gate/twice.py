"""How far apart the answers are if the same two commits are checked again and again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from statistics import mean, median, stdev
from typing import TYPE_CHECKING

from benchmarks.gate.loads import load_range
from benchmarks.gate.record import TWICE
from benchmarks.gate.recordings import RECORDINGS
from benchmarks.gate.tables import table
from benchmarks.gate.tally import rate, with_bounds

from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from benchmarks.gate.record import Scenario
    from validation.rates import Rate

_STATISTIC = " p25"
_CHANGED = frozenset({Outcome.REGRESSED, Outcome.IMPROVED})
_DECIDED = _CHANGED | {Outcome.UNCHANGED}


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of several checks of the same two commits.

    Attributes:
        checks: how many there are.
        benchmarks: how many each of them compares.
        apart_ratio: standard deviation of the log ratios that the checks estimate for a benchmark;
            the median of the benchmarks.
        covering: intervals that hold the mean of all estimates for their benchmark.
        contradictory: pairs of decided rows of one benchmark that say different things.
        load: the lowest and the highest load average when a check began.
    """

    checks: int
    benchmarks: int
    apart_ratio: float
    covering: Rate
    contradictory: Rate
    load: str


def answers(checks: Sequence[Mapping[str, Any]]) -> Answers:
    """Compare checks by what their recordings say about themselves."""
    rows = [row for row in checks[0]["ratios"] if row.endswith(_STATISTIC)]
    apart, covered, pairs = [], [], []
    for row in rows:
        found = [one for one in checks if row in one["ratios"]]
        logs = [[math.log(value) for value in one["ratios"][row]] for one in found]
        center = mean(ratio for ratio, _, _ in logs)
        apart.append(stdev(ratio for ratio, _, _ in logs))
        covered += [low <= center <= high for _, low, high in logs]
        outcomes = [one["outcomes"][row] for one in found]
        decided = [outcome for outcome in outcomes if outcome in _DECIDED]
        pairs += [one != other for one, other in combinations(decided, 2)]
    return Answers(
        len(checks), len(rows), median(apart), rate(covered), rate(pairs), load_range(checks)
    )


def answers_of(scenario: Scenario) -> Answers | None:
    """The answers that are recorded; None if there are fewer than two."""
    checks = RECORDINGS.about(scenario.name)
    return answers(checks) if len(checks) > 1 else None


def twice_blocks() -> Iterator[str]:
    """The section of the page."""
    lines = [_line(one.words, found) for one in TWICE if (found := answers_of(one))]
    if not lines:
        return
    yield "## The same two commits again and again"
    yield (
        "Each check of a line compares the same two commits. *Apart* is the standard deviation\n"
        "of what the checks estimate for a benchmark. An interval of a check, at 95 %, should\n"
        "hold the mean of all checks in 95 of 100 rows. Two rows of a benchmark contradict each\n"
        "other if one of them is decided differently, such as regressed beside unchanged.\n"
        "The C extension has a function that takes 0.1 to 10 µs, depending on its text; the\n"
        "head has one more function, which nothing calls, and which moves the code of the\n"
        "other. Without alignment, that alone makes the loop a quarter faster: all checks find\n"
        "it, and it is a property of these two builds, not of the change."
    )
    titles = (
        *("checks of", "checks", "benchmarks", "apart", "intervals that hold the mean"),
        *("pairs that contradict each other", "load"),
    )
    yield table(titles, lines)


def _line(words: str, found: Answers) -> tuple[str, ...]:
    return (
        words,
        str(found.checks),
        str(found.benchmarks),
        f"{found.apart_ratio:.2%}",
        with_bounds(found.covering),
        with_bounds(found.contradictory),
        found.load,
    )

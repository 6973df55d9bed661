"""The page in five lines: what the builds that were really run have shown."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from benchmarks.gate.executed import count
from benchmarks.gate.project import PROGRAM, SLOW, TEN
from benchmarks.gate.record import BUILDS, LANGUAGES, LOADS, TWICE
from benchmarks.gate.recordings import RECORDINGS
from benchmarks.gate.tally import at_most, rate
from benchmarks.gate.twice import answers_of

from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from benchmarks.gate.record import Scenario
    from validation.rates import Rate

_WIDTH = 96
_MARGIN = "2%"
_PERCENTS = (3, 5)
_TYPICAL = "clean-lanes"


def summary() -> str:
    """The lines, as a list; those for which nothing is recorded are left out."""
    lines = (*_alarms(), *_found(), *_others(), *_waits(), *_agreement())
    return "\n".join(fill(f"- {line}", _WIDTH, subsequent_indent="  ") for line in lines)


def _alarms() -> Iterator[str]:
    builds = _builds(lambda one: not one.percent and one.margin == _MARGIN)
    if builds:
        alarms = rate(Outcome.REGRESSED in one["outcomes"].values() for one in builds)
        yield (
            f"{alarms.hits} of {alarms.trials:,} builds of unchanged code, or of code with an "
            f"unrelated edit, failed: on this machine, at most {at_most(alarms):.1%} of them do."
        )


def _found() -> Iterator[str]:
    ten = [one for one in BUILDS if one.project is TEN and one.margin == _MARGIN]
    said = [
        f"+{percent} % in {_of(found)}"
        for percent in _PERCENTS
        if (found := _found_of(ten, percent))
    ]
    if said:
        yield f"A change in one of ten benchmarks was found, at a margin of 2 %: {', '.join(said)}."


def _others() -> Iterator[str]:
    of = {
        "a program of about 30 ms": [one for one in BUILDS if one.project is PROGRAM],
        "a function of 10, 50 or 300 ms": [one for one in BUILDS if one.project is SLOW],
        "programs in other languages": LANGUAGES,
    }
    said = [
        f"in {_of(found)} checks of {what}"
        for what, scenarios in of.items()
        if (found := _found_of(scenarios, 5))
    ]
    loads = _found_of(LOADS, 10)
    more = f" 10 % more work for a database or a server was found in {_of(loads)}." if loads else ""
    if said:
        said[1:] = [*said[1:-1], f"and {said[-1]}"] if said[1:] else []
        all_ = ", ".join(said)
        yield f"A slowdown of 5 % was found {all_}; busy loops ran beside some of them.{more}"


def _found_of(scenarios: Sequence[Scenario], percent: int) -> Rate | None:
    builds = _builds(lambda one: one.percent == percent and one in scenarios)
    return count(builds).found if builds else None


def _waits() -> Iterator[str]:
    builds = _builds(lambda one: one.name == _TYPICAL)
    if builds:
        found = count(builds)
        yield (
            f"A check of ten unchanged benchmarks took {found.typical_seconds:.1f} s (median), "
            f"start-up included; 19 of 20 took at most {found.long_seconds:.1f} s."
        )


def _agreement() -> Iterator[str]:
    found = [one for scenario in TWICE if (one := answers_of(scenario))]
    if found:
        covering, pairs = (
            (sum(one.hits for one in each), sum(one.trials for one in each))
            for each in zip(*((one.covering, one.contradictory) for one in found), strict=True)
        )
        yield (
            f"Checks of the same two commits agree: {covering[0]} of {covering[1]} intervals hold "
            f"the mean of ten checks, and {pairs[0]} of {pairs[1]:,} pairs of decided rows "
            "contradict each other."
        )


def _builds(wanted: Callable[[Scenario], bool]) -> Sequence[Mapping[str, Any]]:
    """What the recordings of some scenarios say about themselves."""
    return [
        about
        for scenario in BUILDS + LANGUAGES + LOADS + TWICE
        if wanted(scenario)
        for about in RECORDINGS.about(scenario.name)
    ]


def _of(found: Rate) -> str:
    return f"{found.hits} of {found.trials}"

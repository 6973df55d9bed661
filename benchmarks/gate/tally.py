"""Rates of many builds with their bounds, their rounds, and the outcomes of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.rates import Rate

from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.gate.replayed_builds import ReplayedBuild

CONFIDENCE = 0.95


def rate(hits: Iterable[bool]) -> Rate:
    """Count the hits."""
    seen = list(hits)
    return Rate(sum(seen), len(seen))


def with_bounds(found: Rate) -> str:
    """Write a rate with its exact bounds: "0 of 300: 0.0 % (at most 1.0 %)"; "" without a trial."""
    if not found.trials:
        return ""
    share = f"{found.hits} of {found.trials:,}: {found.hits / found.trials:.2%}"
    if not found.hits:
        return f"{share} (at most {at_most(found):.2%})"
    low, high = found.bounds(CONFIDENCE)
    return f"{share} ({low:.2%} to {high:.2%})"


def at_most(found: Rate) -> float:
    """The upper bound; if nothing was counted, the whole error is on its side."""
    return found.bounds(CONFIDENCE)[1] if found.hits else 1 - (1 - CONFIDENCE) ** (1 / found.trials)


def share(builds: Sequence[ReplayedBuild], statistic: str, outcome: Outcome) -> float | None:
    """Give the rate of an outcome among the tested rows of a statistic; None without such rows."""
    tested = [
        row.outcome is outcome
        for build in builds
        for row in build.rows
        if row.statistic == statistic and row.outcome is not Outcome.NOT_TESTED
    ]
    return sum(tested) / len(tested) if tested else None


def rounds_each(builds: Sequence[ReplayedBuild]) -> float:
    """Give how many rounds a benchmark took on average."""
    benchmarks = [len({row.benchmark for row in build.rows}) for build in builds]
    return sum(build.rounds for build in builds) / sum(benchmarks)

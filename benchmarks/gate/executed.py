"""The results of the builds that were really executed."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.gate.loads import load_range
from benchmarks.gate.recordings import RECORDINGS
from benchmarks.gate.tally import rate

from benchgate.model.metrics import THROUGHPUT, TIME_P50
from benchgate.model.policy import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from validation.rates import Rate

_NO_VERDICT = 4
# The statistics of rows that a check settles by default.
_LOCATIONS = (" p25", f"{TIME_P50.name} value", f"{THROUGHPUT.name} value")


@dataclass(frozen=True, slots=True)
class Executed:
    """The builds of one scenario.

    Attributes:
        alarms: builds in which a benchmark regressed that had not changed.
        rows: rows that regressed, of all that had not changed.
        found: builds in which a benchmark that did change regressed; None if nothing changed.
        no_verdict: builds that ended without a verdict.
        open_locations: rows of locations that stayed inconclusive.
        seconds: how long each build took, from start to end.
        load: the lowest and the highest load average when they began.
        commits: those that they were measured with; see `commits_of`.
    """

    alarms: Rate
    rows: Rate
    found: Rate | None
    no_verdict: Rate
    open_locations: Rate
    seconds: Sequence[float]
    load: str
    commits: str

    @property
    def typical_seconds(self) -> float:
        """Half of the builds take at most this long."""
        return median(self.seconds)

    @property
    def long_seconds(self) -> float:
        """19 of 20 builds take at most this long."""
        return sorted(self.seconds)[ceil(0.95 * len(self.seconds)) - 1]


def executed(scenario: str) -> Executed | None:
    """Count the builds of a scenario's recordings; None if there are none."""
    found = RECORDINGS.about(scenario)
    return count(found) if found else None


def count(builds: Sequence[Mapping[str, Any]]) -> Executed:
    """Count builds by what their recordings say."""
    unchanged = [
        (row, outcome)
        for build in builds
        for row, outcome in build["outcomes"].items()
        if row.split()[0] not in build["slower"] and outcome != Outcome.NOT_TESTED
    ]
    called = [_called(build) for build in builds]
    pairs = list(zip(builds, called, strict=True))
    return Executed(
        alarms=rate(bool(names - set(build["slower"])) for build, names in pairs),
        rows=rate(outcome == Outcome.REGRESSED for _, outcome in unchanged),
        found=rate(bool(set(build["slower"]) & names) for build, names in pairs)
        if builds[0]["slower"]
        else None,
        no_verdict=rate(build["exit_code"] == _NO_VERDICT for build in builds),
        open_locations=rate(
            outcome == Outcome.INCONCLUSIVE
            for build in builds
            for row, outcome in build["outcomes"].items()
            if row.endswith(_LOCATIONS) and outcome != Outcome.NOT_TESTED
        ),
        seconds=[build["seconds"] for build in builds],
        load=load_range(builds),
        commits=commits_of(builds),
    )


def commits_of(abouts: Iterable[Mapping[str, Any]]) -> str:
    """Name the commits that recordings were measured with; "earlier" for those that do not say."""
    named = dict.fromkeys(about.get("commit", "earlier") for about in abouts)
    return ", ".join(sorted(named))


def _called(build: Mapping[str, Any]) -> set[str]:
    """The benchmarks that a build called slower."""
    return {row.split()[0] for row, out in build["outcomes"].items() if out == Outcome.REGRESSED}

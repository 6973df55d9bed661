"""What the recorded sessions say about each peer: false alarms, power and time."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.gate.peers.sessions import read_session
from benchmarks.gate.recordings import RECORDINGS
from benchmarks.gate.tally import rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.gate.peers.sessions import PeerBuild
    from benchmarks.gate.recordings import Recordings
    from validation.rates import Rate


@dataclass(frozen=True, slots=True)
class PeerLine:
    """A tool with one choice of options.

    Attributes:
        false_alarms: clean builds in which it calls one of the ten workloads slower.
        found: by workload, how often it is called slower if it is.
        seconds: median time of a build.
    """

    tool: str
    options: str
    false_alarms: Rate
    found: Mapping[str, Rate]
    seconds: float


def peer_lines(recordings: Recordings = RECORDINGS) -> list[PeerLine]:
    """Count what is recorded of each tool."""
    names = recordings.names("peers")
    lines = []
    for folder in sorted({name.rpartition("/")[0] for name in names}):
        sessions = [read_session(name, recordings) for name in recordings.names(folder)]
        builds = [build for session in sessions for build in session.builds]
        lines += [
            line_of(session.about["tool"], options, builds)
            for session in sessions[:1]
            for options in session.builds[0].slower
        ]
    return lines


def line_of(tool: str, options: str, builds: Sequence[PeerBuild]) -> PeerLine:
    """Count the builds of one tool with one choice of options."""
    clean = [build for build in builds if build.is_clean]
    slower = [build for build in builds if not build.is_clean]
    return PeerLine(
        tool,
        options,
        rate(bool(build.slower[options]) for build in clean),
        {
            name: rate(name in build.slower[options] for build in slower)
            for name in builds[0].values_ns
        },
        statistics.median(build.seconds for build in builds),
    )

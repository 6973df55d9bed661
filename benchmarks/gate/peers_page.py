"""What other tools said about the same work, as blocks of Markdown and points of the figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.gate.figure import Point
from benchmarks.gate.loads import load_range
from benchmarks.gate.peers.lines import peer_lines
from benchmarks.gate.peers.record import PEERS
from benchmarks.gate.recordings import RECORDINGS
from benchmarks.gate.tables import table
from benchmarks.gate.tally import with_bounds
from validation.rates import Rate

if TYPE_CHECKING:
    from benchmarks.gate.peers.lines import PeerLine

_TEXT = """\
Other tools measured and judged the same ten workloads on the same machine, with their own
commands, as their documentation recommends. Each recording says when. A clean build compares two
runs of the same code. In the other build every workload has 3 % more to do, so each build shows
for ten workloads whether the tool sees the change. A threshold of 5 % or 10 % cannot see 3 %.
People choose such thresholds to avoid false alarms, so the table also shows lower ones."""


def peer_blocks() -> list[str]:
    """Give heading, text and table; nothing if no session is recorded."""
    lines = peer_lines()
    if not lines:
        return []
    rows = [
        (
            f"{line.tool}, {line.options}",
            with_bounds(line.false_alarms),
            with_bounds(_found(line)),
            f"{line.seconds:.0f}",
        )
        for line in lines
    ]
    titles = ("tool", "clean builds that fail", "workloads found at +3 %", "seconds, median")
    used = "\n".join(f"- **{peer.tool}**: {peer.how}" for peer in PEERS)
    load = load_range(RECORDINGS.about("peers"))
    beside = (
        f"The load average when a session began was {load}. A tool alone is about 1, so other\n"
        "work ran beside some of them. There are only a few sessions, so the bounds are wide."
    )
    return ["## Other tools", _TEXT, beside, table(titles, rows), used]


def peer_points() -> list[Point]:
    """Give a point of the figure for each tool and choice of options."""
    return [
        Point(
            f"{line.tool}, {line.options}",
            line.false_alarms.hits / line.false_alarms.trials,
            _found(line).hits / _found(line).trials,
        )
        for line in peer_lines()
    ]


def _found(line: PeerLine) -> Rate:
    rates = line.found.values()
    return Rate(sum(one.hits for one in rates), sum(one.trials for one in rates))

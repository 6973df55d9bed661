"""Compares change points with those that other packages find, on series that are known.

`make bench-changes` runs it. It prints how often series in which nothing changes have a change
point, how often a known change is found within two values, and how many others are found there.
Every tool has its default settings.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.changepoints.peer import TOOLS
from benchmarks.changepoints.series import NOISES, Known, changed, unchanged
from validation.rates import Rate

from benchgate.stats.changepoint import change_points

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
OURS = "benchgate"
NEAR = 2
CASES: dict[str, tuple[dict[int, float], int]] = {
    "2 sd at 50 of 100": ({50: 2.0}, 100),
    "3 sd at 50 of 100": ({50: 3.0}, 100),
    "3 sd, 10 runs ago, of 100": ({90: 3.0}, 100),
    "5 sd, 6 runs ago, of 100": ({94: 5.0}, 100),
    "5 sd, 6 runs ago, of 500": ({494: 5.0}, 500),
    "5 sd for 10 runs of 200": ({100: 5.0, 110: -5.0}, 200),
    "steps of 3 sd, each 25 of 200": (dict.fromkeys(range(25, 200, 25), 3.0), 200),
}


@dataclass(frozen=True, slots=True)
class Found:
    """What a tool found in each series, and the CPU time in s."""

    places: Sequence[Sequence[int]]
    cpu_s: float


def find(tool: str, series: Sequence[Known]) -> Found:
    """Let a tool find the change points of each series."""
    if tool == OURS:
        begin = time.process_time()
        places = [[change.index for change in change_points(one.values)] for one in series]
        return Found(places, time.process_time() - begin)
    asked = json.dumps({"tool": tool, "series": [one.values.tolist() for one in series]})
    python = ROOT / TOOLS[tool].environment / "bin" / "python"
    script = [str(python), str(Path(__file__).with_name("peer.py"))]
    done = subprocess.run(script, input=asked, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    return Found(answer["found"], answer["cpu_s"])


def alarms(series: Sequence[Known], found: Found) -> str:
    """The share of the series with any change point, with its 95 % bounds."""
    rate = Rate(sum(bool(places) for places in found.places), len(series))
    low, high = rate.bounds(0.95)
    return f"{rate} ({100 * low:.1f} to {100 * high:.1f})"


def hits(series: Sequence[Known], found: Found) -> str:
    """The share of the changes that are found, and other change points per series."""
    hit = other = 0
    for one, places in zip(series, found.places, strict=True):
        near = {change for change in one.changes for x in places if abs(x - change) <= NEAR}
        hit += len(near)
        other += len(places) - len(near)
    rate = Rate(hit, sum(len(one.changes) for one in series))
    return f"{rate}, {other / len(series):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.changepoints", description=__doc__)
    parser.add_argument("--series", type=int, default=400, help="of each kind")
    parser.add_argument("--ours", action="store_true", help="without the other packages")
    options = parser.parse_args()
    tools = [OURS] if options.ours else [OURS, *TOOLS]
    print("|", " | ".join(["series", *tools]), "|")
    print("|", " | ".join(["---"] * (len(tools) + 1)), "|")
    spent = dict.fromkeys(tools, 0.0)
    for noise in NOISES:
        for n in (50, 200):
            series = list(unchanged(noise, n, options.series))
            results = [find(tool, series) for tool in tools]
            cells = [alarms(series, one) for one in results]
            print("|", " | ".join([f"{noise}, {n} values", *cells]), "|", flush=True)
            for tool, one in zip(tools, results, strict=True):
                spent[tool] += one.cpu_s
    for noise in ("normal", "2 % outliers"):
        for name, (changes, n) in CASES.items():
            series = list(changed(noise, changes, n, options.series // 2))
            cells = [hits(series, find(tool, series)) for tool in tools]
            print("|", " | ".join([f"{noise}: {name}", *cells]), "|", flush=True)
    print("|", " | ".join(["CPU time, unchanged", *(f"{s:.1f} s" for s in spent.values())]), "|")


if __name__ == "__main__":
    main()

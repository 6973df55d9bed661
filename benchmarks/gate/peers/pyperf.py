"""pyperf: a run of twenty processes for each benchmark, and `compare_to` of two such runs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from benchmarks.gate.peers.lab import ARMS
from benchmarks.gate.peers.sessions import PeerRun, builds_of, in_ns

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmarks.gate.peers.lab import Lab
    from benchmarks.gate.peers.sessions import PeerBuild, Slower, ValuesNs

OPTIONS: tuple[tuple[str, ...], ...] = ((), ("--min-speed=2",), ("--min-speed=5",))
_SLOWER = re.compile(r"^Slower \((\d+)\):\n((?:- .+\n)+)", re.MULTILINE)
_NAME = re.compile(r"^- (\w+): ", re.MULTILINE)


def measure(lab: Lab) -> list[PeerBuild]:
    """Run the benchmarks once for each arm, and compare each run with the one before."""
    affinity = () if lab.cpu is None else (f"--affinity={lab.cpu}",)
    runs: list[PeerRun] = []
    for arm in ARMS:
        lab.checkout(arm)
        saved = lab.kept / f"{arm}.json"
        done = lab.run("python", "run_ten.py", *affinity, f"--output={saved}")
        slower = _compare(lab, lab.kept / f"{runs[-1].arm}.json", saved) if runs else {}
        values_ns = values_of(json.loads(saved.read_text(encoding="utf-8")))
        runs.append(PeerRun(arm, done.seconds, slower, values_ns))
    return builds_of(runs)


def _compare(lab: Lab, before: Path, after: Path) -> Slower:
    command = ("python", "-m", "pyperf", "compare_to", "--group-by-speed")
    return {
        " ".join(("compare_to", *options)): slower_in(
            lab.run(*command, *options, str(before), str(after)).out
        )
        for options in OPTIONS
    }


def slower_in(report: str) -> list[str]:
    """Read from the report of `compare_to --group-by-speed` which workloads are slower.

    Raises:
        ValueError: if it is not such a report.
    """
    if "Geometric mean: " not in report:
        raise ValueError(f"not a report of compare_to: {report}")
    found = _SLOWER.search(report)
    if not found:
        return []
    names = _NAME.findall(found[2])
    if len(names) != int(found[1]):
        raise ValueError(f"{found[1]} benchmarks are slower, but {len(names)} can be read")
    return sorted(names)


def values_of(saved: Mapping[str, Any]) -> ValuesNs:
    """Give all values by workload from a saved run, without warm-up and calibration."""
    return {
        benchmark["metadata"]["name"]: in_ns(
            [value for run in benchmark["runs"] for value in run.get("values", ())]
        )
        for benchmark in saved["benchmarks"]
    }

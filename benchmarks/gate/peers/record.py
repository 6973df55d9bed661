"""Measures sessions with each of the peers in turn until the given time is over.

A session is three measurements of the ten workloads: as they are, once more, and with 3 % more work
in each. What is already recorded is not measured again.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.gate.peers import asv, pyperf, pytest_benchmark
from benchmarks.gate.peers.lab import ENVIRONMENT, PERCENT, laboratory
from benchmarks.gate.peers.sessions import Session, write_session
from benchmarks.gate.recordings import RECORDINGS

from benchgate.measure.machine.description import read_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.gate.peers.lab import Lab
    from benchmarks.gate.peers.sessions import PeerBuild

PEERS_FOLDER = "peers"
SESSIONS = 10
_VERSIONS = (
    "import platform, sys; from importlib.metadata import version; "
    "print(version(sys.argv[1]), platform.python_version())"
)


@dataclass(frozen=True, slots=True)
class Peer:
    """Another tool, in one way of using it.

    Attributes:
        folder: the middle of the names of its recordings.
        how: what is run, and why in this way, in Markdown.
    """

    folder: str
    tool: str
    measure: Callable[[Lab], Sequence[PeerBuild]]
    how: str


PEERS = (
    Peer(
        "pytest-benchmark",
        "pytest-benchmark",
        pytest_benchmark.measure,
        "`pytest --benchmark-save` measures the base; the next run compares itself with that by\n"
        "`--benchmark-compare` and `--benchmark-compare-fail`, the documented way to make a suite\n"
        "fail. Everything else is the default: a second of rounds for each test. `taskset` binds\n"
        "it to one CPU, for the isolation that its FAQ asks for.",
    ),
    Peer(
        "pytest-benchmark-cpu-time",
        "pytest-benchmark",
        partial(pytest_benchmark.measure, options=(pytest_benchmark.CPU_TIMER,)),
        f"The same with `{pytest_benchmark.CPU_TIMER}`, the FAQ's last resort if you cannot avoid\n"
        "virtual machines or other programs.",
    ),
    Peer(
        "asv",
        "asv",
        asv.measure,
        f"`asv continuous --interleave-rounds --attribute rounds={asv.ROUNDS}`, bound to one CPU\n"
        "by `taskset`: what its page on tuning recommends if accuracy matters, as it does for\n"
        "`continuous`. The factor 1.1 is the default; with others `asv compare` judges the same\n"
        "samples. The time includes a wheel of each commit and its installation.",
    ),
    Peer(
        "pyperf",
        "pyperf",
        pyperf.measure,
        "`Runner.bench_func` with the defaults: 20 processes of 3 values for each benchmark, and\n"
        "`--affinity` as its documentation advises if no CPU is isolated. `pyperf compare_to`\n"
        "judges by its own test, and by that and `--min-speed`. `pyperf system tune` is not run:\n"
        "it needs root and changes the whole machine.",
    ),
)


def record_peers(budget_s: float, say: Callable[[str], None]) -> None:
    """Measure what is missing until the time is over or nothing is missing."""
    if not ENVIRONMENT.exists():
        sys.exit(f"there is no {ENVIRONMENT.name}: call `make bench-peers`, which makes it")
    ends = time.monotonic() + budget_s
    for peer, name in plan():
        if name in RECORDINGS:
            continue
        if time.monotonic() > ends:
            say("the time is over; run it again to go on")
            return
        session = _measure(peer)
        write_session(RECORDINGS, name, session)
        took = " and ".join(f"{build.seconds:.1f} s" for build in session.builds)
        say(f"{name}: {took}")
    say("nothing is missing")


def plan() -> Iterator[tuple[Peer, str]]:
    """Give what is wanted and its name; the tools take turns."""
    for index in range(SESSIONS):
        for peer in PEERS:
            yield peer, f"{PEERS_FOLDER}/{peer.folder}/{index:03}"


def _measure(peer: Peer) -> Session:
    environment = read_environment(os.environ)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with laboratory() as lab:
        version, python = lab.run("python", "-c", _VERSIONS, peer.tool).out.split()
        builds = peer.measure(lab)
    about = {
        "tool": peer.tool,
        "version": version,
        "percent": PERCENT,
        "started": started,
        "cpu": environment.cpu_model,
        "load": environment.load_average,
        "python": python,
    }
    return Session(about, builds)

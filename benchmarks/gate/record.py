"""Measures builds whose truth is known until the given time is over.

Every build is a real `benchgate check` in a scratch repository. A build that is already recorded is
not measured again, so you can stop a recording at any time and continue later. Sessions, and builds
whose time counts, have the machine to themselves. Of the other builds, one runs on each CPU at a
time. This is twice as fast, and a hard test, because they disturb each other.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
import time
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.gate.launches import recording_of, write_recording
from benchmarks.gate.project import (
    COMMAND_CONFIG,
    EDITS,
    PYTHON_CONFIG,
    Change,
    burner,
    check,
    extension_repository,
    names_of,
    repository,
)
from benchmarks.gate.recordings import RECORDINGS

import benchgate
from benchgate.baselines.files import read_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of build.

    Attributes:
        name: the first part of the names of its recordings.
        percent: extra loop units in one workload, another one in each build; or, if `everywhere`,
            in all of them; of a program, extra CPU time.
        is_edited: the head has one of the edits that change nothing measured, in turn.
        edit: the name of such an edit, which the head has in every build.
        extension: a C extension is measured, compiled with these options; an unrelated function
            moves its code in the head.
        is_command: a program of about 30 ms is measured instead of the ten functions.
        is_slow: three functions of 10, 50 and 300 ms are measured instead.
        burner: see `project.burner`.
        rounds: how many rounds of everything are measured; 0 if benchgate chooses.
        margin: of the gate.
        is_alone: whether it has the machine to itself.
        lanes: how many benchmarks it measures at the same time, if it is alone.
        builds: how many are wanted.
        weight: how many are measured before it is the next scenario's turn.
    """

    name: str
    percent: int = 0
    everywhere: bool = False
    is_edited: bool = False
    edit: str = ""
    extension: str = ""
    is_command: bool = False
    is_slow: bool = False
    burner: str = ""
    rounds: int = 0
    margin: str = "2%"
    is_alone: bool = False
    lanes: int = 1
    builds: int = 40
    weight: int = 1

    @property
    def words(self) -> str:
        """A description for people."""
        what = "a program" if self.is_command else "three slow functions" if self.is_slow else ""
        what = f"a C extension ({self.extension})" if self.extension else what
        change = f"+{self.percent} %" if self.percent else ""
        is_edited = self.is_edited or self.edit or self.extension
        edit = "an unrelated edit" if is_edited else ""
        margin = f"margin {self.margin.replace('%', ' %')}" if self.margin != "2%" else ""
        busy = {"other": "busy loop on the other CPU", "same": "busy loop on every CPU"}
        lanes = "one lane" if self.lanes == 1 and not self.is_command else ""
        shared = "" if self.is_alone else "two builds at a time"
        parts = (what, change or edit or "clean", margin, busy.get(self.burner, ""), lanes, shared)
        return ", ".join(part for part in parts if part)

    def change(self, index: int) -> Change:
        """What the head of a build does in addition."""
        if self.is_command:
            return Change({}, command=self.percent)
        functions = "slow" if self.is_slow else "ten"
        all_names = names_of(functions)
        names = all_names if self.everywhere else (all_names[index % len(all_names)],)
        # Each half of the sessions has all of them, one after the other.
        turn = index // 2 if self.rounds else index
        edit = list(EDITS)[turn % len(EDITS)] if self.is_edited else self.edit
        return Change(dict.fromkeys(names, self.percent), edit=edit, functions=functions)

    def repository(self, index: int) -> AbstractContextManager[Path]:
        """Make the scratch repository of a build."""
        if self.extension:
            return extension_repository(self.extension)
        config = COMMAND_CONFIG if self.is_command else PYTHON_CONFIG
        return repository(self.change(index), config)

    def options(self, index: int) -> list[str]:
        """The options of `benchgate check`."""
        fixed = ["--rounds", str(self.rounds)] if self.rounds else []
        lanes = ["--lanes", str(self.lanes)]
        return [*fixed, *lanes, "--margin", self.margin, "--seed", str(index + 1)]


_session = partial(Scenario, rounds=100, is_alone=True)
SESSIONS = (
    _session("rounds-clean", builds=4),
    *(_session(f"rounds-{n}", n, everywhere=True, builds=2) for n in (1, 2, 3, 5, 10)),
    _session("rounds-edited", is_edited=True, builds=2 * len(EDITS)),
    _session("rounds-clean-burner-other", burner="other", builds=2),
    _session("rounds-clean-burner-same", burner="same", builds=2),
    _session("rounds-3-burner-other", 3, everywhere=True, burner="other", builds=2),
    _session("rounds-3-burner-same", 3, everywhere=True, burner="same", builds=2),
)
# As users have it on this machine: two lanes.
_in_lanes = partial(Scenario, is_alone=True, lanes=2)
BUILDS = (
    _in_lanes("clean-lanes", builds=300, weight=6),
    _in_lanes("edited-lanes", is_edited=True, builds=100, weight=2),
    _in_lanes("3-lanes", 3, builds=100, weight=2),
    _in_lanes("5-lanes", 5, builds=100, weight=2),
    _in_lanes("2-margin-1-lanes", 2, margin="1%", builds=100, weight=2),
    _in_lanes("clean-margin-0.5-lanes", margin="0.5%", builds=100, weight=2),
    _in_lanes("1-margin-0.5-lanes", 1, margin="0.5%", builds=100, weight=2),
    _in_lanes("clean-burner-same-lanes", burner="same", builds=50),
    _in_lanes("3-burner-same-lanes", 3, burner="same", builds=50),
    _in_lanes("slow-clean-lanes", is_slow=True, builds=50),
    _in_lanes("slow-5-lanes", 5, is_slow=True, builds=21),
    _in_lanes("slow-clean-burner-same-lanes", is_slow=True, burner="same", builds=50),
    _in_lanes("slow-5-burner-same-lanes", 5, is_slow=True, burner="same", builds=21),
    Scenario("command-clean", is_command=True, builds=300, weight=3),
    Scenario("command-5", 5, is_command=True, builds=100),
    Scenario("command-10", 10, is_command=True, builds=100),
    Scenario("command-clean-burner-same", is_command=True, burner="same", is_alone=True, builds=50),
    Scenario("command-5-burner-same", 5, is_command=True, burner="same", is_alone=True, builds=50),
    Scenario("clean", builds=100, weight=2),
    Scenario("edited", is_edited=True, builds=30),
    Scenario("3", 3, builds=30),
)

# Each measures the same two commits in all of its builds.
TWICE = (
    _in_lanes("twice-edited", edit="import", builds=10),
    _in_lanes("twice-extension", extension="-O2", builds=10),
    _in_lanes("twice-aligned", extension="-O2 -falign-functions=64 -falign-loops=64", builds=10),
    _in_lanes("twice-command", is_command=True, builds=10),
)


def record(budget_s: float, say: Callable[[str], None], *, only: str = "*") -> None:
    """Measure what is missing, sessions first, until the time is over or nothing is missing.

    Args:
        only: a pattern for the names of scenarios.
    """
    ends = time.monotonic() + budget_s
    missing = [
        one for one in plan() if fnmatchcase(one[0].name, only) and name_of(*one) not in RECORDINGS
    ]
    _record([one for one in missing if one[0].is_alone], ends, say)
    together = [one for one in missing if not one[0].is_alone]
    cpus = sorted(os.sched_getaffinity(0))
    context = get_context("spawn")
    shares = [together[number :: len(cpus)] for number in range(len(cpus))]
    processes = [
        context.Process(target=_record_on, args=(cpu, share, ends, say))
        for cpu, share in zip(cpus, shares, strict=True)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        if process.exitcode:
            raise RuntimeError(f"recording ended with {process.exitcode}")
    is_over = any(name_of(*one) not in RECORDINGS for one in missing)
    say("the time is over; run it again to go on" if is_over else "nothing is missing")


def _record_on(
    cpu: int, missing: Sequence[tuple[Scenario, int]], ends: float, say: Callable[[str], None]
) -> None:
    os.sched_setaffinity(0, [cpu])
    _record(missing, ends, say)


def _record(
    missing: Sequence[tuple[Scenario, int]], ends: float, say: Callable[[str], None]
) -> None:
    for scenario, index in missing:
        if time.monotonic() > ends:
            return
        say(f"{scenario.name} {index}: {_measure(scenario, index)}")


def plan() -> Iterator[tuple[Scenario, int]]:
    """Give what is wanted, in an order that makes a recording useful whenever it is stopped."""
    for scenarios in (SESSIONS, BUILDS, TWICE):
        done = dict.fromkeys(scenarios, 0)
        while any(done[s] < s.builds for s in scenarios):
            for scenario in scenarios:
                for index in range(done[scenario], done[scenario] + scenario.weight):
                    if index < scenario.builds:
                        yield scenario, index
                done[scenario] += scenario.weight


def name_of(scenario: Scenario, index: int) -> str:
    """The name of a build's recording."""
    return f"{scenario.name}/{index:03}"


@cache
def _code() -> str:
    """Identify what measures and decides: a hash of its sources."""
    root = Path(benchgate.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(
        p for folder in ("gate", "measure", "stats") for p in (root / folder).rglob("*.py")
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _measure(scenario: Scenario, index: int) -> str:
    change = scenario.change(index)
    with scenario.repository(index) as folder, tempfile.TemporaryDirectory() as temporary:
        output = Path(temporary) / "result.json"
        with burner(scenario.burner):
            answer = check(folder, output, scenario.options(index))
        result = read_result(output)
    rows = answer.verdict["rows"]
    about = {
        "scenario": asdict(scenario),
        "slower": change.slower,
        "edit": change.edit,
        "code": _code(),
        "seed": index + 1,
        "started": result.head.started,
        "cpu": result.head.environment.cpu_model,
        "cpus": len(os.sched_getaffinity(0)),
        "load": result.head.environment.load_average,
        "python": platform.python_version(),
        "tool": result.tool,
        "exit_code": answer.exit_code,
        "seconds": round(answer.seconds, 2),
        "outcomes": {f"{r['benchmark']} {r['statistic']}": r["outcome"] for r in rows},
        "ratios": {
            f"{r['benchmark']} {r['statistic']}": [r["ratio"], *r["interval"]]
            for r in rows
            if r["interval"]
        },
    }
    whole = bool(scenario.rounds)
    write_recording(RECORDINGS, name_of(scenario, index), recording_of(result, about, whole=whole))
    return f"exit {answer.exit_code}, {answer.seconds:.1f} s"

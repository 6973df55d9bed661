"""Measures builds whose truth is known until the given time is over.

Every build is a real `benchgate check` in a scratch repository. A build that is already recorded is
not measured again, so you can stop a recording at any time and continue later. Sessions, and builds
whose time counts, have the machine to themselves. Of the other builds, one runs on each CPU at a
time. This is twice as fast, and a hard test, because they disturb each other.
"""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.gate.launches import recording_of, write_recording
from benchmarks.gate.project import (
    EDITS,
    PROGRAM,
    SLOW,
    TEN,
    Change,
    CheckFailedError,
    Extension,
    burner,
    check,
    repository,
)
from benchmarks.gate.recordings import RECORDINGS
from benchmarks.languages.programs import OTHERS, WORDS, Language
from benchmarks.load.targets import TARGETS, Target

from benchgate.baselines.stored_files import read_result
from benchgate.model.metrics import TIME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from benchmarks.gate.project import Project


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of build.

    Attributes:
        name: the first part of the names of its recordings.
        percent: how much more one benchmark does, another one in each build; or, if `everywhere`,
            all of them.
        project: what is measured.
        is_edited: the head has one of the edits that change nothing measured, in turn.
        edit: the name of such an edit, which the head has in every build.
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
    project: Project = TEN
    everywhere: bool = False
    is_edited: bool = False
    edit: str = ""
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
        change = f"+{self.percent} %" if self.percent else ""
        edit = "an unrelated edit" if self.is_edited or self.edit else ""
        margin = f"margin {self.margin.replace('%', ' %')}" if self.margin != "2%" else ""
        busy = {"other": "busy loop on the other CPU", "same": "busy loop on every CPU"}
        shared = "" if self.is_alone else "two builds at a time"
        parts = (
            *(self.project.words, change or edit or "clean", margin),
            *(busy.get(self.burner, ""), shared),
        )
        return ", ".join(part for part in parts if part)

    def change(self, index: int) -> Change:
        """What the head of a build does in addition."""
        names, edits = self.project.names, self.project.edits
        one = () if self.everywhere or not names else (names[index % len(names)],)
        # Each half of the sessions has all of them, one after the other.
        turn = index // 2 if self.rounds else index
        edit = edits[turn % len(edits)] if self.is_edited else self.edit
        return Change((one or names) if self.percent else (), self.percent, edit)

    def options(self, index: int) -> list[str]:
        """The options of `benchgate check`."""
        fixed = ["--rounds", str(self.rounds)] if self.rounds else []
        measured = ["--lanes", str(self.lanes), "--margin", self.margin, "--seed", str(index + 1)]
        return [*self.project.options, *fixed, *measured]


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
_busy = partial(_in_lanes, burner="same", builds=50)
BUILDS = (
    _in_lanes("clean-lanes", builds=300, weight=6),
    _in_lanes("edited-lanes", is_edited=True, builds=100, weight=2),
    _in_lanes("3-lanes", 3, builds=100, weight=2),
    _in_lanes("5-lanes", 5, builds=100, weight=2),
    _in_lanes("2-margin-1-lanes", 2, margin="1%", builds=100, weight=2),
    _in_lanes("clean-margin-0.5-lanes", margin="0.5%", builds=50),
    _in_lanes("1-margin-0.5-lanes", 1, margin="0.5%", builds=100, weight=2),
    _busy("clean-burner-same-lanes"),
    _busy("3-burner-same-lanes", 3),
    _in_lanes("slow-clean-lanes", project=SLOW, builds=50),
    _in_lanes("slow-5-lanes", 5, SLOW, builds=21),
    _busy("slow-clean-burner-same-lanes", project=SLOW),
    _busy("slow-5-burner-same-lanes", 5, SLOW),
    Scenario("command-clean", project=PROGRAM, builds=100, weight=2),
    Scenario("command-5", 5, PROGRAM, builds=100, weight=2),
    Scenario("command-10", 10, PROGRAM, builds=100, weight=2),
    _busy("command-clean-burner-same", project=PROGRAM),
    _busy("command-5-burner-same", 5, PROGRAM),
)
LANGUAGES = tuple(
    Scenario(f"{language}-{name}", percent, Language(language), is_edited=is_edited, builds=builds)
    for language in WORDS
    for name, percent, is_edited, builds in (
        ("clean", 0, language in OTHERS, 50),
        ("5", 5, False, 20),
    )
)
LOADS = tuple(
    Scenario(f"{kind}-{name}", percent, Target(kind), is_alone=True, builds=20)
    for kind in TARGETS
    for name, percent in (("clean", 0), ("10", 10))
)

# Each measures the same two commits in all of its builds.
TWICE = (
    _in_lanes("twice-edited", edit="import", builds=10),
    *(
        _in_lanes(name, project=Extension(compiled), edit="function", builds=10)
        for name, compiled in (
            ("twice-extension", "-O2"),
            ("twice-aligned", "-O2 -falign-functions=64 -falign-loops=64"),
        )
    ),
    _in_lanes("twice-command", project=PROGRAM, builds=10),
)


def record(
    budget_s: float, say: Callable[[str], None], *, only: Sequence[str] = ("*",), since: str = ""
) -> None:
    """Measure what is missing, sessions first, until the time is over or nothing is missing.

    Args:
        only: patterns for the names of scenarios; one of them must match.
        since: a commit; what was recorded by code without it is measured again. "" for none.
    """
    _end_with_its_check()
    ends = time.monotonic() + budget_s
    ask = ["git", "rev-parse", "--quiet", "--verify", f"{since}^{{commit}}"]
    if since and subprocess.run(ask, cwd=_ROOT, check=False, stdout=subprocess.DEVNULL).returncode:
        sys.exit(f"there is no commit {since}")
    missing = [
        one
        for one in plan()
        if any(fnmatchcase(one[0].name, pattern) for pattern in only) and _is_missing(*one, since)
    ]
    _record([one for one in missing if one[0].is_alone], ends, say)
    together = [one for one in missing if not one[0].is_alone]
    cpus = sorted(os.sched_getaffinity(0))
    context = get_context("spawn")
    shares = [together[number :: len(cpus)] for number in range(len(cpus))]
    processes = [
        context.Process(target=_record_on, args=(cpu, share, ends, say), daemon=True)
        for cpu, share in zip(cpus, shares, strict=True)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        if process.exitcode:
            raise RuntimeError(f"recording ended with {process.exitcode}")
    if not any(_is_missing(*one, since) for one in missing):
        say("nothing is missing")
    elif time.monotonic() > ends:
        say("the time is over; run it again to go on")


def _end_with_its_check() -> None:
    """Let SIGTERM end the check that is running, too: it would disturb what is measured next."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("the recording was ended"))


def _record_on(
    cpu: int, missing: Sequence[tuple[Scenario, int]], ends: float, say: Callable[[str], None]
) -> None:
    _end_with_its_check()
    os.sched_setaffinity(0, [cpu])
    _record(missing, ends, say)


def _record(
    missing: Sequence[tuple[Scenario, int]], ends: float, say: Callable[[str], None]
) -> None:
    failed: set[str] = set()
    for scenario, index in missing:
        if time.monotonic() > ends:
            return
        if scenario.name in failed:
            continue
        try:
            say(f"{scenario.name} {index}: {_measure(scenario, index)}")
        except CheckFailedError as error:  # a tool may be missing
            failed.add(scenario.name)
            say(f"{scenario.name} is left out: {error}")


def plan() -> Iterator[tuple[Scenario, int]]:
    """Give what is wanted, in an order that makes a recording useful whenever it is stopped."""
    for scenarios in (SESSIONS, (*BUILDS, *LANGUAGES, *LOADS, *TWICE)):
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


def _is_missing(scenario: Scenario, index: int, since: str) -> bool:
    name = name_of(scenario, index)
    if name not in RECORDINGS:
        return True
    return bool(since) and not _holds(RECORDINGS.document(name)["about"].get("commit"), since)


_ROOT = Path(__file__).parents[2]


@cache
def _holds(commit: str | None, since: str) -> bool:
    """Whether a commit comes after another one."""
    command = ["git", "merge-base", "--is-ancestor", since, commit or ""]
    return commit is not None and not subprocess.run(command, cwd=_ROOT, check=False).returncode


@cache
def _commit() -> str:
    """The commit that is measured with.

    Raises:
        RuntimeError: the sources differ from it.
    """
    ask = partial(subprocess.run, cwd=_ROOT, check=True, capture_output=True, text=True)
    if ask(["git", "status", "--porcelain", "--", "src"]).stdout:
        raise RuntimeError("src/ has changes: commit them, so that figures can name their commit")
    return ask(["git", "rev-parse", "--short=8", "HEAD"]).stdout.strip()


def _measure(scenario: Scenario, index: int) -> str:
    change = scenario.change(index)
    with (
        repository(scenario.project, change) as folder,
        tempfile.TemporaryDirectory() as temporary,
    ):
        output = Path(temporary) / "result.json"
        with burner(scenario.burner):
            answer = check(folder, output, scenario.options(index))
        result = read_result(output)
    rows = answer.verdict["rows"]
    ids = sorted({row["benchmark"] for row in rows})
    named = tuple(f"/{name}" for name in change.slower)
    slower = [id_ for id_ in ids if f"/{id_}".endswith(named)] if named else []
    about = {
        "scenario": scenario.words,
        "slower": ids if slower and scenario.project.is_shared else slower,
        "edit": change.edit,
        "commit": _commit(),
        "seed": index + 1,
        "started": result.head.started,
        "cpu": result.head.environment.cpu_model,
        "cpus": len(os.sched_getaffinity(0)),
        "load": result.head.environment.load_average,
        "python": platform.python_version(),
        "tool": result.tool,
        "exit_code": answer.exit_code,
        "seconds": round(answer.seconds, 2),
        "outcomes": {_key(row): row["outcome"] for row in rows},
        "ratios": {_key(row): [row["ratio"], *row["interval"]] for row in rows if row["interval"]},
    }
    name = name_of(scenario, index)
    if scenario.rounds:
        write_recording(RECORDINGS, name, recording_of(result, about))
    else:
        RECORDINGS.add(name, {"about": about})
    return f"exit {answer.exit_code}, {answer.seconds:.1f} s"


def _key(row: Mapping[str, Any]) -> str:
    metric = () if row["metric"] == TIME.name else (row["metric"],)
    return " ".join((row["benchmark"], *metric, row["statistic"]))

"""Commands that are tried with faults, and what must hold whatever fails."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.jobs import Jobs, wrong_with
from tests.faults.system_calls import (
    MAIN,
    Command,
    Part,
    calls_of,
    python_module,
    run,
    run_with_fault,
)
from tests.patience import eventually

from benchgate.history.run_rows import decode_run
from benchgate.model.codec import decode_result
from benchgate.model.history_document import HISTORY
from benchgate.model.statistics import STATISTICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from tests.done import Done
    from tests.faults.jobs import EndedJob
    from tests.faults.system_calls import Call

    Traced: TypeAlias = Callable[[Sequence[str], Path, Mapping[str, str]], Done]

# What it allocates is the same each time, so the verdict does not depend on the machine.
_CODE = "def work():\n    return sum([i * i for i in range(3000)])\n"
_MEASURE = """
[measure]
samples = 5
launch_time = "1ms"
canary = false
executions = 1
"""
_PYTHON = f"""\
[gate]
statistics = ["p25"]
metrics = ["alloc_peak"]
{_MEASURE}
[[benchmark]]
python = "benchmarks"
"""
_SCENARIO = f"""\
[gate]
metrics = ["error_ratio"]
alpha = 0.4
{_MEASURE}
[[benchmark]]
"""
_LOAD = """\
name = "t"
[[target]]
dsn = "{scratch}/t.db"
[load]
duration = "100ms"
warmup = "0s"
[setup]
files = ["schema.sql"]
[[step]]
name = "step"
"""
_FILES = {
    "src/toy/__init__.py": _CODE,
    "benchmarks/bench_toy.py": "import toy\n\n\ndef bench_work():\n    toy.work()\n",
    "more/bench_more.py": "def bench_more():\n    return list(range(100))\n",
    "benchgate.toml": _PYTHON,
    "lanes.toml": f'{_PYTHON}\n[[benchmark]]\npython = "more"\n',
    # No machine makes it so much slower.
    "command.toml": f"""\
[gate]
statistics = ["p25"]
alpha = 0.4
margin = "1000%"
{_MEASURE}
[[benchmark]]
name = "true"
command = "true"
allow_foreign = true
""",
    "read.toml": f'{_SCENARIO}scenario = "load/read.toml"\n',
    "write.toml": f'{_SCENARIO}scenario = "load/write.toml"\n',
    "load/read.toml": f'{_LOAD}query = "SELECT a FROM t"\n',  # noqa: S608 - nobody else writes it
    "load/write.toml": f'{_LOAD}query = "INSERT INTO t VALUES (1, 2)"\n',  # noqa: S608 - as above
    "schema.sql": "CREATE TABLE t (a, b);\n",
}
_RESULT, _STATISTICS, _HISTORY = "result.json", "statistics.json", "history.json"
_OUTPUTS = ("verdict.json", "verdict.md", "verdict.html")
_EARLIER = b"what was there before\n"
_WITHOUT_VERDICT = frozenset({2, 4, 5, 6, 7})
_MOST_TRIES = 3


@dataclass(frozen=True, slots=True)
class Trial:
    """A command.

    Attributes:
        words: its arguments; `{out}` stands for the folder of its outputs.
        outputs: the files that it writes there.
        parts: how many tests share its calls, each of a few minutes.
        only: what the names of the calls and their paths are like, if others fail in another trial.
        part: which part of benchgate fails.
        job: the command of a job on GitHub; then `words` and `outputs` are empty.
    """

    words: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    parts: int = 1
    only: str = ""
    part: Part = MAIN
    job: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended, and the folder that it worked in."""

    done: Done
    folder: Path
    job: EndedJob | None = None


_TO_FILES = (
    *("--json", "{out}/verdict.json"),
    *("--markdown", "{out}/verdict.md"),
    *("--html", "{out}/verdict.html"),
)


def _part_of(config: str, *, process: str = "", thread: str = "") -> Trial:
    words = ("check", "--rounds", "4", "--lanes", "2", "--config", f"{config}.toml")
    return Trial((*words, *_TO_FILES), _OUTPUTS, part=Part(process, thread))


TRIALS: Mapping[str, Trial] = {
    "check": Trial(
        ("check", "--rounds", "3", "--output", "{out}/result.json", *_TO_FILES),
        (_RESULT, *_OUTPUTS),
        parts=6,
    ),
    "last": Trial(("check", "--rounds", "3"), only=r"\w+ /state/"),
    "compare": Trial(("compare", "../stored.json", *_TO_FILES), _OUTPUTS),
    "report": Trial(("report", "../stored.json", "--html", "{out}/page.html"), ("page.html",)),
    "show": Trial(("show", "../stored.json", "--json", "{out}/statistics.json"), (_STATISTICS,)),
    "history-add": Trial(("history", "--add", "../run.json", "--store", "{out}/store")),
    "history": Trial(("history", "../run.json", "--json", "{out}/history.json"), (_HISTORY,)),
    "list": Trial(("list",)),
    # What `check` does in other ways: GitHub's files, and requests. How many files it has opened
    # until then depends on the other processes.
    "ci": Trial(job="ci", only=r"socket|(?!openat|getdents64)\w+ /files-", parts=2),
    "publish": Trial(job="publish", parts=2),
    "guardian": _part_of("benchgate", process="_guardian.py"),
    "worker": _part_of("benchgate", process="/_worker"),
    "launcher": _part_of("command", process="_launcher.py"),
    "generator": _part_of("read", process="benchgate.load"),
    "lane": _part_of("lanes", thread="lane 0"),
    "executor": _part_of("read", thread="ThreadPoolExecutor"),
    "load-worker": _part_of("write", process="benchgate.load", thread="worker"),
}


@dataclass(slots=True)
class Place:
    """A small project whose working tree is slower than its commit, and what surrounds it.

    Args:
        top: an empty folder for all of it.
    """

    top: Path
    marker: str = field(default_factory=lambda: uuid.uuid4().hex)
    _jobs: Jobs = field(init=False)

    def __post_init__(self) -> None:
        for path, text in _FILES.items():
            file = self.project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for folder in (self._out, self._temporary):
            folder.mkdir()
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "work")):
            self._git(self.project, *words)
        measure = python_module("run", "--rounds", "2", "--output", "../run.json")
        run(measure, self.project, self.environ).check(0)
        changed = _CODE.replace("3000", "9000")
        (self.project / "src/toy/__init__.py").write_text(changed, encoding="utf-8")
        check = python_module("check", "--rounds", "3", "--output", "../stored.json")
        run(check, self.project, self.environ).check(3)
        self._jobs = Jobs(self.top / "jobs", _FILES, {"src/toy/__init__.py": changed})

    @property
    def project(self) -> Path:
        """Give the folder of the project."""
        return self.top / "project"

    @property
    def _out(self) -> Path:
        return self.top / "out"

    @property
    def _temporary(self) -> Path:
        return self.top / "temporary"

    @property
    def environ(self) -> dict[str, str]:
        """Give the environment of each command."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.top),
            "TMPDIR": str(self._temporary),
            "XDG_STATE_HOME": str(self.top / "state"),
            "XDG_CACHE_HOME": str(self.top / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "A. Developer",
            "GIT_AUTHOR_EMAIL": "developer@example.org",
            "GIT_COMMITTER_NAME": "A. Developer",
            "GIT_COMMITTER_EMAIL": "developer@example.org",
            "BENCHGATE_FAULTS": self.marker,
        }

    def clean(self, trial: Trial) -> tuple[Ended, list[Call]]:
        """Run a command without a fault; also give its calls."""
        if trial.job == "publish":
            self._jobs.measure(
                lambda words, cwd, added: run(python_module(*words), cwd, {**self.environ, **added})
            )
        calls: list[Call] = []

        def traced(arguments: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> Done:
            done, found = calls_of(Command(arguments, cwd, environ, self._trace, trial.part))
            calls.extend(found)
            return done

        ended = self._run(trial, traced)
        assert not list(self._left_behind(ended))
        return ended, [one for one in calls if re.match(trial.only, f"{one.name} {one.about}")]

    def with_fault(self, trial: Trial, call: Call, clean: Ended) -> tuple[bool, list[str]]:
        """Run a command and let a call fail; again, if another call failed instead.

        Returns:
            Whether it was the call, and what is wrong.
        """
        wanted, wrong = call, []
        failed: Call | None = None
        there: Call | None = None

        def traced(arguments: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> Done:
            nonlocal failed, there
            command = Command(arguments, cwd, environ, self._trace, trial.part)
            done, failed, there = run_with_fault(command, wanted)
            return done

        for _ in range(_MOST_TRIES):
            ended = self._run(trial, traced)
            faults = [*_wrong_end(ended, clean), *self._torn(trial, clean, ended)]
            if any(self._left_behind(ended)):  # as after a kill, the next command tidies up
                run(python_module("list"), ended.folder, self.environ)
                faults += self._left_behind(ended)
            # A page whose module cannot be imported fails only itself: the exit code stays.
            if faults and not (failed and failed.is_import):
                wrong.append(f"{failed}: {', '.join(faults)}\n{ended.done.err}")
            if failed and failed.about == call.about:
                return True, wrong
            wanted = there or call
        return False, wrong

    def _run(self, trial: Trial, traced: Traced) -> Ended:
        for folder in (self._out, self._temporary, self.top / "state"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        for name in trial.outputs:
            (self._out / name).write_bytes(_EARLIER)
        if trial.job:
            job = self._jobs.run(
                trial.job, lambda words, cwd, added: traced(words, cwd, {**self.environ, **added})
            )
            return Ended(job.job.done, job.folder, job)
        words = [word.replace("{out}", str(self._out)) for word in trial.words]
        return Ended(traced(words, self.project, self.environ), self.project)

    @property
    def _trace(self) -> Path:
        return self.top / "trace"

    def _torn(self, trial: Trial, clean: Ended, ended: Ended) -> Iterator[str]:
        """Say what is wrong with files: each is whole, or what was there before."""
        if ended.job and clean.job:
            yield from wrong_with(ended.job, clean.job)
        for name in trial.outputs:
            path = self._out / name
            if not path.exists():
                yield f"{name} is gone"
                continue
            data = path.read_bytes()
            if data != _EARLIER:
                yield from (f"{name}: {fault}" for fault in _faults_in(name, data, clean.done))
            elif ended.done.code in {0, clean.done.code}:
                yield f"{name} was not written, and the exit code is {ended.done.code}"
        for run_file in self._out.rglob("*.parquet"):
            decode_run(run_file.read_bytes(), run_file.name)
        for stored in (self.top / "state").rglob("*.json*"):
            if ".tmp" not in stored.name:
                decode_result(_expanded(stored), stored.name)

    def _left_behind(self, ended: Ended) -> Iterator[str]:
        eventually(lambda: not self._processes())
        yield from (f"process {each}" for each in self._processes())
        yield from (f"temporary {each.name}" for each in self._temporary.iterdir())
        trees = self._git(ended.folder, "worktree", "list", "--porcelain").count("worktree ")
        if trees != 1:
            yield f"{trees} worktrees"
        status = self._git(ended.folder, "status", "--porcelain").split()
        if status != ([] if ended.job else ["M", "src/toy/__init__.py"]):
            yield f"changes: {status}"

    def _processes(self) -> list[str]:
        mark = f"BENCHGATE_FAULTS={self.marker}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    if mark in (entry / "environ").read_bytes():
                        line = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                        found.append(f"{entry.name}: {line.decode(errors='replace')}")
        return found

    def _git(self, folder: Path, *words: str) -> str:
        done = subprocess.run(
            ("git", *words),  # noqa: S607 - as users have it
            cwd=folder,
            env=self.environ,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout


def _expanded(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def _wrong_end(ended: Ended, clean: Ended) -> Iterator[str]:
    done, known = ended.done, clean.done
    if "Traceback" in done.err + done.out:
        yield "a traceback"
    if done.code == known.code:
        verdict, same = (each.out.partition(":")[0] for each in (done, known))
        # Where the fault is a benchmark's, the others are judged nevertheless.
        if done.out and not ended.job and verdict != same and "crashes" not in done.out:
            yield f"another verdict: {done.out.splitlines()[0]}"
    elif done.code not in _WITHOUT_VERDICT:
        yield f"exit code {done.code} instead of {known.code}"
    elif "error:" not in done.err and not re.search("failed|crashed", done.out):
        yield f"exit code {done.code} without an error"


def _faults_in(name: str, data: bytes, clean: Done) -> Iterator[str]:
    text = data.decode()
    if name.endswith(".html"):
        if not text.rstrip().endswith("</html>"):
            yield "is cut off"
    elif name == _RESULT:
        decode_result(data, name)
    elif name == _STATISTICS:
        STATISTICS.read(data, name)
    elif name == _HISTORY:
        HISTORY.read(data, name)
    elif name.endswith(".json"):
        decision = json.loads(text)["decision"]
        if clean.code == 3 and decision == "pass":
            yield f"the decision is {decision}"
    elif not text.endswith("\n"):
        yield "is cut off"

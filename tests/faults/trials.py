"""Commands that are tried with faults, and what must hold whatever fails."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.system_calls import calls_of, python_module, run, run_with_fault
from tests.patience import eventually

from benchgate.history.store import decode_run
from benchgate.model.codec import HISTORY, STATISTICS, decode_result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.done import Done
    from tests.faults.system_calls import Call

# What it allocates is the same each time, so the verdict does not depend on the machine.
_CODE = "def work():\n    return sum([i * i for i in range(3000)])\n"
_FILES = {
    "src/toy/__init__.py": _CODE,
    "benchmarks/bench_toy.py": "import toy\n\n\ndef bench_work():\n    toy.work()\n",
    "benchgate.toml": """\
[gate]
statistics = ["p25"]
metrics = ["alloc_peak"]

[measure]
samples = 5
launch_time = "1ms"
canary = false

[[benchmark]]
python = "benchmarks"
""",
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
        only: how the paths begin that fail, if others fail in another trial.
    """

    words: tuple[str, ...]
    outputs: tuple[str, ...]
    parts: int = 1
    only: str = ""


_TO_FILES = (
    *("--json", "{out}/verdict.json"),
    *("--markdown", "{out}/verdict.md"),
    *("--html", "{out}/verdict.html"),
)
TRIALS: Mapping[str, Trial] = {
    "check": Trial(
        ("check", "--rounds", "3", "--output", "{out}/result.json", *_TO_FILES),
        (_RESULT, *_OUTPUTS),
        parts=6,
    ),
    "last": Trial(("check", "--rounds", "3"), (), only="/state/"),
    "compare": Trial(("compare", "../stored.json", *_TO_FILES), _OUTPUTS),
    "report": Trial(("report", "../stored.json", "--html", "{out}/page.html"), ("page.html",)),
    "show": Trial(("show", "../stored.json", "--json", "{out}/statistics.json"), (_STATISTICS,)),
    "history-add": Trial(("history", "--add", "../run.json", "--store", "{out}/store"), ()),
    "history": Trial(("history", "../run.json", "--json", "{out}/history.json"), (_HISTORY,)),
    "list": Trial(("list",), ()),
}


@dataclass(slots=True)
class Place:
    """A small project whose working tree is slower than its commit, and what surrounds it.

    Args:
        top: an empty folder for all of it.
    """

    top: Path
    marker: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        for path, text in _FILES.items():
            file = self.project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for folder in (self._out, self._temporary):
            folder.mkdir()
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "work")):
            self._git(*words)
        measure = python_module("run", "--rounds", "2", "--output", "../run.json")
        run(measure, self.project, self.environ).check(0)
        changed = _CODE.replace("3000", "9000")
        (self.project / "src/toy/__init__.py").write_text(changed, encoding="utf-8")
        run(
            python_module("check", "--rounds", "3", "--output", "../stored.json"),
            self.project,
            self.environ,
        ).check(3)

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

    def clean(self, trial: Trial) -> tuple[Done, list[Call]]:
        """Run a command without a fault; also give its calls."""
        self._begin(trial)
        command = self._command(trial)
        done, calls = calls_of(command, self.project, self.environ, self._trace)
        assert not list(self._left_behind())
        return done, [call for call in calls if call.about.startswith(trial.only)]

    def with_fault(self, trial: Trial, call: Call, clean: Done) -> tuple[bool, list[str]]:
        """Run a command and let a call fail; again, if another call failed instead.

        Returns:
            Whether it was the call, and what is wrong.
        """
        wanted, wrong = call, []
        for _ in range(_MOST_TRIES):
            self._begin(trial)
            command = self._command(trial)
            done, failed, there = run_with_fault(
                command, self.project, self.environ, self._trace, wanted
            )
            faults = [*_wrong_end(done, clean), *self._torn(trial, clean, done.code)]
            if any(self._left_behind()):  # as after a kill, the next command tidies up
                run(python_module("list"), self.project, self.environ)
                faults += self._left_behind()
            if faults:
                wrong.append(f"{failed}: {', '.join(faults)}\n{done.err}")
            if failed and failed.about == call.about:
                return True, wrong
            wanted = there or call
        return False, wrong

    @property
    def _trace(self) -> Path:
        return self.top / "trace"

    def _command(self, trial: Trial) -> tuple[str, ...]:
        return python_module(*(word.replace("{out}", str(self._out)) for word in trial.words))

    def _begin(self, trial: Trial) -> None:
        for folder in (self._out, self._temporary, self.top / "state"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        for name in trial.outputs:
            (self._out / name).write_bytes(_EARLIER)

    def _torn(self, trial: Trial, clean: Done, code: int) -> Iterator[str]:
        """Say what is wrong with files: each is whole, or what was there before."""
        for name in trial.outputs:
            path = self._out / name
            if not path.exists():
                yield f"{name} is gone"
                continue
            data = path.read_bytes()
            if data != _EARLIER:
                yield from (f"{name}: {fault}" for fault in _faults_in(name, data, clean))
            elif code in {0, clean.code}:
                yield f"{name} was not written, and the exit code is {code}"
        for run_file in self._out.rglob("*.parquet"):
            decode_run(run_file.read_bytes(), run_file.name)
        for stored in (self.top / "state").rglob("*.json*"):
            if ".tmp" not in stored.name:
                decode_result(_expanded(stored), stored.name)

    def _left_behind(self) -> Iterator[str]:
        eventually(lambda: not self._processes())
        yield from (f"process {each}" for each in self._processes())
        yield from (f"temporary {each.name}" for each in self._temporary.iterdir())
        trees = self._git("worktree", "list", "--porcelain").count("worktree ")
        if trees != 1:
            yield f"{trees} worktrees"
        status = self._git("status", "--porcelain").split()
        if status != ["M", "src/toy/__init__.py"]:
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

    def _git(self, *words: str) -> str:
        done = subprocess.run(
            ("git", *words),  # noqa: S607 - as users have it
            cwd=self.project,
            env=self.environ,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout


def _expanded(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def _wrong_end(done: Done, clean: Done) -> Iterator[str]:
    if "Traceback" in done.err + done.out:
        yield "a traceback"
    if done.code == clean.code:
        if done.out and done.out.partition(":")[0] != clean.out.partition(":")[0]:
            yield f"another verdict: {done.out.splitlines()[0]}"
    elif done.code not in _WITHOUT_VERDICT:
        yield f"exit code {done.code} instead of {clean.code}"
    elif "error:" not in done.err and "failed" not in done.out:
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

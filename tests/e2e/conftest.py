"""The real program in real repositories; every call is checked for what it leaves behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import uuid
from contextlib import chdir, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.done import Done
from tests.patience import eventually

from benchgate.cli.world import CI_VARIABLES, configuration, real_effects
from benchgate.git.repository import Git
from benchgate.session.checking import CheckRequest, check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.model.verdict import Verdict

MARKER = "BENCHGATE_E2E_MARKER"
LONG_S = 120

CODE = "def work():\n    return sum(i * i for i in range(3000))\n"
BENCHMARK = "import toy\n\n\ndef bench_work():\n    toy.work()\n"
QUICK = """\
[gate]
statistics = ["p25"]

[measure]
samples = 5
launch_time = "1ms"
canary = false
command_warmup = 0
executions = 1

"""
# Six rounds, all of them slower, are enough for up to three rows.
DECISIVE = QUICK.replace("[gate]\n", '[gate]\nmargin = "50%"\nalpha = 0.2\n').replace(
    "[measure]\n", "[measure]\nrounds = 6\nwarmup = 0\n"
)
PYTHON = """\
[[benchmark]]
python = "benchmarks"

"""
# Builds with the tools that the tests have: nothing is fetched. pip takes a second more. uv leaves
# locks in the folder for temporary files.
INSTALL = (
    f"{Path(sys.executable).with_name('uv')} pip install --quiet --offline --no-cache --no-deps "
    "--no-build-isolation --python"
)
TOOLS = {"PYTHONPATH": sysconfig.get_path("purelib")}


def build_of(how: str) -> str:
    """A `[build]` as `init` writes it, which installs the project into `{env}`."""
    return f"""\
[build]
command = [
  "{sys.executable} -m venv --without-pip {{env}}",
  "env TMPDIR={{env}} {INSTALL} {{env}}/bin/python {how}",
]
env = {{ PYTHONPATH = "{TOOLS["PYTHONPATH"]}" }}

"""


def processes_with(variable: str) -> dict[int, str]:
    """Every process that has a variable in its environment, with its command line."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if variable.encode() in (entry / "environ").read_bytes():
                    line = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(entry.name)] = line.decode(errors="replace")
    return found


def state_of(git: Git) -> dict[str, object]:
    """What no command may change in the user's repository."""
    git_dir = git.root / ".git"
    files = {
        path: path.read_bytes()
        for path in git.root.rglob("*")
        if path.is_file() and git_dir not in path.parents
    }
    index = git_dir / "index"
    return {
        "worktrees": git.run("worktree", "list", "--porcelain"),
        "index": index.read_bytes() if index.exists() else b"",
        "refs": git.run("for-each-ref"),
        "head": (git_dir / "HEAD").read_text(),
        "config": (git_dir / "config").read_text(),
        "stash": git.run("stash", "list"),
        "files": files,
    }


@dataclass(slots=True)
class Program:
    """Calls `python -m benchgate`; afterwards nothing of it may be left, nor a tree be named.

    Attributes:
        temporary: where it makes temporary files.
        state_home: where it keeps last results.
        marker: what every process that it starts has in its environment.
        variables: added to its environment.
    """

    temporary: Path
    state_home: Path
    marker: str
    variables: dict[str, str] = field(default_factory=dict)

    def __call__(self, cwd: Path, *arguments: str | Path) -> Done:
        """Call it in a folder; where that is a repository's, it must be the same afterwards."""
        git = Git(cwd) if (cwd / ".git").is_dir() else None
        before = state_of(git) if git else None
        done = self.wait(self.start(cwd, *arguments))
        self.assert_nothing_left()
        assert re.findall(rf"{self.temporary}/benchgate-\w+/[0-9a-f]+", done.out + done.err) == []
        assert git is None or state_of(git) == before
        return done

    @staticmethod
    def wait(process: subprocess.Popen[str], timeout_s: float = LONG_S) -> Done:
        """Wait for the end of a call."""
        out, err = process.communicate(timeout=timeout_s)
        return Done(process.returncode, out, err)

    def end(self, process: subprocess.Popen[str]) -> Done:
        """Wait for the end of a call, and of what goes on to remove its trees."""
        done = self.wait(process)
        self.assert_nothing_left()
        return done

    def start(self, cwd: Path, *arguments: str | Path) -> subprocess.Popen[str]:
        """Start it; whoever does so must wait for its end and look for what is left."""
        return subprocess.Popen(
            [sys.executable, "-m", "benchgate", *map(str, arguments)],
            cwd=cwd,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def environment(self) -> dict[str, str]:
        """Give the environment of a call."""
        return {
            **os.environ,
            "TMPDIR": str(self.temporary),
            "XDG_STATE_HOME": str(self.state_home),
            "XDG_CACHE_HOME": str(self.state_home / "cache"),
            MARKER: self.marker,
            "PYTHONDONTWRITEBYTECODE": "1",
            **self.variables,
        }

    def processes(self) -> dict[int, str]:
        """Give what is alive of it."""
        return processes_with(f"{MARKER}={self.marker}")

    def assert_nothing_left(self) -> None:
        """No process, nor a file in the folder for temporary files."""
        eventually(lambda: not self.processes())
        assert self.processes() == {}
        assert sorted(path.name for path in self.temporary.iterdir()) == []


@pytest.fixture
def benchgate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """The program; whatever it leaves is killed after the test."""
    for name in (*CI_VARIABLES, "NO_COLOR", "FORCE_COLOR", "BENCHGATE_SESSION"):
        monkeypatch.delenv(name, raising=False)
    temporary = Path(tempfile.mkdtemp(prefix="e2e-", dir=tmp_path))
    program = Program(temporary, tmp_path / "state", uuid.uuid4().hex)
    yield program
    for process_id in program.processes():
        with suppress(ProcessLookupError):
            os.kill(process_id, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Project:
    """A small project with one benchmark, `toy/work`, measured quickly."""

    git: Git

    @property
    def root(self) -> Path:
        """Its topmost folder."""
        return self.git.root

    def state(self) -> dict[str, object]:
        """Give what no command may change."""
        return state_of(self.git)

    def write(self, files: Mapping[str, str]) -> None:
        """Change the working tree."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def configure(self, text: str, *, benchmarks: str = PYTHON) -> None:
        """Write a configuration: the quick one, with this on top of it and these benchmarks."""
        self.write({"benchgate.toml": f"{QUICK}{text}\n{benchmarks}"})

    def slow_down(self) -> None:
        """Have the working tree do three times the work."""
        self.write({"src/toy/__init__.py": CODE.replace("3000", "9000")})

    def checked(self, folder: str = ".", **request: Any) -> Verdict:  # noqa: ANN401 - of any type
        """Check the working tree from one of its folders, within this process."""
        with chdir(self.root / folder):
            config = configuration(self.root / folder, self.git, None)
            return check(CheckRequest(**request), config, self.git, real_effects(quiet=True))[0]

    def commit(self) -> str:
        """Commit everything; give the commit."""
        self.git.run("add", "--all")
        self.git.run("commit", "--quiet", "--message", "work")
        return self.git.head_sha()


@pytest.fixture
def toy(repo: Git) -> Project:
    """A committed project on main, with nothing changed."""
    project = Project(repo)
    project.write(
        {
            "src/toy/__init__.py": CODE,
            "benchmarks/bench_toy.py": BENCHMARK,
            "README": "untouched",
        }
    )
    project.configure("")
    project.commit()
    return project

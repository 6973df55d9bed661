"""The projects whose builds are judged: real work in a scratch repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

# The first `python3` on the path may be a script that looks for it.
_PYTHON = Path(sys.executable)
_EXTENSION_CONFIG = f"""\
[build]
command = "cc OPTIONS -shared -fPIC -I{sysconfig.get_path("include")} -o extension.so extension.c"

[[benchmark]]
python = "benchmarks"
interpreter = "{_PYTHON}"
"""
# Like other unrelated code, it moves the code behind it.
_UNRELATED_C = """
static PyObject *
count_marks(PyObject *self, PyObject *text)
{
    Py_ssize_t size, count = 0;
    const char *in = PyUnicode_AsUTF8AndSize(text, &size);
    if (in == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < size; i++)
        count += in[i] == '&' || in[i] == '<';
    return PyLong_FromSsize_t(count);
}
"""
_EXPORTED_C = '    {"count_marks", count_marks, METH_O, "Count marks."},\n    {NULL'
# Edits that do not concern what is measured: a text in workloads.py, and its replacement.
EDITS = {
    "docstring": ("def sort() -> None:\n", 'def sort() -> None:\n    """Sort some numbers."""\n'),
    "import": ("import re\n", "import csv\nimport fractions\nimport re\n"),
    "dictionary": ("EXTRA = ", 'LIMITS = {"rows": 1000, "columns": 2000}\nEXTRA = '),
    "table": ("class Point", "ROWS = [str(i) for i in range(3000)]\n\n\nclass Point"),
    "function": (
        "class Point",
        "def unused(values):\n    return {value: [value] for value in values}\n\n\nclass Point",
    ),
}


@dataclass(frozen=True, slots=True)
class Change:
    """How the head differs from the base.

    Attributes:
        slower: names of the benchmarks that do more work in the head.
        percent: how much more.
        edit: one of the project's edits, which changes nothing that is measured; "" for none.
    """

    slower: Sequence[str] = ()
    percent: int = 0
    edit: str = ""


class Project(Protocol):
    """Files whose benchmarks are known.

    Attributes:
        words: what it is, for people; "" for the ten functions.
        names: of the benchmarks that a change makes slower in turn: their ids end with them.
        config: the text of benchgate.toml.
        options: of `benchgate check`.
        edits: names of edits that change nothing that is measured.
        is_shared: whether a slower benchmark may make the others slower, too.
    """

    @property
    def words(self) -> str: ...

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def config(self) -> str: ...

    @property
    def options(self) -> Sequence[str]: ...

    @property
    def edits(self) -> Sequence[str]: ...

    @property
    def is_shared(self) -> bool: ...

    def write(self, root: Path, change: Change) -> None:
        """Write the files, as the change makes them, over those that are there."""


@contextmanager
def repository(project: Project, change: Change) -> Iterator[Path]:
    """Make a scratch repository of one commit, with the change in the working tree."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "project"
        folder.mkdir()
        project.write(folder, Change())
        (folder / "benchgate.toml").write_text(project.config, encoding="utf-8")
        (folder / ".gitignore").write_text("/bench\ntarget/\nnode_modules/\n", encoding="utf-8")
        git(folder, "init", "--initial-branch=main")
        git(folder, "add", ".")
        git(folder, "commit", "--message=base")
        project.write(folder, change)
        yield folder


def git(folder: Path, *arguments: str) -> None:
    """Run git in a scratch repository."""
    identity = ("-c", "user.name=gate", "-c", "user.email=gate@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Functions:
    """Functions of Python in a folder beside this file, all in one file."""

    folder: str
    words: str = ""
    config: str = '[[benchmark]]\npython = "benchmarks"\n'
    options: Sequence[str] = ()
    edits: Sequence[str] = tuple(EDITS)
    is_shared: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        text = (HERE / self.folder / "workloads.py").read_text(encoding="utf-8")
        return tuple(re.findall(r'^    "(\w+)",$', text, re.MULTILINE))

    def write(self, root: Path, change: Change) -> None:
        """See `Project.write`."""
        _copy(self.folder, root)
        percents = [change.percent * (name in change.slower) for name in self.names]
        _replace(root / "workloads.py", _percents([0] * len(percents)), _percents(percents))
        if change.edit:
            _replace(root / "workloads.py", *EDITS[change.edit])


@dataclass(frozen=True, slots=True)
class Program:
    """A program of about 30 ms; if it is slower, it takes so much more CPU time in all."""

    words: str = "a program"
    names: Sequence[str] = ("program",)
    config: str = f'[[benchmark]]\nname = "program"\ncommand = "{_PYTHON} command.py"\n'
    options: Sequence[str] = ()
    edits: Sequence[str] = ()
    is_shared: bool = False

    def write(self, root: Path, change: Change) -> None:
        """See `Project.write`."""
        _copy("ten", root)
        if change.slower:
            extra = round(change.percent / 100 * _loops_of_a_program())
            _replace(root / "command.py", _extra(0), _extra(extra))


@dataclass(frozen=True, slots=True)
class Extension:
    """A C extension; an edit adds a function, which moves the code of the others.

    Attributes:
        compiled: options of the C compiler.
    """

    compiled: str
    names: Sequence[str] = ()
    options: Sequence[str] = ()
    edits: Sequence[str] = ("function",)
    is_shared: bool = False

    @property
    def words(self) -> str:
        return f"a C extension ({self.compiled})"

    @property
    def config(self) -> str:
        return _EXTENSION_CONFIG.replace("OPTIONS", self.compiled)

    def write(self, root: Path, change: Change) -> None:
        """See `Project.write`."""
        _copy("extension", root)
        if change.edit:
            _replace(root / "extension.c", "/* unrelated */\n", _UNRELATED_C)
            _replace(root / "extension.c", "    {NULL", _EXPORTED_C)


TEN, SLOW, PROGRAM = Functions("ten"), Functions("slow", "three slow functions"), Program()


def _copy(folder: str, root: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(HERE / folder, root, ignore=ignored, dirs_exist_ok=True)


@cache
def _loops_of_a_program() -> float:
    """How many loops of the program take as much CPU time as the whole program, start-up included.

    It is measured on pairs of executions, the second one with more loops.
    """
    more = 150_000
    with tempfile.TemporaryDirectory() as temporary:
        files = [Path(temporary) / f"{loops}.py" for loops in (0, more)]
        for file, loops in zip(files, (0, more), strict=True):
            shutil.copy(HERE / "ten" / "command.py", file)
            _replace(file, _extra(0), _extra(loops))
        pairs = [[_cpu_s([str(_PYTHON), str(file)]) for file in files] for _ in range(25)]
    return median(more * whole / (longer - whole) for whole, longer in pairs)


def _cpu_s(command: Sequence[str]) -> float:
    """The CPU time of a program, in seconds."""
    with subprocess.Popen(command) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _extra(loops: int) -> str:
    return f'EXTRA = "{loops:07}"'


def _percents(values: Sequence[int]) -> str:
    """Write the line of the percents, equally long for all values, so that layouts are equal."""
    return f'PERCENTS = "{" ".join(f"{value:02}" for value in values)}"'


def _replace(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    if before not in text:
        raise ValueError(f"{path.name} does not hold {before}")
    path.write_text(text.replace(before, after), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of one `benchgate check`, and how long it took from start to end."""

    exit_code: int
    seconds: float
    verdict: Mapping[str, Any]


class CheckFailedError(Exception):
    """A check gave no verdict; with what it printed."""


def check(
    folder: Path, output: Path, options: Sequence[str] = (), *, everything: bool = True
) -> Answer:
    """Run `benchgate check` against HEAD, as a user would in an environment; keep the result.

    Args:
        everything: whether to measure also what the change cannot reach.
    """
    command = [sys.executable, "-m", "benchgate", "check", "--against", "HEAD", "--json", "-"]
    command += ["--all"] if everything else []
    path = f"{_PYTHON.parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "CI": "true", "PATH": path}
    started = time.monotonic()
    done = subprocess.run(
        [*command, "--output", str(output), *options],
        cwd=folder,
        env={key: value for key, value in environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - started
    if not done.stdout:
        raise CheckFailedError(f"benchgate failed with {done.returncode}:\n{done.stderr}")
    return Answer(done.returncode, seconds, json.loads(done.stdout))


@contextmanager
def burner(where: str) -> Iterator[None]:
    """Keep the CPU busy that does not measure ("other"), every CPU ("same"), or none ("")."""
    cpus = sorted(os.sched_getaffinity(0)) if where else []
    with burning([{cpu} for cpu in cpus[: 1 if where == "other" else None]]):
        yield


@contextmanager
def burning(places: Iterable[Collection[int]]) -> Iterator[None]:
    """Keep a CPU of each place busy; the programs end with this process, even if it is killed."""
    with ExitStack() as stack:
        for cpus in places:
            bound = f"import os; os.sched_setaffinity(0, {list(cpus)})"
            loop = f"{bound}\nwhile os.getppid() == {os.getpid()}: pass"
            process = subprocess.Popen([sys.executable, "-c", loop])
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield

"""The projects whose builds are judged: real work in Python and in C, in a scratch repository."""

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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def names_of(functions: str) -> tuple[str, ...]:
    """The workloads of the ten functions ("ten"), or of the three slow ones ("slow")."""
    text = (Path(__file__).parent / functions / "workloads.py").read_text(encoding="utf-8")
    return tuple(re.findall(r'^    "(\w+)",$', text, re.MULTILINE))


FOLDER = Path(__file__).parent / "ten"
NAMES = names_of("ten")
PYTHON_CONFIG = '[[benchmark]]\npython = "benchmarks"\n'
# The interpreter itself: the first `python3` on the path may be a script that looks for it.
_PYTHON = Path(sys.executable).resolve()
COMMAND_CONFIG = f'[[benchmark]]\nname = "program"\ncommand = "{_PYTHON} command.py"\n'
_EXTENSION = Path(__file__).parent / "extension"
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
    """How much more the head does than the base.

    Attributes:
        percents: by workload, in percent of loop units, up to 99.
        command: of the program, in percent of its whole CPU time.
        edit: one of EDITS, which changes nothing that is measured.
        functions: see `names_of`.
    """

    percents: Mapping[str, int]
    command: int = 0
    edit: str = ""
    functions: str = "ten"

    @property
    def slower(self) -> list[str]:
        """The benchmarks that got slower."""
        functions = sorted(
            f"{self.functions}/{name}" for name, more in self.percents.items() if more
        )
        return [*functions, *(["program"] if self.command else [])]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of one `benchgate check`, and how long it took from start to end."""

    exit_code: int
    seconds: float
    verdict: Mapping[str, Any]


def git(folder: Path, *arguments: str) -> None:
    """Run git in a scratch repository."""
    identity = ("-c", "user.name=gate", "-c", "user.email=gate@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@contextmanager
def repository(change: Change, config: str = PYTHON_CONFIG) -> Iterator[Path]:
    """Make a scratch repository of one commit, with the change in the working tree."""
    with _committed(Path(__file__).parent / change.functions, config) as folder:
        percents = [change.percents.get(name, 0) for name in names_of(change.functions)]
        _replace(folder / "workloads.py", _percents([0] * len(percents)), _percents(percents))
        if change.edit:
            _replace(folder / "workloads.py", *EDITS[change.edit])
        if change.command:
            extra = round(change.command / 100 * _loops_of_a_program())
            _replace(folder / "command.py", _extra(0), _extra(extra))
        yield folder


@contextmanager
def extension_repository(options: str) -> Iterator[Path]:
    """Make a scratch repository of a C extension; the head has one more function.

    Args:
        options: of the C compiler.
    """
    with _committed(_EXTENSION, _EXTENSION_CONFIG.replace("OPTIONS", options)) as folder:
        _replace(folder / "extension.c", "/* unrelated */\n", _UNRELATED_C)
        _replace(folder / "extension.c", "    {NULL", _EXPORTED_C)
        yield folder


@contextmanager
def _committed(source: Path, config: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "project"
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "benchgate.toml").write_text(config, encoding="utf-8")
        git(folder, "init", "--initial-branch=main")
        git(folder, "add", ".")
        git(folder, "commit", "--message=base")
        yield folder


@cache
def _loops_of_a_program() -> float:
    """How many loops of the program take as much CPU time as the whole program, start-up included.

    It is measured on pairs of executions, the second one with more loops.
    """
    more = 150_000
    with tempfile.TemporaryDirectory() as temporary:
        files = [Path(temporary) / f"{loops}.py" for loops in (0, more)]
        for file, loops in zip(files, (0, more), strict=True):
            shutil.copy(FOLDER / "command.py", file)
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


def check(folder: Path, output: Path, options: Sequence[str] = ()) -> Answer:
    """Run `benchgate check` against HEAD, as a user would, and keep the result in `output`."""
    command = [sys.executable, "-m", "benchgate", "check", "--against", "HEAD", "--json", "-"]
    environ = {**os.environ, "CI": "true"}
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
        raise RuntimeError(f"benchgate failed with {done.returncode}:\n{done.stderr}")
    return Answer(done.returncode, seconds, json.loads(done.stdout))


@contextmanager
def burner(where: str) -> Iterator[None]:
    """Keep the CPU busy that does not measure ("other"), every CPU ("same"), or none ("")."""
    cpus = sorted(os.sched_getaffinity(0)) if where else []
    if where == "other":
        cpus = cpus[:1]
    with ExitStack() as stack:
        for cpu in cpus:
            loop = f"import os; os.sched_setaffinity(0, [{cpu}])\nwhile os.getppid() != 1: pass"
            process = subprocess.Popen([sys.executable, "-c", loop])
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield

"""Wherever a project keeps its benchmarks, editing them does not hide that the code got slower."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from tests.e2e.conftest import DECISIVE, build_of

from benchgate.model.policy import Outcome
from benchgate.session.benchmark_sets import EDITED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.e2e.conftest import Project

pytestmark = pytest.mark.slow

CODE = "import time\n\n\ndef work():\n    time.sleep({})\n"


@dataclass(frozen=True)
class Tool:
    """How a tool wants its benchmarks: `repeated` is one, and `work` becomes another."""

    one: str
    more: str


START = "from {module} import work\n\nTIMES = 10\n\n\ndef repeated():\n"
START += "    for _ in range(TIMES):\n        work()\n\n\n"
FUNCTIONS = Tool("bench_one = repeated\n", "bench_more = work\n")
TESTS = Tool(
    "def test_one(benchmark):\n    benchmark(repeated)\n",
    "def test_more(benchmark):\n    benchmark(work)\n",
)
ASV = Tool("def time_one():\n    repeated()\n", "def time_more():\n    work()\n")
PYPERF = Tool(
    "import pyperf\n\nrunner = pyperf.Runner()\nrunner.bench_func('one', repeated)\n",
    "runner.bench_func('more', work)\n",
)
SCRIPT = Tool("repeated()\n", "")


@dataclass(frozen=True)
class Layout:
    """Where a project has its code and its benchmarks.

    Attributes:
        config: names the benchmarks.
        code: the file that gets slower.
        file: the file of benchmarks that is edited.
        one, more: the ids of its benchmarks.
        module: what they import.
        files: what else there is.
        added: what the head adds to the configuration.
        folder: that of the configuration.
        work_s: what the code takes on the base; on the head ten times as much.
    """

    config: str
    code: str
    file: str
    module: str = "pkg"
    one: str = "speed/one"
    more: str = "speed/more"
    tool: Tool = FUNCTIONS
    files: Mapping[str, str] = field(default_factory=dict)
    added: str = ""
    folder: str = "."
    work_s: float = 0.0003


def table(text: str) -> str:
    return f"[[benchmark]]\n{text}\n"


def pytest_layout(path: str, file: str, *packages: str) -> Layout:
    return Layout(
        table(f'pytest = "{path}"'),
        "pkg/core.py",
        file,
        "pkg.core",
        f"{file}::test_one",
        f"{file}::test_more",
        TESTS,
        {f"{package}/__init__.py": "" for package in packages},
    )


def installed(how: str) -> Layout:
    """A project that each side installs."""
    pyproject = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "pkg"
version = "1"

[tool.setuptools]
packages = ["pkg"]
package-dir."" = "src"
"""
    files = {"pyproject.toml": pyproject, ".gitignore": "build\n*.egg-info\n"}
    return Layout(
        build_of(how) + PYTHON, "src/pkg/__init__.py", "benchmarks/bench_speed.py", files=files
    )


PYTHON = table('python = "benchmarks"')
IN_PACKAGE = {"pkg/__init__.py": "", "pkg/benchmarks/__init__.py": ""}
COMMAND = 'command = "python3 scripts/run.py"\ndata = ["scripts/run.py"]\nname = '
OTHER = Layout(PYTHON, "b/src/pkg/__init__.py", "b/benchmarks/bench_speed.py", folder="b")
LAYOUTS = {
    "beside the package": Layout(PYTHON, "pkg/__init__.py", "benchmarks/bench_speed.py"),
    "src": Layout(PYTHON, "src/pkg/core.py", "benchmarks/bench_speed.py", "pkg.core"),
    "found": Layout("", "src/pkg/__init__.py", "benchmarks/bench_speed.py"),
    "in the package": Layout(
        table('python = "pkg/benchmarks"'),
        "pkg/core.py",
        "pkg/benchmarks/bench_speed.py",
        "pkg.core",
        files=IN_PACKAGE,
    ),
    "tests in the package": pytest_layout("pkg/tests", "pkg/tests/test_it.py", "pkg", "pkg/tests"),
    "tests beside the package": pytest_layout("tests", "tests/test_it.py", "pkg"),
    "tests beside the code": pytest_layout("pkg", "pkg/test_it.py", "pkg"),
    "one file": Layout(table('python = "bench_speed.py"'), "pkg.py", "bench_speed.py"),
    "the root": Layout(table('python = "."'), "pkg.py", "bench_speed.py"),
    "beside the code": Layout(
        table('python = "prog"'), "prog/tool.py", "prog/bench_speed.py", "tool"
    ),
    "namespace package": Layout(
        table('python = "pkg"'), "pkg/core.py", "pkg/bench_speed.py", "pkg.core"
    ),
    "installed": installed("."),
    "editable": installed("--editable ."),
    "one of two projects": OTHER,
    "command": Layout(
        table(f'{COMMAND}"one"'),
        "src/pkg/__init__.py",
        "scripts/run.py",
        one="one",
        more="more",
        tool=SCRIPT,
        added=table(f'{COMMAND}"more"'),
        work_s=0.01,  # on the head ten times: far more than Python takes to start
    ),
    "asv": Layout(
        table('asv = "benchmarks"'),
        "pkg/__init__.py",
        "benchmarks/speed.py",
        one="speed.time_one",
        more="speed.time_more",
        tool=ASV,
        files={"benchmarks/__init__.py": ""},
    ),
    "pyperf": Layout(
        table(f'pyperf = "scripts/speed.py"\ninterpreter = "{sys.executable}"'),
        "src/pkg/__init__.py",
        "scripts/speed.py",
        one="one",
        more="more",
        tool=PYPERF,
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_bases_version_finds_what_the_edited_one_hides(toy: Project, name: str) -> None:
    layout = LAYOUTS[name]
    tool, start = layout.tool, START.format(module=layout.module)
    code = CODE.format(layout.work_s)
    own = f"{layout.folder}/benchgate.toml"
    toy.git.run("rm", "--quiet", "-r", ".")
    toy.write({**layout.files, layout.code: code, layout.file: start + tool.one})
    toy.write({own: DECISIVE + layout.config})
    if layout.folder != ".":
        beside = {"a/src/pkg/__init__.py": code, "a/bench_a.py": start + tool.one}
        toy.write({"a/benchgate.toml": DECISIVE + PYTHON, **beside})
    toy.commit()
    # The new version of the benchmark takes no longer than the old one did.
    toy.write({layout.code: CODE.format(10 * layout.work_s)})
    toy.write({layout.file: start.replace("TIMES = 10", "TIMES = 1") + tool.one + tool.more})
    toy.write({own: DECISIVE + layout.config + layout.added})
    verdict = toy.checked(layout.folder)
    found = {row.benchmark: row.outcome for row in verdict.rows}
    shown = [(row.benchmark, row.notes, row.error) for row in verdict.rows]
    assert found == {layout.one: Outcome.REGRESSED, layout.more: Outcome.NEW}, shown
    assert (verdict.decision, verdict.exit_code) == ("fail", 3)
    (row,) = (row for row in verdict.rows if row.benchmark == layout.one)
    assert EDITED in row.notes
    assert any(note.startswith("its new version: ") for note in row.notes)

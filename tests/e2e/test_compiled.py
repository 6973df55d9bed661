"""Projects with compiled parts: what was built is measured, and not the tree beside it."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING

import pytest
from tests.e2e.conftest import build_of

if TYPE_CHECKING:
    from tests.e2e.conftest import Program, Project

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler"),
]

C = """\
#define PY_SSIZE_T_CLEAN
#include <Python.h>
static PyObject *work(PyObject *self, PyObject *unused) {
    volatile double sum = 0;
    for (long i = 0; i < 300000; i++) sum += i;
    return PyFloat_FromDouble(sum);
}
static PyMethodDef methods[] = {{"work", work, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_speed", 0, -1, methods};
PyMODINIT_FUNC PyInit__speed(void) { return PyModule_Create(&module); }
"""
CYTHON = """\
def work():
    cdef double total = 0
    cdef long i
    for i in range(300000):
        total += i % 7
    return total
"""
# In the tree itself, where nothing is compiled, all sides would take the same time.
PACKAGE = """\
try:
    from fast._speed import work
except ImportError:
    def work():
        return sum(range(100))
"""
MAIN = "import fast\n\n\ndef main():\n    fast.work()\n\n\nif __name__ == '__main__':\n    main()\n"
PYPROJECT = """\
[build-system]
requires = ["setuptools"{more}]
build-backend = "setuptools.build_meta"

[project]
name = "fast"
version = "1"
scripts.fast = "fast.__main__:main"

[tool.setuptools]
packages = ["fast"]
package-dir."" = "{where}"
ext-modules = [{{ name = "fast._speed", sources = ["{source}"] }}]
"""
COMMANDS = """\
[[benchmark]]
name = "cli/script"
command = "fast"

[[benchmark]]
name = "cli/module"
command = "python3 -m fast"
"""


def make(toy: Project, *, where: str, source: str, text: str, bench: str) -> None:
    shutil.rmtree(toy.root / "src")
    shutil.rmtree(toy.root / "benchmarks")
    package = f"{where}/fast" if where != "." else "fast"
    toy.write(
        {
            ".gitignore": "build\n*.egg-info\n*.so\n",
            "pyproject.toml": PYPROJECT.format(
                more=', "cython"' if source.endswith(".pyx") else "",
                where=where,
                source=f"{package}/{source}",
            ),
            f"{package}/__init__.py": PACKAGE,
            f"{package}/__main__.py": MAIN,
            f"{package}/{source}": text,
            bench: "import fast\n\n\ndef bench_work():\n    fast.work()\n",
            "benchgate.toml": "",
        }
    )


def slow_down(toy: Project) -> None:
    (source,) = (*toy.root.glob("**/*.c"), *toy.root.glob("**/*.pyx"))
    source.write_text(source.read_text().replace("300000", "400000000"))


def assert_all_are_slower(benchgate: Program, toy: Project, ids: set[str]) -> None:
    done = benchgate(toy.root, "check", "--json", "-", "--rounds", "1")
    rows = {row["benchmark"]: row for row in json.loads(done.out)["rows"]}
    assert rows.keys() == ids
    for row in rows.values():
        assert row.get("error") is None, done.out
        assert row["head"] > 2 * row["base"], done.out


@pytest.mark.parametrize(
    ("where", "source", "text"), [("src", "_speed.c", C), (".", "_speed.pyx", CYTHON)]
)
def test_the_extension_that_was_built_is_measured(
    benchgate: Program, toy: Project, where: str, source: str, text: str
) -> None:
    bench = "bench_fast.py" if where == "." else "benchmarks/bench_fast.py"
    make(toy, where=where, source=source, text=text, bench=bench)
    benchmarks = f'[[benchmark]]\npython = "{bench.partition("/")[0]}"\n\n{COMMANDS}'
    toy.configure("", benchmarks=build_of(".") + benchmarks)
    toy.commit()
    slow_down(toy)
    id_ = bench.removeprefix("benchmarks/").removeprefix("bench_").replace(".py", "/work")
    assert_all_are_slower(benchgate, toy, {id_, "cli/script", "cli/module"})


def test_what_is_built_in_place_is_measured_in_the_tree(benchgate: Program, toy: Project) -> None:
    make(toy, where="src", source="_speed.c", text=C, bench="benchmarks/bench_fast.py")
    toy.write({"setup.py": "from setuptools import setup\n\nsetup()\n"})
    build = f'[build]\ncommand = "{sys.executable} setup.py -q build_ext --inplace"\n\n'
    commands = COMMANDS.replace('"fast"', '"python3 -m fast"')
    toy.configure("", benchmarks=f'{build}[[benchmark]]\npython = "benchmarks"\n\n{commands}')
    toy.commit()
    slow_down(toy)
    assert_all_are_slower(benchgate, toy, {"fast/work", "cli/script", "cli/module"})

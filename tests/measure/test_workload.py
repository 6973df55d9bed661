"""What belongs to a benchmark's work, and what a pull request may change without touching it."""

from __future__ import annotations

import importlib.util
import py_compile
import subprocess
import sys
from functools import partial
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchgate.measure._worker.workloads import Workloads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Change = Callable[[str, str], list[str]]

FILE = """
import random
DATA = list(range(10))
TEXT = "x" * 9
def helper(): return DATA
def bench_a():
    return helper()
"""


def read(root: Path, source: str, files: Mapping[str, str], name: str) -> Workloads:
    folder = root / name / "benchmarks"
    for path, text in {"bench_it.py": source, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    folders = [str(folder), str(folder.parent)]
    return Workloads(str(folder / "bench_it.py"), str(folder), folders)


def differing(was: Workloads, now: Workloads, *, with_params: bool = False) -> list[str]:
    before, after = (w.parts("bench_a", with_params=with_params) for w in (was, now))
    every = sorted({*before, *after})
    return [part for part in every if before.get(part) != after.get(part)]


@pytest.fixture
def changed(tmp_path: Path) -> Change:
    """Tell what parts of bench_a's work differ between two texts of its file."""

    def between(was: str, now: str) -> list[str]:
        return differing(read(tmp_path, was, {}, "was"), read(tmp_path, now, {}, "now"))

    return between


@pytest.mark.parametrize(
    ("was", "now", "part"),
    [
        ("range(10)", "range(5)", "DATA"),
        ("return helper()", "return len(helper())", "its function"),
        ("return DATA", "return DATA[:5]", "helper"),
        ("import random", "import random2 as random; random.seed(1)", "random"),
    ],
)
def test_what_a_benchmark_uses_is_its_work(changed: Change, was: str, now: str, part: str) -> None:
    assert part in changed(FILE, FILE.replace(was, now))


@pytest.mark.parametrize(
    "added",
    [
        "DATA = DATA[:5]",
        "DATA += [1]",
        "del DATA[5:]",
        "DATA[5:] = []",
        "DATA.sort()",
        "D = DATA\nD.clear()",
        "D = DATA\ndel D[5:]",
        "D = [DATA]\nfor each in D: each.clear()",
        "if True:\n    DATA = []",
        "try: DATA = []\nfinally: pass",
        "print(DATA := [])",
        "def shrink(): DATA.clear()\nshrink()",
        "def shrink(): DATA.clear()\n_ = shrink()",
        "def shrink():\n    global DATA\n    DATA = []\nshrink()",
        "class Shrink:\n    DATA.clear()",
        "def shrink(f): DATA.clear()\n@shrink\ndef bench_b(): ...",
        "def bench_b(): DATA.clear()\nbench_b()",
        "globals()['DATA'] = []",
        "def shrink(): globals()['DATA'] = []\nx = shrink()\nprint(x)",
        "import sys\nsys.modules[__name__].DATA = []",
        "exec('DATA.clear()')",
        "from shrink import *",
        "import shrink",
        "random.seed(1)",
        "import project\nproject.FAST = True",
        "helper.__code__ = (lambda: 1).__code__",
        "bench_a = print",
        "bench_a.setup = print",
        "bench_a.teardown, other = print, 1",
        "for f in (bench_a,): f.setup = print",
        "__name__ = '__main__'\nif __name__ == '__main__': DATA.clear()",
    ],
)
def test_what_changes_the_work_is_part_of_it(changed: Change, added: str) -> None:
    assert changed(FILE, f"{FILE}{added}\n")


@pytest.mark.parametrize(
    "added",
    [
        "# a comment",
        "def bench_b(): DATA.sort()",
        "import numpy\nOTHER = numpy.zeros(3)\ndef bench_b(): OTHER\nbench_b.number = 3",
        "OTHER = TEXT.split()\nOTHER.sort()\ndef bench_b(): OTHER",
        "def configure(f): f.number = 3\ndef bench_b(): DATA.sort()\nconfigure(bench_b)",
        "__all__ = ['x']",
        "bench_a.unit = 'us'\nbench_a.parallel = True",
        "if __name__ == '__main__':\n    bench_a()",
    ],
)
def test_what_is_added_for_others_is_no_part_of_it(changed: Change, added: str) -> None:
    assert changed(FILE, f'"""What it is."""\n{FILE}{added}\n') == []


def test_another_benchmarks_body_is_no_part_of_it(changed: Change) -> None:
    both = f"{FILE}def bench_b(): return 1\nfor f in (bench_a, bench_b): f.setup = helper\n"
    assert changed(both, both.replace("return 1", "return 2")) == []
    used = FILE.replace("return helper()", "return bench_b()") + "def bench_b(): return 1\n"
    assert changed(used, used.replace("return 1", "return 2")) == ["bench_b"]


def test_a_renamed_benchmark_does_the_same_work(tmp_path: Path) -> None:
    was = read(tmp_path, f"{FILE}bench_a.setup = helper\n", {}, "was")
    renamed = FILE.replace("bench_a", "bench_b") + "bench_b.setup = helper\n"
    now = read(tmp_path, renamed, {}, "now")
    assert was.parts("bench_a", with_params=False) == now.parts("bench_b", with_params=False)


def test_params_that_are_text_and_numbers_count_by_their_values(tmp_path: Path) -> None:
    texts = [f"{FILE}SIZES = [1{more}]\nbench_a.params = {{'n': SIZES}}\n" for more in ("", ", 2")]
    was, now = (read(tmp_path, t, {}, str(i)) for i, t in enumerate(texts))
    assert differing(was, now) == []
    assert differing(was, now, with_params=True) == ["SIZES"]


def test_one_name_more_of_a_module_is_for_who_uses_it(changed: Change) -> None:
    was = "from project import work\nimport os\ndef bench_a(): work(os)\n"
    now = (
        "from project import other, work\nimport json, os\n"
        "def bench_a(): work(os)\ndef bench_b(): other(json)\n"
    )
    assert changed(was, now) == []
    assert changed(was, now.replace("other, work", "other, fast as work")) == ["work"]


def test_a_docstring_is_no_work_unless_it_is_read(changed: Change) -> None:
    documented = FILE.replace("bench_a():", "bench_a():\n    'What it is.'")
    assert changed(FILE, documented) == []
    reads = f"'text'\n{documented}    return __doc__ + bench_a.__doc__\n"
    assert changed(reads, reads.replace("'text'", "'t'")) == ["__doc__"]
    assert changed(reads, reads.replace("What it is.", "Less.")) == ["its function"]


MODULES = {
    "data.py": "N = 10\nDATA = [N]\nOTHER = 1\n",
    "lib/__init__.py": "",
    "lib/x.py": "X = 1\n",
}


@pytest.mark.parametrize(
    ("source", "module", "text", "parts"),
    [
        (
            "from data import DATA as D\ndef bench_a(): D",
            "data.py",
            "N = 5\nDATA = [N]",
            ["N of data.py"],
        ),
        (
            "from data import DATA\ndef bench_a(): DATA",
            "data.py",
            "N = 10\nDATA = [N]\nOTHER = 2",
            [],
        ),
        ("import data\ndef bench_a(): data.OTHER", "data.py", "OTHER = 2", ["OTHER of data.py"]),
        (
            "import data\ndef bench_a(): print(data)",
            "data.py",
            "OTHER = 1",
            ["DATA of data.py", "N of data.py"],
        ),
        ("def bench_a():\n    from lib.x import X", "lib/x.py", "X = 2", ["X of x.py"]),
        ("from benchmarks.lib import x\ndef bench_a(): x.X", "lib/x.py", "X = 2", ["X of x.py"]),
        (
            "from lib.x import X\ndef bench_a(): X",
            "lib/__init__.py",
            "import lib.x as x\ny = x\ny.X = 2",
            ["x of __init__.py", "y of __init__.py"],
        ),
        (
            "from benchmarks.data import N\ndef bench_a(): N",
            "__init__.py",
            "from . import data\ndata.N = 2",
            ["data of __init__.py"],
        ),
        ("import data\ndef bench_a(): ...", "data.py", "N = 3", []),
        (
            "import data\ndef bench_a(): ...",
            "data.py",
            "print(1)",
            ["what runs when data.py is imported"],
        ),
    ],
)
def test_modules_beside_it_are_read_as_its_own_file(
    tmp_path: Path, source: str, module: str, text: str, parts: list[str]
) -> None:
    was = read(tmp_path, source, MODULES, "was")
    now = read(tmp_path, source, {**MODULES, module: text}, "now")
    assert differing(was, now) == parts


def test_a_folder_that_moved_does_the_same_work(tmp_path: Path) -> None:
    found = []
    for name in ("benchmarks", "perf"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "data.py").write_text("DATA = [1]\n")
        source = f"from {name}.data import DATA\nfrom {name} import data\n"
        (folder / "bench_it.py").write_text(f"{source}def bench_a(): return DATA, data.DATA\n")
        path = str(folder / "bench_it.py")
        found.append(Workloads(path, str(folder), [str(tmp_path)]))
    assert differing(*found) == []


def test_modules_of_the_project_are_what_is_measured(tmp_path: Path) -> None:
    source = "import project\ndef bench_a(): project.work()\n"
    trees = []
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "project.py").write_text(f"def work(): return {name}\n")
        trees.append(read(tmp_path, source, {}, name))
    assert differing(*trees) == []


def test_what_else_runs_on_import_is_told(tmp_path: Path) -> None:
    source = f"{FILE}import json\nOTHER = json.loads('1')\ndef bench_b(): OTHER\n"
    was, now = (read(tmp_path, text, {}, str(len(text))) for text in (FILE, source))
    new = now.others("bench_a").items() - was.others("bench_a").items()
    assert sorted(line for _, line in new) == [8, 9]


@pytest.mark.parametrize("other", ["_h/__init__.py", f"_h{EXTENSION_SUFFIXES[0]}"])
def test_what_python_prefers_to_a_helper_is_not_taken_for_it(tmp_path: Path, other: str) -> None:
    file, helper = tmp_path / "bench_a.py", tmp_path / "_h.py"
    file.write_text("import _h\n\n\ndef bench_a():\n    _h.go()\n")
    helper.write_text("def go():\n    return sum(range(1000))\n")

    def parts() -> dict[str, str]:
        found = Workloads(str(file), str(tmp_path), [str(tmp_path)])
        return found.parts("bench_a", with_params=False)

    before = parts()
    (tmp_path / other).parent.mkdir(exist_ok=True)
    (tmp_path / other).write_text("def go():\n    pass\n")
    assert parts() != before


def test_a_stale_cache_never_runs_in_place_of_a_helper(tmp_path: Path) -> None:
    helper = tmp_path / "_h.py"
    helper.write_text("WORK = 1\n")
    cache = Path(importlib.util.cache_from_source(str(helper)))
    py_compile.compile(
        str(helper), str(cache), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    helper.write_text("WORK = 1000\n")
    script = (
        "import sys\n"
        "from benchgate.measure._worker.loading import compile_from_source\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "if sys.argv[1:]: compile_from_source('bench_a.py', sys.argv[1])\n"
        "import _h\nprint(_h.WORK)\n"
    )
    run = partial(subprocess.run, capture_output=True, text=True, check=True)
    assert run([sys.executable, "-c", script]).stdout == "1\n"
    assert run([sys.executable, "-c", script, str(tmp_path)]).stdout == "1000\n"
    beginning = str(tmp_path)[:-1]  # of the same name, and yet another folder
    assert run([sys.executable, "-c", script, beginning]).stdout == "1\n"

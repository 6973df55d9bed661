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

from benchgate._worker.workloads import Workloads

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


ALTERS = (
    # Another value of a name that the benchmark uses.
    "DATA = DATA[:5]",
    "DATA += [1]",
    "del DATA[5:]",
    "DATA[5:] = []",
    "other, DATA = 1, []",
    "OTHER = len(DATA := [])",
    "if True:\n    DATA = []",
    "try: DATA = []\nexcept ValueError: pass",
    "with open('x') as file: DATA = list(file)",
    "for DATA in [[]]: pass",
    "from made import DATA",
    "def DATA(): ...",
    "class helper: ...",
    "bench_a = print",
    "bench_a.setup = print",
    "bench_a.teardown, other = print, 1",
    "for f in (bench_a,): f.setup = print",
    "helper.__code__ = (lambda: 1).__code__",
    # What runs something.
    "DATA.sort()",
    "D = DATA\nD.clear()",
    "D = [DATA]\nfor each in D: each.clear()",
    "print(DATA := [])",
    "def shrink(): DATA.clear()\nshrink()",
    "def shrink():\n    global DATA\n    DATA = []\nshrink()",
    "def bench_b(): DATA.clear()\nbench_b()",
    "class Shrink:\n    DATA.clear()",
    "exec('DATA.clear()')",
    "from shrink import *",
    "random.seed(1)",
    "random.seed = print",
    "import os\nos.environ['FAST'] = '1'",
    "import project\nproject.FAST = True",
    "import project\nproject.CALLS += 1",
    "import project\nassert project.load()",
    "if project.is_slow(): N = 1",
    "while project.is_slow(): pass",
    "try: project.load()\nexcept ImportError: pass",
    "[project.register(n) for n in range(3)]",
    "@project.register\ndef handler(): ...",
    "@project.register('x')\nclass Handler: ...",
    "class Plugin:\n    @project.register\n    def method(self): ...",
    "class Plugin(project.make()): ...",
    "def f(x=project.patch()): ...",
    "@helper.register(int)\ndef _(x): ...",
    "from helping import X\ndef bench_b(): X",
)


@pytest.mark.parametrize("added", ALTERS)
def test_what_changes_the_work_is_part_of_it(tmp_path: Path, added: str) -> None:
    files = {"helping.py": "X = 1\n"}
    was, now = (
        read(tmp_path, text, files, name)
        for name, text in (("was", FILE), ("now", f"{FILE}{added}\n"))
    )
    assert differing(was, now)


# What is changed in each, for others or for nobody: bench_a uses none of it.
HARMLESS = (
    "# a comment",
    "'A text.'",
    "__all__ = ['bench_a']",
    "import shrink",
    "import random as other\nfrom shrink import one, two\ndef bench_b(): other, one",
    "try: import fast\nexcept ImportError: fast = None",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from project import T",
    "import sys\nif sys.version_info > (3, 9): from x import y\nelse: y = None",
    "from __future__ import annotations",
    # Data
    "SMALL = list(range(3))",
    "a, b = 1, (2, 3)",
    "OTHER: int = 1",
    "VERSION = project.VERSION",
    "SIZES = [n * 10 for n in range(5)]\nTABLE = {n: str(n) for n in SIZES}",
    "import numpy\nOTHER = numpy.zeros(3)\ndef bench_b(): OTHER\nbench_b.number = 3",
    "import json, math\nTABLE = json.loads('[1, 2]')\nPI = math.pi * math.sqrt(2)",
    "import random as r\nWORDS = r.Random(1).sample(range(99), 9)",
    "import re\nfrom pathlib import Path\nHERE = Path(__file__).parent / 'x'\nR = re.compile('a+')",
    "LARGEST = max(sorted(DATA))\nCOUNT = len(set(DATA))",
    "TEXTS = project.load()",
    "KEY = lambda each: project.key(each)",
    "import logging\nlogger = logging.getLogger(__name__)",
    # Benchmarks
    "def bench_b(): DATA.sort()",
    "def bench_b(n: int | None = 5, *m: list[int], k=()) -> str: 'What it is.'",
    "def bench_b(n=project.fast, m=project.make()): ...",
    "def bench_b(): 'calls helper'; helper()\nbench_b.number = 3\nbench_b.data = ['x.txt']",
    "def bench_b(n): ...\nbench_b.params = {'n': [project.make()]}",
    "def bench_b(): ...\nbench_b.setup, bench_b.teardown = helper, project.work",
    "def bench_b(): ...\nbench_b.params = {}\nbench_b.params['n'] = [1]",
    "def work(n): ...\ndef bench_b(n): ...\nbench_b.setup = work\nbench_b.params = {'n': [work]}",
    "def sized(f):\n    f.number = 3\n    return f\n@sized\ndef bench_b(): DATA.sort()",
    "@project.timed\ndef bench_b(): ...",
    "bench_b = project.patched(1)",
    "if True:\n    def bench_b(): ...",
    "bench_a.unit = 'us'\nbench_a.parallel = True",
    "if __name__ == '__main__':\n    bench_a()",
    # Functions and classes
    "def f(x=len('x'), y=frozenset()): ...",
    "from typing import Optional\ndef work(n: Optional[int]) -> 'list[int]': ...",
    "from functools import lru_cache\n@lru_cache(maxsize=None)\ndef cached(n): ...",
    "import contextlib as c\n@c.contextmanager\ndef managed(): yield",
    "import pytest\n@pytest.fixture(scope='module')\ndef data(): return project.make()",
    "import dataclasses as d\n@d.dataclass(frozen=True)\nclass C:\n    x: list = d.field()",
    "class C(ValueError):\n    x: int = 5\n    @property\n    def y(self): ...",
    "class Base: ...\nclass Derived(Base): ...",
    "class Derived(project.Base, metaclass=project.Meta): x = 1",
    "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: float = 1.5",
    "from collections import namedtuple\nclass P(namedtuple('P', 'x y')): ...",
    "import abc\nclass C(abc.ABC):\n    @abc.abstractmethod\n    def f(self): ...",
    "from enum import Enum\nclass Color(Enum):\n    RED = 1",
)


@pytest.mark.parametrize("added", HARMLESS)
def test_what_is_added_for_others_is_no_part_of_it(changed: Change, added: str) -> None:
    assert changed(FILE, f'"""What it is."""\n{FILE}{added}\n') == []


# These do no harm, but benchgate does not know that.
IN_DOUBT = (
    "SIZE = 1\nSIZE += 2",
    "ROWS = []\nfor n in range(9): ROWS.append((n, str(n)))",
    "TABLE = {}\nTABLE['x'] = 1",
    "with open('x') as file: LINES = list(file)",
    "import logging\nlogging.basicConfig()",
    "from pathlib import Path\ndef f(x=Path('x')): ...",
    "import numba\n@numba.njit\ndef kernel(): ...",
)


@pytest.mark.parametrize("added", IN_DOUBT)
def test_what_runs_something_is_work_in_doubt(changed: Change, added: str) -> None:
    assert changed(FILE, f"{FILE}{added}\n")


def test_another_benchmarks_body_is_work_only_if_it_is_named(changed: Change) -> None:
    both = f"{FILE}def bench_b(): return 1\nbench_a.setup = bench_b.setup = helper\n"
    used = FILE.replace("return helper()", "return bench_b()") + "def bench_b(): return 1\n"
    apart = f"{FILE}def bench_b(): return 1\nbench_b.setup = helper\n"
    for source, part in ((both, ["bench_b"]), (used, ["bench_b"]), (apart, [])):
        assert changed(source, source.replace("return 1", "return 2")) == part


def test_a_renamed_benchmark_does_the_same_work(tmp_path: Path) -> None:
    was = read(tmp_path, f"{FILE}bench_a.setup = helper\n", {}, "was")
    renamed = FILE.replace("bench_a", "bench_b") + "bench_b.setup = helper\n"
    now = read(tmp_path, renamed, {}, "now")
    assert was.parts("bench_a", with_params=False) == now.parts("bench_b", with_params=False)


SUITE = """
class Other:
    number = 1
class Suite:
    params = [1]
    def setup(self): self.other = Other()
    def time_a(self): self.time_b()
    def time_b(self): return 1
    def time_c(self): return 2
"""


@pytest.mark.parametrize(
    ("was", "now", "part"),
    [
        ("self.time_b()", "self.time_b", ["its function"]),
        ("return 1", "return 3", ["Suite.time_b"]),
        ("return 2", "return 3", []),
        ("[1]", "[1, 2]", []),
        ("number = 1", "number = 2", ["Other"]),
        ("Other()\n", "Other(1)\n", ["Suite"]),
    ],
)
def test_a_method_has_the_work_of_its_class_but_not_of_other_benchmarks(
    tmp_path: Path, was: str, now: str, part: list[str]
) -> None:
    names = ("Suite", "Suite.time_a", "Suite.time_b", "Suite.time_c")
    file = tmp_path / "suite.py"
    found = []
    for text in (SUITE, SUITE.replace(was, now)):
        file.write_text(text)
        works = Workloads(str(file), None, [str(tmp_path)], names=names)
        found.append(works.parts("Suite.time_a", with_params=False))
    assert [each for each in found[0] if found[0][each] != found[1][each]] == part


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


def test_a_docstring_is_no_work(changed: Change) -> None:
    assert changed(FILE, FILE.replace("bench_a():", "bench_a():\n    'What it is.'")) == []


MODULES = {
    "data.py": "N = 10\nDATA = [N]\nOTHER = 1\n",
    "lib/__init__.py": "",
    "lib/x.py": "X = 1\n",
}


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("from data import DATA as D\ndef bench_a(): D", "data.py"),
        ("import data\ndef bench_a(): ...", "data.py"),
        ("import data\ndef bench_a(): print(data)", "data.py"),
        ("try: from data import OTHER\nexcept ImportError: OTHER = 1", "data.py"),
        ("def bench_a():\n    from lib.x import X", "lib/__init__.py lib/x.py"),
        ("import lib.x\ndef bench_a(): ...", "lib/__init__.py lib/x.py"),
        ("from benchmarks.lib import x\ndef bench_a(): x.X", "lib/__init__.py lib/x.py"),
        ("from .lib import x\ndef bench_a(): x.X", "lib/__init__.py lib/x.py"),
        ("from more import M\ndef bench_a(): ...", "data.py more.py"),
        ("def bench_b():\n    from lib.x import X", "lib/__init__.py lib/x.py"),
        ("import project", ""),
    ],
)
def test_modules_of_the_benchmarks_that_are_imported_count_as_a_whole(
    tmp_path: Path, source: str, modules: str
) -> None:
    text = source if "bench_a" in source else f"{source}\ndef bench_a(): ...\n"
    files = {**MODULES, "more.py": "def m():\n    import data\n", "../project.py": ""}
    was = read(tmp_path, text, files, "was")
    now = read(tmp_path, text, {name: f"{was}\nNEW = 1" for name, was in files.items()}, "now")
    assert differing(was, now) == modules.split()


def test_a_module_that_the_text_does_not_import_counts_if_it_is_imported(tmp_path: Path) -> None:
    found = read(tmp_path, FILE, MODULES, "was")
    folder = (tmp_path / "was" / "benchmarks").resolve()
    (folder / "json.py").write_text("N = 1\n")
    (folder.parent / "project.py").write_text("")
    before = found.parts("bench_a", with_params=False)
    names = ("bench_it.py", "lib/x.py", "json.py", "../project.py")
    found.add_imported(str((folder / name).resolve()) for name in names)
    after = found.parts("bench_a", with_params=False)
    assert sorted(after.keys() - before.keys()) == ["json.py", "lib/x.py"]


def test_modules_of_the_project_are_what_is_measured(tmp_path: Path) -> None:
    source = "import project\ndef bench_a(): project.work()\n"
    trees = []
    for name in ("1", "2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "project.py").write_text(f"def work(): return {name}\n")
        trees.append(read(tmp_path, source, {}, name))
    assert differing(*trees) == []


# Each changes what bench_a measures, by way of a statement that is the same.
INDIRECT = {
    "options": (
        "OPTIONS = {'n': 1}\nproject.set(OPTIONS)",
        "OPTIONS = {'n': 9}\nproject.set(OPTIONS)",
    ),
    "made data": (
        "def make(): ...\nD = make()\nbench_a.setup = lambda: D",
        "def make(): return 1\nD = make()\nbench_a.setup = lambda: D",
    ),
    "class": (
        "class C: ...\nbench_a.setup = C().f",
        "class C:\n    def f(self): ...\nbench_a.setup = C().f",
    ),
    "base": (
        "class B: ...\nclass C(B): ...\nbench_a.setup = C",
        "class B: N = 1\nclass C(B): ...\nbench_a.setup = C",
    ),
    "default": (
        "N = 1\ndef f(n=N): ...\nbench_a.setup = f",
        "N = 2\ndef f(n=N): ...\nbench_a.setup = f",
    ),
    "handler": (
        "@project.register\ndef handler(): ...",
        "@project.register\ndef handler(): return 1",
    ),
    "loop": ("N = [1]\nfor n in N: project.set(n)", "N = [1, 2]\nfor n in N: project.set(n)"),
    "called": (
        "def bench_b(): ...\nfor f in (bench_b,): f()",
        "def bench_b(): project.set()\nfor f in (bench_b,): f()",
    ),
    "count": ("project.set()", "project.set()\nproject.set()"),
    "list of benchmarks": (
        "def bench_b(): ...\nALL = [bench_b]\nbench_a.setup = lambda: ALL",
        "def bench_b(): 1\nALL = [bench_b]\nbench_a.setup = lambda: ALL",
    ),
    "chained names": (
        "X = Y = []\nbench_a.setup = lambda: Y",
        "X = Y = []\nbench_a.setup = lambda: Y\nX.extend(range(9))",
    ),
    "fallback": (
        "try: import fast\nexcept ImportError: fast = None\nbench_a.setup = lambda: fast",
        "try: import fast\nexcept ImportError: fast = 1\nbench_a.setup = lambda: fast",
    ),
    "name in a text": (
        "def f(): ...\nbench_a.setup = lambda: timeit('f()', globals=globals())",
        "def f(): 1\nbench_a.setup = lambda: timeit('f()', globals=globals())",
    ),
}


def indirect(way: str) -> tuple[str, str]:
    was, now = (f"import project\n{FILE}{text}\n" for text in INDIRECT[way])
    return was, now


@pytest.mark.parametrize("way", INDIRECT)
def test_what_acts_by_way_of_something_else_is_work(changed: Change, way: str) -> None:
    assert changed(*indirect(way))


EDITS = (
    *((FILE, f"{FILE}{added}\n") for added in (*ALTERS, *HARMLESS, *IN_DOUBT)),
    *map(indirect, INDIRECT),
)
"""Texts of a benchmark file, before and after a change of it."""


def test_a_module_anywhere_goes_before_a_folder_that_is_none(tmp_path: Path) -> None:
    source = "from common import util\ndef bench_a(): util.work()\n"
    files = {"common/util.py": "def work(): ...\n"}
    was = read(tmp_path, source, files, "was")
    more = {"../common/__init__.py": "", "../common/util.py": "def work(): 1\n"}
    now = read(tmp_path, source, {**files, **more}, "now")
    assert differing(was, now)


def test_a_helper_that_this_python_cannot_read_is_work(tmp_path: Path) -> None:
    source = f"import sys\nif sys.version_info > (9,): import newer\n{FILE}"
    was, now = (read(tmp_path, source, {"newer.py": f"new {n}"}, n) for n in "12")
    assert differing(was, now) == ["newer.py"]


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
        "from benchgate._worker.failures import compile_from_source\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "if sys.argv[1:]: compile_from_source('bench_a.py', sys.argv[1])\n"
        "import _h\nprint(_h.WORK)\n"
    )
    run = partial(subprocess.run, capture_output=True, text=True, check=True)
    assert run([sys.executable, "-c", script]).stdout == "1\n"
    assert run([sys.executable, "-c", script, str(tmp_path)]).stdout == "1000\n"
    beginning = str(tmp_path)[:-1]  # of the same name, and yet another folder
    assert run([sys.executable, "-c", script, beginning]).stdout == "1\n"

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

from benchgate.measure._worker.workloads import Text, Workloads

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
    return Workloads(str(folder / "bench_it.py"), str(folder), folders, Text())


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
    "random.seed(1)",
    "import project\nproject.FAST = True",
    "helper.__code__ = (lambda: 1).__code__",
    "bench_a = print",
    "bench_a.setup = print",
    "bench_a.teardown, other = print, 1",
    "for f in (bench_a,): f.setup = print",
    "__name__ = '__main__'\nif __name__ == '__main__': DATA.clear()",
    "match [1]:\n    case DATA: pass",
    "match [1]:\n    case [*DATA]: pass",
    "match {}:\n    case {**DATA}: pass",
    "try: ...\nexcept* ValueError as DATA: ...",
    "type DATA = int",
    "class C:\n    global DATA\n    DATA = []",
    "def f(x=(DATA := [])): ...",
    "def f():\n    def g():\n        global DATA; DATA = []\n    DATA = g()\nf()",
    "[project.patch() for bench_b in (1,)]",
    "@project.register\ndef handler(): ...",
    "@project.register('x')\nclass Handler: ...",
    "class Plugin(project.Plugin): ...",
    "class Plugin(metaclass=project.Meta): ...",
    "class Base(project.Plugin): ...\nclass Plugin(Base): ...",
    "class Plugin:\n    def __init_subclass__(cls): project.add(cls)\nclass Own(Plugin): ...",
    "class Plugin:\n    @project.register\n    def method(self): ...",
    "class Plugin:\n    made = project.register()",
    "def f(x=project.patch()): ...",
    "def f(x: project.patch()): ...",
    "def f() -> project.patch(): ...",
    "import functools\n@functools.partial(project.register, 'x')\ndef handler(): ...",
    "@helper.register(int)\ndef _(x): ...\n_(1)",
    "D = [1]\n@project.register\ndef handler(x=D): ...\ndef bench_b(): D",
    "D = [1]\n@project.register(D)\ndef handler(): ...\ndef bench_b(): D",
    "import functools\nfunctools.cache(project.patch)(5)",
    "import functools\ndef f(x=functools.cache(project.patch)(5)): ...",
    "staticmethod(project.patch)(5)",
)


@pytest.mark.parametrize("added", ALTERS)
def test_what_changes_the_work_is_part_of_it(changed: Change, added: str) -> None:
    if sys.version_info < (3, 12) and added.startswith("type "):
        pytest.skip("`type` came with Python 3.12")
    assert changed(FILE, f"{FILE}{added}\n")


USES_PROJECT = "import project\nfrom project import app\ndef bench_a(): project.work(app)\n"


DECORATES = (
    "@project.timed\ndef bench_b(): ...",
    "@app.route('/')\ndef bench_b(): ...",
    "def bench_b(x=project.patch()): ...",
    "@project.fast\ndef helper(): ...\ndef bench_b(): helper()",
    "def patched(f):\n    project.N = 1\n    return f\n@patched\ndef bench_b(): ...",
    "import functools\n@functools.partial(project.register)\ndef bench_b(): ...",
)


@pytest.mark.parametrize("added", DECORATES)
def test_what_a_decorator_may_alter_is_work(changed: Change, added: str) -> None:
    assert changed(USES_PROJECT, f"{USES_PROJECT}{added}\n")


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("def bench_a(n=N): n", "N"),
        ("def bench_a():\n    [N for N in ()]\n    N", "N"),
        ("def bench_a(f=lambda N: 0): N", "N"),
        ("def bench_a():\n    [N for N in range(N)]", "N"),
    ],
)
def test_a_name_is_local_only_in_its_scope(changed: Change, was: str, now: str) -> None:
    assert changed(f"N = 9000\n{was}\n", f"N = 6000\n{was}\n") == [now]


@pytest.mark.parametrize(
    "added",
    [
        "# a comment",
        "def bench_b(): DATA.sort()",
        "__all__ = ['x']",
        "bench_a.unit = 'us'\nbench_a.parallel = True",
        "if __name__ == '__main__':\n    bench_a()",
        "import shrink",
        "SMALL = list(range(3))",
        "import random as other\nfrom shrink import one, two\ndef bench_b(): other, one",
        "def f(x=len('x'), y=frozenset()): ...",
    ],
)
def test_what_is_added_for_others_is_no_part_of_it(changed: Change, added: str) -> None:
    assert changed(FILE, f'"""What it is."""\n{FILE}{added}\n') == []


STANDARD = """
import abc, collections.abc, contextlib as c, dataclasses as d, functools, typing as t
@functools.lru_cache(maxsize=None)
def cached(x=len("x"), y=frozenset()): ...
@c.contextmanager
def managed(): yield
@d.dataclass(frozen=True)
class Data:
    x: list = d.field(default_factory=list)
class Abstract(abc.ABC, collections.abc.Mapping, t.Generic[t.TypeVar("T")]):
    @abc.abstractmethod
    def f(self): ...
class Failure(ValueError):
    @property
    def x(self): ...
    @staticmethod
    def make(): ...
"""


def test_definitions_that_alter_nothing_are_no_work(changed: Change) -> None:
    assert changed(FILE, f"{FILE}{STANDARD}") == []
    for own in ("def property(f): DATA.clear()", "from project import *"):
        assert "Failure" in changed(f"{FILE}{own}\n", f"{FILE}{own}\n{STANDARD}")


def test_a_module_that_replaces_one_of_python_may_do_anything(tmp_path: Path) -> None:
    now = f"{FILE}from dataclasses import dataclass\n@dataclass\nclass C: ...\n"
    replaced = {"dataclasses.py": "def dataclass(c): ...\n"}
    assert differing(read(tmp_path, FILE, {}, "1"), read(tmp_path, now, {}, "2")) == []
    assert "C" in differing(read(tmp_path, FILE, {}, "3"), read(tmp_path, now, replaced, "4"))


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
        ("def bench_b():\n    from lib.x import X", ""),
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


# Each runs code of `project` on import, or may do so, and calls nothing that looks like it.
ALTERS_UNSEEN = (
    "VERSION = project.VERSION",
    "for _ in project.x: pass",
    "first, *rest = project",
    "OTHER = project + 1",
    "OTHER = f'{project}'",
    "OTHER = -project",
    "OTHER = project[0]",
    "OTHER = 1 in project",
    "OTHER = {project: 1}",
    "OTHER = {project}",
    "OTHER = [*project]",
    "OTHER = {**project}",
    "OTHER = [n for n in project]",
    "OTHER = [int() for int in [project]]",
    "OTHER = list(project)",
    "OTHER = 1 if project else 2",
    "OTHER = not project",
    "try: pass\nexcept project.error: pass",
    "def bench_b(n=project.fast): ...",
    "def bench_b(n: project.fast): ...",
    "def bench_b() -> list[project.fast]: ...",
    "OTHER: project.fast = 1",
    "bench_b = project",
    "bench_a.setup = project",
    "bench_a.setup: project.fast",
    "class C: x = project",
    "class C:\n    int = project\n    x = int(5)",
    "class C:\n    @project.setter\n    def x(self): ...",
    "class C(ValueError, metaclass=project): ...",
    "__builtins__ = {'sum': project}",
    "def __getattr__(name): ...",
    "if __name__ == '__main__': DATA.clear()\nSELF = __file__",
    "random.seed = project",
    "from __future__ import annotations",
    "try: import fast\nexcept ImportError: fast = None",
    "@project.timed\ndef bench_b(): ...",
    "bench_b = project.patched(1)",
    "def bench_b(): ...\nbench_b.params = {'n': [project.patched()]}",
    "bench_a.unit = project.unit()",
    "import project as bench_p\nbench_p.FAST = True",
    "class bench_T:\n    import project\n    project.FAST = True",
    "bench_x = project.FAST = True",
    "def bench_b(): ...\nbench_b.unit = project.FAST = 'ms'",
    "def bench_b(): ...\nproject.FAST = [bench_b]",
    "from helping import X\ndef bench_b(): X",
)
ONLY_DEFINES = (
    "__all__ = ['bench_a']",
    "def bench_b(n: int | None = 5, *m: list[int], k=()) -> str: 'What it is.'",
    "def work(n): ...\ndef bench_b(n): ...\nbench_b.setup = work\nbench_b.params = {'n': [work]}",
    "class C(ValueError):\n    x: int = 5\n    @property\n    def y(self): ...",
    "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    x: int = 5",
    "a, b = 1, (2, 3)",
    "KEY = lambda each: project.key(each)",
    "import json, math\nTABLE = json.loads('[1, 2]')\nPI = math.pi * math.sqrt(2)",
    "from datetime import datetime\nDAY = datetime(2026, 1, 1).isoformat()",
    "import string\nLETTERS = ''.join(sorted(string.ascii_letters))\nWORDS = TEXT.split()",
    "from typing import Optional\ndef work(n: Optional[int]) -> 'list[int]': ...",
    "from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: float = 1.5",
    "from enum import Enum\nclass Color(Enum):\n    RED = 1",
    "def bench_b(): 'calls helper'; helper()\nbench_b.number = 3\nbench_b.data = ['x.txt']",
)

# These do no harm, but benchgate does not know that.
IN_DOUBT = (
    "import numpy\nOTHER = numpy.zeros(3)\ndef bench_b(): OTHER\nbench_b.number = 3",
    "def sized(f):\n    f.number = 3\n    return f\n@sized\ndef bench_b(): DATA.sort()",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from project import T",
    "TYPE_CHECKING = False\nif TYPE_CHECKING: import project",
    "SIZES = [n * 10 for n in range(5)]\nTABLE = {n: str(n) for n in SIZES}",
    "SIZE = 1\nSIZE += 2 * len(TEXT.split())\nHALF = f'{SIZE // 2}'",
    "class Base: ...\nclass Derived(Base): ...",
    "import random as r\nWORDS = r.Random(1).sample(range(99), 9)",
    "import re\nfrom pathlib import Path\nHERE = Path(__file__).parent / 'x'\nR = re.compile('a+')",
    "LARGEST = max(sorted(DATA))\nCOUNT = len(set(DATA))",
    "ROWS = []\nfor n in range(9): ROWS.append((n, str(n)))",
)


@pytest.mark.parametrize("added", ALTERS_UNSEEN)
def test_what_may_run_code_of_the_project_is_work(tmp_path: Path, added: str) -> None:
    files = {"helping.py": "X = 1\n"}
    was, now = (read(tmp_path, text, files, str(len(text))) for text in (FILE, f"{FILE}{added}\n"))
    assert differing(was, now)


USES = "bench_a.setup = project.work"
# Each changes what bench_a measures, by way of a statement that is the same, or by the order.
INDIRECT = {
    "options": (
        "OPTIONS = {'n': 1}\nproject.set(OPTIONS)",
        "OPTIONS = {'n': 9}\nproject.set(OPTIONS)",
    ),
    "function": (
        "def make(): ...\nB = make()\ndef bench_b(): B",
        "def make(): project.set()\nB = make()\ndef bench_b(): B",
    ),
    "class": (
        "class C:\n    def __init__(self): ...\nB = C()\ndef bench_b(): B",
        "class C:\n    def __init__(self): project.set()\nB = C()\ndef bench_b(): B",
    ),
    "loop": ("N = [1]\nfor n in N: project.set(n)", "N = [1, 2]\nfor n in N: project.set(n)"),
    "called": (
        "def bench_b(): ...\nfor f in (bench_b,): f()",
        "def bench_b(): project.set()\nfor f in (bench_b,): f()",
    ),
    "random": (
        "random.seed(1)\nN = 10\nB = [random.random() for _ in range(N)]\nX = random.random()",
        "random.seed(1)\nN = 14\nB = [random.random() for _ in range(N)]\nX = random.random()",
    ),
    "order of imports": (
        f"import os\nos.environ['FAST'] = '1'\nimport project\n{USES}",
        f"import os\nimport project\nos.environ['FAST'] = '1'\n{USES}",
    ),
    "order of calls": ("X = project.x()\nproject.set()", "project.set()\nX = project.x()"),
    "order of data": (
        "N = 10\nM = list(range(N))\nN = 99\nbench_a.setup = lambda: M",
        "N = 10\nN = 99\nM = list(range(N))\nbench_a.setup = lambda: M",
    ),
    "count": ("project.set()", "project.set()\nproject.set()"),
    "list of benchmarks": (
        "def bench_b(): ...\nALL = [bench_b]\nbench_a.setup = lambda: ALL",
        "def bench_b(): 1\nALL = [bench_b]\nbench_a.setup = lambda: ALL",
    ),
    "attribute that acts": ("bench_a.unit = 'us'", "bench_a.unit = DATA.clear() or 'us'"),
    "chained names": (
        "X = Y = []\nbench_a.setup = lambda: Y",
        "X = Y = []\nbench_a.setup = lambda: Y\nX.extend(range(9))",
    ),
    "registry": (
        "class Shape: ...\nbench_a.setup = Shape.__subclasses__",
        "class Shape: ...\nbench_a.setup = Shape.__subclasses__\nclass Tri(Shape): ...",
    ),
    "name in a text": (
        "class I: ...\nclass Row:\n    x: 'I'\nbench_a.setup = lambda: project.set(Row)",
        "class I:\n    y = 1\nclass Row:\n    x: 'I'\nbench_a.setup = lambda: project.set(Row)",
    ),
    "no data": (
        "I = None\ndef load():\n    global I\n    I = project.x\nload()",
        "I = None\ndef load():\n    global I\n    I = project.x\nload()\nH = I[:5]",
    ),
    "class decorator": ("", "@dict\nclass _:\n    def keys(): project.set(); return ()"),
    "decorator of a class": (
        "from functools import lru_cache",
        """from functools import lru_cache
class C:
    def lru_cache(f): project.set()
    @lru_cache
    def x(self): ...""",
    ),
    "flag": ("", "from os import name as TYPE_CHECKING\nif TYPE_CHECKING: import project.fast"),
    "codec": ("", "X = 'a'.encode('project')"),
    "dataclass": (
        "from dataclasses import dataclass",
        "from dataclasses import dataclass\n@dataclass\nclass C:\n    x: project",
    ),
    "last reference": ("X = project.x", "X = project.x\nX = None"),
    "computed name": (
        "N_1 = 1\nbench_a.setup = lambda: globals()['N_' + str(1)]",
        "N_1 = 2\nbench_a.setup = lambda: globals()['N_' + str(1)]",
    ),
    "all names": (
        "def f_x(): ...\nALL = {k: v for k, v in globals().items()}\nbench_a.setup = lambda: ALL",
        "def f_x(): 1\nALL = {k: v for k, v in globals().items()}\nbench_a.setup = lambda: ALL",
    ),
    "list from sum": (
        "L = sum(([n] for n in (1, 2)), [])\nbench_a.setup = lambda: L",
        "L = sum(([n] for n in (1, 2)), [])\nbench_a.setup = lambda: L\nL.reverse()",
    ),
    "search in an iterator": (
        "import io\nF = io.StringIO('a')\nbench_a.setup = lambda: F",
        "import io\nF = io.StringIO('a')\nbench_a.setup = lambda: F\nX = 'a' in F",
    ),
    "unpacked iterator": (
        "F = zip('ab', 'cd')\nbench_a.setup = lambda: F",
        "F = zip('ab', 'cd')\nbench_a.setup = lambda: F\nX, Y = F",
    ),
    "decimal context": ("import decimal", "import decimal\ndecimal.getcontext().clear_traps()"),
    "module in a module": ("import os", "import os\nos.path.os.environ.update({'FAST': '1'})"),
    "shared constant": (
        "import hashlib",
        "import hashlib\nhashlib.algorithms_available.add('x')",
    ),
    "replaced function": (
        "import json\njson.loads = project.loads",
        "import json\njson.loads = project.loads\nY = json.loads('1')",
    ),
    "private name": (
        "_C__n = 1\nclass C:\n    def f(self): return __n\nbench_a.setup = C().f",
        "_C__n = 2\nclass C:\n    def f(self): return __n\nbench_a.setup = C().f",
    ),
}


def indirect(way: str) -> tuple[str, str]:
    start = f"import project\n{FILE}" if way != "order of imports" else FILE
    was, now = (f"{start}{text}\n" for text in INDIRECT[way])
    return was, now


@pytest.mark.parametrize("way", INDIRECT)
def test_what_acts_by_way_of_something_else_is_work(tmp_path: Path, way: str) -> None:
    was, now = (read(tmp_path, text, {}, str(index)) for index, text in enumerate(indirect(way)))
    assert differing(was, now)


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


@pytest.mark.parametrize("added", ONLY_DEFINES)
def test_what_only_defines_something_is_no_work(changed: Change, added: str) -> None:
    assert changed(FILE, f"{FILE}{added}\n") == []


EDITS = (
    *((FILE, f"{FILE}{added}\n") for added in (*ALTERS, *ALTERS_UNSEEN, *ONLY_DEFINES, *IN_DOUBT)),
    *((USES_PROJECT, f"{USES_PROJECT}{added}\n") for added in DECORATES),
    *map(indirect, INDIRECT),
)
"""Texts of a benchmark file, before and after a change of it."""


@pytest.mark.parametrize("added", IN_DOUBT)
def test_what_calls_something_is_work_in_doubt(changed: Change, added: str) -> None:
    assert changed(FILE, f"{FILE}{added}\n")


@pytest.mark.parametrize(
    "added",
    [
        "bench_a.unit = project.FAST = 'us'",
        "bench_a.unit = 'us' if (N := 5) else 'ms'",
        "def bench_b(): ...\nf = bench_a\nf.__code__ = bench_b.__code__",
    ],
)
def test_a_statement_that_does_more_than_set_an_attribute_is_work(
    changed: Change, added: str
) -> None:
    source = "from project import work\nN = 9\ndef bench_a(): work(N)\n"
    assert changed(source, f"{source}{added}\n") != []


@pytest.mark.parametrize("other", ["_h/__init__.py", f"_h{EXTENSION_SUFFIXES[0]}"])
def test_what_python_prefers_to_a_helper_is_not_taken_for_it(tmp_path: Path, other: str) -> None:
    file, helper = tmp_path / "bench_a.py", tmp_path / "_h.py"
    file.write_text("import _h\n\n\ndef bench_a():\n    _h.go()\n")
    helper.write_text("def go():\n    return sum(range(1000))\n")

    def parts() -> dict[str, str]:
        found = Workloads(str(file), str(tmp_path), [str(tmp_path)], Text())
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

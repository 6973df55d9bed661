"""Which benchmarks a change affects in suites, and what their environment has to do with it."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest
from tests.interpreters import find_interpreter
from tests.session.affecting import IDLE, REACHING, reasons, wrong

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.git.repository import Git

PYTEST = '[[benchmark]]\npytest = "checks"\n'
ASV = '[[benchmark]]\nasv = "speed"\n'
PLAIN = '[[benchmark]]\npython = "benchmarks"\n'
# In each module `work` changes, and nothing that does not call it is affected.
MODULE = "def work():\n    return {}\n\n\ndef rest():\n    return 1\n"
NAMES = "plain", "fixture", "session", "helper", "argument", "setup", "cache", "track", "teardown"
BASE = {f"of_{name}.py": MODULE.format(1) for name in NAMES}
HEAD = {f"of_{name}.py": MODULE.format(2) for name in NAMES}
CONFTEST = """\
import pytest


@pytest.fixture
def made():
    import of_fixture
    return of_fixture.work()


@pytest.fixture(scope="session")
def shared():
    import of_session
    return of_session.work()


@pytest.fixture
def ended():
    yield 1
    import of_teardown
    of_teardown.work()
"""
CHECKS = """\
import pytest
from helping import help_it


def test_none(benchmark):
    import of_plain
    benchmark(of_plain.rest)


def test_plain(benchmark):
    import of_plain
    benchmark(of_plain.work)


def test_fixture(benchmark, made):
    benchmark(len, "a")


def test_session(benchmark, shared):
    benchmark(len, "a")


def test_session_again(benchmark, shared):
    benchmark(len, "a")


def test_teardown(benchmark, ended):
    benchmark(len, "a")


def test_helper(benchmark):
    benchmark(help_it)


@pytest.mark.parametrize("name", ["rest", "work"])
def test_argument(benchmark, name):
    import of_argument
    benchmark(getattr(of_argument, name))
"""
FORKED = "forks, and benchgate cannot see what the fork runs"
HELPING = "def help_it():\n    import of_helper\n    of_helper.work()\n"
SPEED = """\
class Before:
    def setup(self):
        import of_setup
        of_setup.work()

    def time_it(self):
        pass


class Made:
    def setup_cache(self):
        import of_cache
        return of_cache.work()

    def time_it(self, made):
        pass


class After:
    def teardown(self):
        import of_teardown
        of_teardown.work()

    def time_it(self):
        pass


def time_none():
    import of_plain
    of_plain.rest()


def time_plain():
    import of_plain
    of_plain.work()


def track_it():
    import of_track
    return of_track.work()
"""
HOOKS = """\
import functools


@functools.lru_cache
def cached():
    import of_cache
    return of_cache.work()


def bench_first():
    cached()


def bench_second():
    cached()


def call(name):
    def called(*_):
        __import__(f"of_{name}").work()
    return called


def bench_setup(made=1):
    pass


def bench_teardown(made=1):
    pass


def bench_each(made=1):
    pass


def bench_after_each(made=1):
    pass


def bench_none():
    import of_plain
    of_plain.rest()


bench_setup.setup = call("setup")
bench_teardown.setup = bench_after_each.setup = int
bench_teardown.teardown = call("teardown")
bench_each.setup_each = call("fixture")
bench_after_each.teardown_each = call("session")
"""


def told(found: Mapping[str, str]) -> dict[str, str]:
    """Which module each benchmark is said to run; "" for none, or other words."""
    names = {id_: why.partition("runs `work` of of_")[2] for id_, why in found.items()}
    return {
        re.split("/|::test_", id_)[-1]: name.partition(".py, edited")[0] or found[id_]
        for id_, name in names.items()
    }


@pytest.mark.slow
def test_a_suite_of_pytest(repo: Git) -> None:
    files = {"checks/conftest.py": CONFTEST, "checks/test_it.py": CHECKS, "helping.py": HELPING}
    assert told(reasons(repo, {**BASE, **files}, HEAD, PYTEST)) == {
        "none": "",
        "plain": "plain",
        "fixture": "fixture",
        "session": "session",
        "session_again": "session",
        "teardown": "teardown",
        "helper": "helper",
        "argument[rest]": "",
        "argument[work]": "argument",
    }


def test_a_suite_of_asv(repo: Git) -> None:
    files = {**BASE, "speed/__init__.py": "", "speed/it.py": SPEED}
    assert told(reasons(repo, files, HEAD, ASV)) == {
        "it.Before.time_it": "setup",
        "it.Made.time_it": FORKED,
        "it.After.time_it": "teardown",
        "it.time_none": "",
        "it.time_plain": "plain",
        "it.track_it": "track",
    }


def test_hooks_and_what_another_benchmark_has_cached(repo: Git) -> None:
    files = {**BASE, "benchmarks/bench_it.py": HOOKS}
    assert told(reasons(repo, files, HEAD, PLAIN)) == {
        "first": "cache",
        "second": "cache",
        "setup": "setup",
        "teardown": "teardown",
        "each": "fixture",
        "after_each": "session",
        "none": "",
    }


def test_what_the_import_of_a_file_reads_affects_all_of_it(repo: Git) -> None:
    texts = "import of_text\n\n\ndef bench_{}():\n    pass\n\n\ndef bench_b():\n    pass\n"
    files = {
        "benchmarks/bench_it.py": texts.format("a"),
        "benchmarks/bench_other.py": "def bench_c():\n    pass\n",
        "of_text.py": "open('text.txt').close()\n",
        "text.txt": "1",
    }
    why = "opens text.txt, changed"
    found = reasons(repo, files, {"text.txt": "2"}, PLAIN)
    assert found == {"it/a": why, "it/b": why, "other/c": ""}


# What an environment has that the build makes, `X` from a file of the tree.
MAKE_ENV = f"""\
{PLAIN}interpreter = "{{env}}/bin/python"

[build]
command = [
  "{sys.executable} -m venv --without-pip {{env}}",
  "{{env}}/bin/python make.py",
]
"""
MAKE = """\
import sysconfig
from pathlib import Path
folder = Path(sysconfig.get_path("purelib"))
(folder / "{name}").write_text('''{text}''')
"""
BENCH = "import os, sys\n\n\ndef bench_it():\n    {}\n"


@pytest.mark.parametrize(
    ("name", "texts", "body"),
    [
        ("some.pth", ("import os; os.one = 1", "import os; os.two = 1"), "pass"),
        ("sitecustomize.py", ("A = 1", "A = 2"), "pass"),
        ("sitecustomize.py", ("def f(): pass", "def f(): 1"), "sys.modules['sitecustomize'].f()"),
        ("made.py", ("A = 1", "A = 2"), "import made"),
        (
            "data.txt",
            ("1", "2"),
            "[open(p + '/data.txt').read() for p in sys.path if 'site-p' in p]",
        ),
    ],
)
def test_what_the_build_writes(repo: Git, name: str, texts: tuple[str, str], body: str) -> None:
    one, other = (MAKE.format(name=name, text=text) for text in texts)
    files = {"make.py": one, "benchmarks/bench_it.py": BENCH.format(body)}
    assert name in reasons(repo, files, {"make.py": other}, MAKE_ENV)["it/it"]


def test_a_variable_that_the_build_writes_down(repo: Git) -> None:
    config = f'{PLAIN}\n[build]\ncommand = "{sys.executable} make.py"\nenv = {{ LEVEL = "$" }}\n'
    files = {
        "make.py": "import os\nopen('level.py', 'w').write('A = ' + os.environ['LEVEL'])\n",
        "benchmarks/bench_it.py": BENCH.format("import level"),
        "benchmarks/bench_other.py": BENCH.format("pass"),
        ".gitignore": "level.py\n",
    }
    changed = {"benchgate.toml": config.replace("$", "2")}
    found = reasons(repo, files, changed, config.replace("$", "1"))
    assert found == {"it/it": "imports level.py, edited outside of its functions", "other/it": ""}


# The first versions of Python 3 that can run these.
SINCE = {"resources": 9, "cached": 9, "in_executor": 9, "metadata": 10, "matched": 10, "toml": 11}


@pytest.mark.slow
@pytest.mark.parametrize("version", ["3.8", "3.12", "3.13"])
@pytest.mark.parametrize("kind", [*REACHING, *IDLE])
def test_the_same_is_said_under_other_versions_of_python(
    repo: Git, version: str, kind: str
) -> None:
    config = f'{PLAIN}interpreter = "{find_interpreter(version)}"\n'
    minor = int(version.partition(".")[2])
    changes = [one for one in {**REACHING, **IDLE}[kind] if SINCE.get(one.name, 0) <= minor]
    assert wrong(repo, changes, config) == {}

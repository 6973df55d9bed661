"""Builds that are used again, and those that must not be."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig
from typing import TYPE_CHECKING

import pytest
from tests.e2e.conftest import PYTHON, QUICK
from tests.patience import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from tests.done import Done
    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

USED = "used an earlier build of the "
WIDE = QUICK.replace("[gate]\n", '[gate]\nmargin = "50%"\n')
# The build counts its runs, and says in {env} where it ran.
BUILD = """\
set -e
echo run >> {runs}
mkdir -p $1/bin $1/lib/python3/site-packages
echo "$1 $PWD" > $1/where
echo "built = 1" > src/toy/built.py
{more}
"""
# It runs in a session of its own, because the rest of the build's is ended.
SERVER = """\
setsid sh -c 'cd "$1" && touch up && exec sleep 60' server "$1" > /dev/null 2>&1 &
while [ ! -e $1/up ]; do sleep 0.1; done
"""
# The benchmark needs what the build left, at its own place.
BENCHMARK = """\
import os
from pathlib import Path

import toy
from toy import built

ROOT = Path(toy.__file__).parents[2]
ENV = Path(f"{ROOT.parent}-env")
assert (ENV / "where").read_text().split() == [str(ENV), str(ROOT)]


def bench_work():
    toy.work()
"""


class Counted:
    """A project whose build counts how often it runs."""

    def __init__(self, project: Project, folder: Path) -> None:
        self.project = project
        self._runs = folder / "runs"
        self._runs.touch()
        project.write({"benchmarks/bench_toy.py": BENCHMARK})
        self.configure()

    def configure(self, keys: str = "", more: str = "") -> None:
        build = f'[build]\ncommand = "sh build.sh {{env}}"\n{keys}\n'
        script = BUILD.format(runs=self._runs, more=more)
        self.project.write({"benchgate.toml": f"{WIDE}{build}{PYTHON}", "build.sh": script})

    @property
    def runs(self) -> int:
        return len(self._runs.read_text().splitlines())


@pytest.fixture
def counted(toy: Project, tmp_path: Path) -> Counted:
    made = Counted(toy, tmp_path)
    toy.commit()
    return made


def ran(benchgate: Program, root: Path, *arguments: str, code: int = 0) -> Done:
    done = benchgate(root, *arguments)
    done.check(code)
    return done


def test_the_same_build_runs_once(counted: Counted, benchgate: Program) -> None:
    root = counted.project.root
    first = ran(benchgate, root, "list")
    assert USED not in first.err
    second = ran(benchgate, root, "list")
    assert f"{USED}head (" in second.err
    assert "; --no-cache builds again" in second.err
    assert second.out == first.out
    assert counted.runs == 1
    # Both sides of a check without a change are this build, at two places.
    same = ("check", "--against", "HEAD", "--rounds", "8")
    ran(benchgate, root, *same)
    assert counted.runs == 2
    assert f"{USED}base and head (" in ran(benchgate, root, *same).err
    assert counted.runs == 2
    shown = ran(benchgate, root, "cache")
    assert counted.project.git.head_sha()[:7] in shown.out
    assert "2 builds (" in shown.out
    cleared = ran(benchgate, root, "cache", "--clear")
    assert cleared.out.startswith("removed 2 builds (")
    assert ran(benchgate, root, "cache").out.startswith("no builds are kept in ")
    assert USED not in ran(benchgate, root, "list").err
    assert counted.runs == 3


def test_a_change_is_built_and_its_base_is_not(counted: Counted, benchgate: Program) -> None:
    root = counted.project.root
    ran(benchgate, root, "list")
    code = root / "src" / "toy" / "__init__.py"
    before = code.stat()
    counted.project.write({"src/toy/__init__.py": code.read_text().replace("3000", "9000")})
    os.utime(code, ns=(before.st_atime_ns, before.st_mtime_ns))  # and it is as large as before
    slower = ran(benchgate, root, "check", "--rounds", "8", code=3)
    assert f"{USED}base (" in slower.err
    assert counted.runs == 2
    again = ran(benchgate, root, "check", "--rounds", "8", code=3)
    assert f"{USED}base and head (" in again.err
    assert counted.runs == 2
    counted.project.write({"new.txt": ""})
    assert USED not in ran(benchgate, root, "list").err


@pytest.mark.parametrize("how", ["option", "key", "ci"])
def test_builds_can_be_made_again(counted: Counted, benchgate: Program, how: str) -> None:
    root = counted.project.root
    if how == "key":
        counted.configure("cache = false\n")
    if how == "ci":
        benchgate.variables |= {"CI": "false", "TF_BUILD": "True"}
    options = ["--no-cache"] if how == "option" else []
    for runs in (1, 2):
        assert USED not in ran(benchgate, root, "list", *options).err
        assert counted.runs == runs
    kept = "1 build (" if how == "option" else "no builds are kept"
    assert kept in ran(benchgate, root, "cache").out


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("mkfifo $1/fifo", "env/fifo is neither a file nor a folder"),
        (SERVER, "a process that it started still runs"),
    ],
)
def test_a_build_that_cannot_be_used_again_says_so(
    counted: Counted, benchgate: Program, more: str, reason: str
) -> None:
    counted.configure(more=more)
    for runs in (1, 2):
        done = ran(benchgate, counted.project.root, "list")
        assert "the build of the head is not kept for the next time: " in done.err
        assert reason in done.err
        assert counted.runs == runs


def test_a_command_with_an_effect_elsewhere_runs_every_time(
    counted: Counted, benchgate: Program
) -> None:
    config = counted.project.root / "benchgate.toml"
    text = config.read_text().replace('"sh build.sh {env}"', '["sh build.sh {env}", "true"]')
    config.write_text(text)
    for runs in (1, 2):
        done = ran(benchgate, counted.project.root, "list")
        assert "`true` changes nothing in the tree or in {env}" in done.err
        assert counted.runs == runs


def test_a_failed_build_is_not_kept(counted: Counted, benchgate: Program) -> None:
    counted.configure(more="exit 1")
    for runs in (1, 2):
        benchgate(counted.project.root, "list").check(5, "exited with code 1")
        assert counted.runs == runs


def test_an_interrupted_build_is_not_kept(counted: Counted, benchgate: Program) -> None:
    root = counted.project.root
    counted.configure(more="sleep 300")
    process = benchgate.start(root, "list")
    assert eventually(lambda: bool(counted.runs))
    process.send_signal(signal.SIGINT)
    benchgate.end(process).check(130)
    assert "no builds are kept" in ran(benchgate, root, "cache").out


def test_a_killed_session_leaves_nothing_that_the_next_one_uses(
    counted: Counted, benchgate: Program
) -> None:
    """Its tree is dirty, at the place where the next session has its own."""
    root, go = counted.project.root, counted.project.root.parent / "go"
    counted.configure(more=f"[ ! -e $1/dirty ]; touch $1/dirty; [ -e {go} ] || sleep 300")
    killed = benchgate.start(root, "list")
    assert eventually(lambda: bool(list(benchgate.temporary.glob("*/*-env/dirty"))))
    killed.kill()
    benchgate.wait(killed)
    go.touch()
    # Not by a call: it removes the trees that git lists as those of the killed session.
    assert USED not in benchgate.wait(benchgate.start(root, "list")).err
    assert USED in ran(benchgate, root, "list").err
    assert counted.runs == 2


def test_what_a_benchmark_left_is_not_there_the_next_time(
    counted: Counted, benchgate: Program
) -> None:
    root = counted.project.root
    leave = """
left = [ENV / "left", ROOT / "left.txt"]
assert not any(path.exists() for path in left)
for path in left:
    path.touch()
"""
    name = "benchmarks/bench_toy.py"
    text = (root / name).read_text().replace("\n\ndef ", f"{leave}\n\ndef ")
    counted.project.write({name: text})
    for _ in range(2):
        done = ran(benchgate, root, "list")
    assert USED in done.err


def test_a_build_that_another_version_kept_is_made_again(
    counted: Counted, benchgate: Program
) -> None:
    root = counted.project.root
    ran(benchgate, root, "list")
    (about,) = benchgate.state_home.rglob("*.build/about.json")
    about.write_text('{"project": "toy"}')
    assert USED not in ran(benchgate, root, "list").err
    assert USED in ran(benchgate, root, "list").err
    assert counted.runs == 2


def test_other_packages_today_are_installed_on_both_sides(
    counted: Counted, benchgate: Program, tmp_path: Path
) -> None:
    """What the build downloads may be newer for the head: this must not look like its change."""
    version = tmp_path / "version"
    version.write_text("1.0")
    package = "$1/lib/python3/site-packages/numpy-$(cat {}).dist-info"
    counted.configure(more=f"mkdir {package.format(version)}")
    counted.project.commit()
    root = counted.project.root
    ran(benchgate, root, "list")
    counted.project.write({"new.txt": ""})
    assert f"{USED}base (" in benchgate(root, "check", "--rounds", "8").err
    assert counted.runs == 2
    version.write_text("2.0")
    counted.project.write({"new.txt": "other"})
    done = ran(benchgate, root, "check", "--rounds", "8")
    assert USED not in done.err
    assert counted.runs == 4
    # The newer one was kept.
    assert f"{USED}base and head (" in benchgate(root, "check", "--rounds", "8").err


def test_a_job_of_ci_uses_no_earlier_build(counted: Counted, benchgate: Program) -> None:
    """Not even where `CI` is not set: the base judges there, and the head could have written it."""
    root = counted.project.root
    ran(benchgate, root, "list")
    (root / "event.json").write_text("{}")
    done = benchgate(root, "ci")
    assert USED not in done.err


def test_two_checks_at_once_have_builds_of_their_own(
    benchgate: Program, counted: Counted, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    counted.configure(more=f"while [ ! -e {go} ]; do sleep 0.1; done")
    counted.project.commit()
    counted.project.slow_down()
    root = counted.project.root
    sessions = [benchgate.start(root, "check", "--rounds", "1") for _ in range(2)]
    assert eventually(lambda: counted.runs == 2)
    go.touch()
    for session in sessions:
        assert benchgate.wait(session).code == 4
    assert counted.runs == 4
    again = benchgate(root, "check", "--rounds", "1")
    assert f"{USED}base and head (" in again.err
    assert counted.runs == 4


PYPROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "toy"
version = "1"
"""


def test_an_extra_that_is_gone_is_told_with_what_is_missing(
    toy: Project, benchgate: Program
) -> None:
    python = f"{sys.executable} -m pip --python {{env}}/bin/python install --no-build-isolation"
    build = f"""\
[build]
command = ["{sys.executable} -m venv --without-pip {{env}}", "{python} --no-index .[bench]"]
env = {{ PYTHONPATH = "{sysconfig.get_path("purelib")}" }}

"""
    files = {
        "pyproject.toml": PYPROJECT,
        ".gitignore": "build\n*.egg-info\n",
        "benchmarks/bench_toy.py": "import zope.bench\nimport toy\n",
        "benchgate.toml": QUICK + build + PYTHON,
    }
    toy.write(files)
    toy.commit()
    warned = "[build] warned:\n{}WARNING: toy 1 does not provide the extra 'bench'"
    first, second = (benchgate(toy.root, "list") for _ in range(2))
    assert USED not in first.err
    assert USED in second.err
    for done in (first, second):
        assert done.code == 5
        line = "toy: ModuleNotFoundError: No module named 'zope'. Let [build] install it for {env}"
        assert line in done.err
        assert warned.format("") in done.err
    done = ran(benchgate, toy.root, "check", "--against", "HEAD", "--markdown", "../c.md", code=5)
    report, comment = done.out, (toy.root.parent / "c.md").read_text()
    assert warned.format("    ") in report
    assert warned.format("") in comment
    assert str(benchgate.temporary) not in report + comment

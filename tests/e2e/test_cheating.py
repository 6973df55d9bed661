"""Code under test that wants to know which arm it is in, or to change what the other one runs."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program, Project

pytestmark = pytest.mark.slow

ROUNDS = ("--rounds", "4")
SPY = """
import glob, json, os, re, sys, tempfile

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACE = os.path.basename(os.path.dirname(TREE))


def text(path):
    with open(path, "rb") as file:
        return file.read().decode(errors="replace")


def links(folder):
    return [os.readlink(path) for path in glob.glob(folder + "/*") if os.path.lexists(path)]


def looked():
    admin = text(os.path.join(TREE, ".git")).split()[-1]
    seen = {
        "file": __file__,
        "path": sys.path,
        "argv": [sys.argv, sys.orig_argv[:-2]],
        "folder": os.getcwd(),
        "temporary": tempfile.gettempdir(),
        "names": sorted(map(len, os.listdir(os.path.dirname(os.path.dirname(TREE))))),
        "beside": sorted(os.listdir(os.path.dirname(TREE))),
        "git": [sorted(os.listdir(admin)), text(admin + "/commondir")],
        "links": sum(os.lstat(path).st_nlink for path in glob.glob(TREE + "/*")),
        "times": sorted({int(os.path.getmtime(p)) for p in glob.glob(TREE + "/*[!s]")}),
        "modes": sorted((os.path.basename(p), os.lstat(p).st_mode) for p in glob.glob(TREE + "/*")),
        "limits": text("/proc/self/limits"),
        "group": re.sub(r"\\d+", "0", text("/proc/self/cgroup")),
        "mounts": text("/proc/self/mountinfo"),
        "files": sorted(re.sub(r"\\d+", "0", link) for link in links("/proc/self/fd")),
        "count": len(os.listdir("/proc/self/fd")),
        "mapped": sorted({line.split()[-1] for line in text("/proc/self/maps").splitlines()}),
        "nice": os.nice(0),
        "cpus": sorted(os.sched_getaffinity(0)),
        **{"$" + name: value for name, value in os.environ.items()},
    }
    said = json.dumps(seen).replace(PLACE, "PLACE")
    with open(os.path.join(os.environ["SPY_REPORTS"], str(os.getpid())), "w") as file:
        json.dump([text(os.path.join(TREE, "truth")), json.loads(said)], file)


looked()
"""
ATTACK = """\
import glob, os
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
for other in glob.glob(os.path.join(os.path.dirname(os.path.dirname(TREE)), "*", "*")):
    target = os.path.join(other, TARGET)
    if other != TREE and os.path.isdir(os.path.dirname(target)):
        status = os.stat(target) if os.path.exists(target) else None
        with open(target, "w") as file:
            file.write("import time\\ndef work():\\n    time.sleep(0.01)\\n")
        if status:
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
"""


def verdict_of(path: Path) -> dict[str, Any]:
    verdict: dict[str, Any] = json.loads(path.read_text())
    return verdict


def test_nothing_tells_the_code_which_arm_it_is_in(
    benchgate: Program, toy: Project, tmp_path: Path
) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    benchgate.variables["SPY_REPORTS"] = str(reports)
    toy.write({"truth": "base", "benchmarks/bench_spy.py": f"{SPY}\n\ndef bench_it():\n    pass\n"})
    toy.commit()
    toy.write({"truth": "head"})
    benchgate(toy.root, "check", "--against", "HEAD", *ROUNDS).check(4)  # too few rounds
    seen: dict[str, dict[str, set[str]]] = defaultdict(lambda: {"base": set(), "head": set()})
    found = [json.loads(path.read_text()) for path in reports.iterdir()]
    assert {truth for truth, _ in found} == {"base", "head"}
    for truth, looked in found:
        for what, value in looked.items():
            seen[what][truth].add(json.dumps(value))
    # In four rounds and the search for benchmarks each arm saw what the other saw.
    told = {what: by_arm for what, by_arm in seen.items() if not by_arm["base"] & by_arm["head"]}
    assert told == {}


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("src/toy/__init__.py", "src/toy/__init__.py was changed"),
        ("src/toy/json.py", "src/toy/json.py was added, and an import can find it"),
    ],
)
def test_code_that_slows_the_other_arm_down_fails(
    benchgate: Program, toy: Project, target: str, said: str
) -> None:
    # The base now sleeps as often as the head returns at once, so a launch takes the whole timeout.
    toy.configure("", benchmarks='[[benchmark]]\npython = "benchmarks"\ntimeout = "5s"\n')
    toy.commit()
    toy.write({"src/toy/__init__.py": f"TARGET = {target!r}\n{ATTACK}\n\ndef work():\n    pass\n"})
    verdict = toy.root.parent / "verdict.json"
    done = benchgate(toy.root, "check", "--against", "HEAD", *ROUNDS, "--json", verdict)
    done.check(5)
    (row,) = [row for row in verdict_of(verdict)["rows"] if row["benchmark"] == "benchgate/files"]
    assert row["outcome"] == "failed"
    assert f"in the base, {said}" in row["error"]


def test_a_benchmark_that_writes_to_a_file_of_the_commit_is_told_what_to_do(
    benchgate: Program, toy: Project
) -> None:
    toy.write(
        {"benchmarks/bench_toy.py": "def bench_work():\n    open('README', 'a').write('more')\n"}
    )
    toy.commit()
    done = benchgate(toy.root, "check", "--against", "HEAD", "--rounds", "8")
    done.check(5)
    assert "README was changed" in done.out
    assert "temporary folder" in done.out
    # What was changed is not measured on.
    assert "round 2" not in done.err


def test_a_run_of_one_tree_is_told_too(benchgate: Program, toy: Project) -> None:
    toy.write(
        {"benchmarks/bench_toy.py": "import os\n\ndef bench_work():\n    os.utime('README')\n"}
    )
    done = benchgate(toy.root, "run", "--rounds", "2")
    done.check(0)
    assert "wrote to files of the head" in done.out + done.err


AT_START = """
import os
from pathlib import Path

FILE = Path(os.environ["PYTHONUSERBASE"], *{below!r}.split("/"), "usercustomize.py")
FILE.parent.mkdir(parents=True, exist_ok=True)
FILE.write_text("import os")


def work():
    pass
"""


@pytest.mark.parametrize("where", ["run", "build"])
def test_code_that_the_other_arm_runs_from_elsewhere_fails(
    benchgate: Program, toy: Project, tmp_path: Path, where: str
) -> None:
    """Both sides share the interpreter, and so the user's own folder of packages."""
    benchgate.variables["PYTHONUSERBASE"] = str(tmp_path / "user")
    below = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    build = f'[build]\ncommand = "{sys.executable} src/toy/build.py"\n'
    toy.configure(
        build,
        benchmarks=f'[[benchmark]]\npython = "benchmarks"\ninterpreter = "{sys.executable}"\n',
    )
    toy.write({"src/toy/build.py": ""})
    toy.commit()
    name = "__init__" if where == "run" else "build"
    toy.write({f"src/toy/{name}.py": AT_START.format(below=below)})
    verdict = toy.root.parent / "verdict.json"
    done = benchgate(toy.root, "check", "--against", "HEAD", *ROUNDS, "--json", verdict)
    done.check(5)
    (row,) = [row for row in verdict_of(verdict)["rows"] if row["benchmark"] == "benchgate/files"]
    assert "usercustomize.py was added, and Python runs it when it starts" in row["error"]

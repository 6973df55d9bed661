"""The worker beside the tools themselves: the same benchmarks, ids, work and times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.measure.test_worker import PLAIN, launch

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.workers.start import WorkerSetting
from benchgate.measure.workers.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.measure.processes.guardian import Guardian

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

# Those of two years and more ago, and those of today.
VERSIONS = {
    "old": ("pytest==7.4.4", "pytest-benchmark==4.0.0"),
    "middle": ("pytest==8.3.3", "pytest-benchmark==5.0.1"),
    "new": ("pytest==9.0.3", "pytest-benchmark==5.2.3"),
}
CODSPEED = {
    "old": ("pytest==8.3.3", "pytest-codspeed==3.0.0"),
    "new": ("pytest==9.0.3", "pytest-codspeed==4.2.0"),
}
INI = "[pytest]\naddopts = -p no:randomly\n"
CONFTEST = """\
import os

import pytest


@pytest.fixture(scope="session")
def log():
    def write(text):
        with open(os.environ["LOG"], "a") as file:
            file.write(f"{text} ")
    return write


@pytest.fixture(params=[100, 3000])
def size(request):
    return request.param
"""
TESTS = """\
import time

import pytest


def work(log, *words, **more):
    log("-".join([*words, *more.values()]))
    time.sleep(0.002)
    return len(words)


def test_call(benchmark, log):
    assert benchmark(work, log, "call", kind="kw") == 1


@pytest.mark.parametrize("word", ["a", "b c"])
@pytest.mark.parametrize("n", [1, 2.5])
def test_parameters(benchmark, log, word, n):
    benchmark(work, log, word.replace(" ", ""), str(n))


def test_fixture_parameters(benchmark, log, size):
    benchmark(work, log, str(size))


class TestGroup:
    @pytest.fixture(autouse=True)
    def prepared(self):
        self.word = "prepared"

    @pytest.mark.benchmark(group="g", min_rounds=3)
    def test_method(self, benchmark, log):
        @benchmark
        def _():
            work(log, self.word)


def test_pedantic(benchmark, log):
    benchmark.pedantic(work, args=(log, "pedantic"), iterations=2, rounds=3)


def test_setup(benchmark, log):
    benchmark.pedantic(work, setup=lambda: ((log, "setup"), {}), rounds=3)


@pytest.mark.benchmark(group="only an option")
def test_no_benchmark(log):
    log("plain")
"""
WHOLE = """\
import pytest


@pytest.mark.benchmark
def test_whole(log):
    log("whole")


@pytest.mark.codspeed_benchmark
def test_other_mark(log):
    log("other")


def test_call(benchmark, log):
    benchmark(log, "call")


def test_plain(log):
    log("plain")
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "tests").mkdir(parents=True)
    (root / "pytest.ini").write_text(INI)
    (root / "tests" / "conftest.py").write_text(CONFTEST)
    return root


def installed(tmp_path: Path, packages: Sequence[str]) -> str:
    """Install packages into an environment; return its Python."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True, timeout=200)
    return python


def run_tool(python: str, tree: Path, log: Path, *options: str) -> list[str]:
    """Run the tool itself; return what the tests logged."""
    log.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "tests"]
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    environ = {**own, "LOG": str(log)}
    subprocess.run(command, cwd=tree, env=environ, check=True, timeout=120)
    return log.read_text().split()


def hosted(python: str, tree: Path, log: Path, guardian: Guardian) -> Worker:
    log.unlink(missing_ok=True)
    setting = WorkerSetting(
        interpreter=(python,),
        file=tree / "tests",
        path=[str(tree)],
        cpus=None,
        forbidden=(),
        variables={"PATH": os.environ["PATH"], "LOG": str(log), **guardian.variables},
        layout=PLAIN,
        helpers=tree / "tests",
        host="pytest",
    )
    return Worker(Arm(ArmName.HEAD, tree, tree / "env"), setting, guardian, describe=True)


@pytest.mark.parametrize("age", VERSIONS)
def test_the_same_as_pytest_benchmark(
    age: str, tmp_path: Path, tree: Path, guardian: Guardian
) -> None:
    (tree / "tests" / "test_it.py").write_text(TESTS)
    python, log, saved = installed(tmp_path, VERSIONS[age]), tmp_path / "log", tmp_path / "s.json"
    words = run_tool(python, tree, log, "--benchmark-max-time=0.05", f"--benchmark-json={saved}")
    times_s = {
        each["fullname"]: each["stats"]["min"]
        for each in json.loads(saved.read_text())["benchmarks"]
    }
    worker = hosted(python, tree, log, guardian)
    try:
        ids = [each["id"] for each in worker.ready(60)["benchmarks"]]
        assert sorted(ids) == sorted(times_s)
        for id_ in ids:
            log.unlink(missing_ok=True)
            replies = launch(worker, id_, samples=3)
            ours_s = min(wall_ns for wall_ns, _ in replies["samples"]) / replies["loops"] / 1e9
            assert 1 / 5 < ours_s / times_s[id_] < 5
            found = set(log.read_text().split())
            assert len(found) == 1
            assert found <= set(words)
            assert replies["loops"] == 2 or "test_pedantic" not in id_
    finally:
        worker.kill()


@pytest.mark.parametrize("age", CODSPEED)
def test_the_same_as_pytest_codspeed(
    age: str, tmp_path: Path, tree: Path, guardian: Guardian
) -> None:
    (tree / "tests" / "test_it.py").write_text(WHOLE)
    python, log = installed(tmp_path, CODSPEED[age]), tmp_path / "log"
    assert set(run_tool(python, tree, log)) == {"whole", "other", "call", "plain"}
    worker = hosted(python, tree, log, guardian)
    try:
        ids = [each["id"].partition("::")[2] for each in worker.ready(60)["benchmarks"]]
        assert ids == ["test_whole", "test_other_mark", "test_call"]
        for id_, word in zip(ids, ["whole", "other", "call"], strict=True):
            log.unlink(missing_ok=True)
            replies = launch(worker, f"tests/test_it.py::{id_}", samples=2)
            calls = log.read_text().split()
            assert set(calls) == {word}
            assert len(calls) > 2 * replies["loops"]
    finally:
        worker.kill()

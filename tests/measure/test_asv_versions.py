"""The worker beside asv itself: the same benchmarks, ids, work, times and values."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.measure.test_asv_host import value_of
from tests.measure.test_worker import PLAIN, launch

from benchgate.formats.asv import asv
from benchgate.formats.contents import ForeignFile
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.workers.start import WorkerSetting
from benchgate.measure.workers.worker import Worker, WorkerFailedError, WorkerSkippedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.measure.processes.guardian import Guardian
    from benchgate.model.run import BenchmarkResult

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

# That of two years ago, and that of today.
VERSIONS = {
    "old": ("asv==0.6.3", "asv_runner==0.2.1", "pympler"),
    "new": ("asv==0.6.6", "asv_runner==0.3.2", "pympler"),
}
# How often a setup runs: once for the two calls of a sample, or before each call.
PATTERN = {"old": "s c c t", "new": "s c t"}
CONF = {
    "version": 1,
    "project": "it",
    "repo": ".",
    "branches": ["main"],
    "benchmark_dir": "benchmarks",
    "environment_type": "existing",
    "results_dir": "results",
}
MODULE = """\
import os
import time

from asv_runner.benchmarks.mark import SkipNotImplemented, skip_benchmark, skip_for_params

from .common import Base, log


def work():
    time.sleep(0.003)


def time_plain():
    work()


class TimeGrid:
    params = [[1, 2.5, None], ["a b", len]]
    param_names = ["n", "what"]

    def setup(self, n, what):
        if n is None and what == "a b":
            raise NotImplementedError("no")

    def time_grid(self, n, what):
        work()

    @skip_for_params([(1, "a b")])
    def time_partly(self, n, what):
        work()


class Pattern:
    number = 2
    repeat = 4
    warmup_time = 0

    def setup(self):
        log("s")

    def teardown(self):
        log("t")

    def time_pattern(self):
        log("c")


class Inherits(Base):
    params = [object(), object(), 3]

    def peakmem_some(self, value):
        return len(bytearray(40_000_000))


class Cached:
    def setup_cache(self):
        with open("beside.txt", "w") as file:
            file.write("12345")
        return list(range(100))

    def track_size(self, cache):
        return len(cache) + os.path.getsize("beside.txt")

    track_size.unit = "objects"

    def mem_list(self, cache):
        return [cache, {"a": 1}]

    def time_cached(self, cache):
        work()

    def track_skips(self, cache):
        raise SkipNotImplemented


def timeraw_it():
    return "time.sleep(0.003)", "import time"


@skip_benchmark
def time_never():
    raise AssertionError


def track_number():
    return 2.5


track_number.params = [(1,), (2, 3)]
track_number.params = []


def time_mine():
    work()


time_mine.benchmark_name = "elsewhere.time_mine"
time_mine.pretty_name = "Mine"
"""
COMMON = """\
import os
import time


def log(word):
    with open(os.environ["LOG"], "a") as file:
        file.write(f"{word} ")


class Base:
    def time_base(self, value):
        time.sleep(0.003)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    files = {
        "asv.conf.json": json.dumps(CONF),
        "benchmarks/__init__.py": "",
        "benchmarks/common.py": COMMON,
        "benchmarks/inner/__init__.py": "from ..it import time_plain",
        "benchmarks/it.py": MODULE,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "."),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message=a"),
    ):
        subprocess.run(["git", *words], cwd=root, check=True)  # noqa: S607 - the system's own
    return root


def installed(tmp_path: Path, packages: Sequence[str]) -> str:
    """Install packages into an environment; return its Python."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = str(tmp_path / "env" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True, timeout=200)
    return python


def run_asv(python: str, tree: Path, log: Path) -> dict[str, BenchmarkResult | str]:
    """Run asv itself; return by id what its files say, with the reason if it skipped one."""
    environ = {**os.environ, "LOG": str(log), "HOME": str(tree.parent)}
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"],  # noqa: S607 - the system's own
        cwd=tree,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()
    settings = [f"--attribute={each}" for each in ("rounds=1", "warmup_time=0.01", "repeat=4")]
    for words in (
        ["machine", "--yes"],
        ["run", f"--environment=existing:{python}", f"--set-commit-hash={head}", *settings],
    ):
        done = subprocess.run(
            [python, "-m", "asv", *words], cwd=tree, env=environ, check=False, timeout=200
        )
        assert done.returncode in {0, 2}  # 2: some are skipped
    files = {
        path.relative_to(tree / "results").as_posix(): path.read_bytes()
        for path in (tree / "results").rglob("*.json")
    }
    reading = asv.parse(ForeignFile("results", files=files))
    found: dict[str, BenchmarkResult | str] = {each.id: each for each in reading.benchmarks}
    return found | {each.partition(": asv skipped it")[0]: each for each in reading.skipped}


def hosted(python: str, tree: Path, log: Path, guardian: Guardian) -> Worker:
    setting = WorkerSetting(
        interpreter=(python,),
        file=tree / "benchmarks",
        path=[],
        cpus=None,
        forbidden=(),
        variables={"PATH": os.environ["PATH"], "LOG": str(log), **guardian.variables},
        layout=PLAIN,
        helpers=tree / "benchmarks",
        host="asv",
    )
    return Worker(Arm(ArmName.HEAD, tree, tree / "env"), setting, guardian, describe=True)


@pytest.mark.parametrize("age", VERSIONS)
def test_the_same_as_asv(age: str, tmp_path: Path, tree: Path, guardian: Guardian) -> None:
    python, log = installed(tmp_path, VERSIONS[age]), tmp_path / "log"
    theirs = run_asv(python, tree, log)
    patterns = {words_of(log)}
    worker = hosted(python, tree, log, guardian)
    try:
        hello = worker.ready(60)
        assert hello["faults"] == {}
        measures = {each["id"]: each["measures"] for each in hello["benchmarks"]}
        skipped = {id_ for id_, each in theirs.items() if isinstance(each, str)}
        assert measures.keys() | skipped == theirs.keys()
        for id_, what in measures.items():
            result = theirs[id_]
            if isinstance(result, str) or not result.series:
                with pytest.raises(WorkerFailedError) as caught:
                    value_of(worker, id_) if what == "value" else launch(worker, id_)
                assert isinstance(caught.value, WorkerSkippedError) is isinstance(result, str)
                worker.kill()
                worker = hosted(python, tree, log, guardian)
                worker.ready(60)
                continue
            value = result.series[0].launches[0].samples.min()
            if what == "time":
                log.unlink(missing_ok=True)
                replies = launch_time(worker, id_)
                ours_s = min(wall_ns for wall_ns, _ in replies["samples"]) / replies["loops"] / 1e9
                if "Pattern" in id_:
                    patterns.add(words_of(log))
                else:
                    assert 1 / 5 < ours_s / value < 5
            elif what == "peak_rss":
                assert value_of(worker, id_)[0] == pytest.approx(value, rel=0.6)
            else:
                assert value_of(worker, id_) == [value]
        assert patterns == {PATTERN[age]}
    finally:
        worker.kill()


def launch_time(worker: Worker, id_: str) -> dict[str, Any]:
    if "timeraw" not in id_:
        return launch(worker, id_, samples=3)
    worker.allow(30)
    loops = worker.ask("open", id_)["number"]
    worker.ask("loops", loops)
    samples = [worker.sample() for _ in range(2)]
    worker.ask("close")
    return {"loops": loops, "samples": samples}


def words_of(log: Path) -> str:
    """Return what is logged between a setup and its teardown most of the time."""
    found: list[str] = re.findall("s [^t]*t", log.read_text())
    return max(found, key=found.count)

"""Scripts of pyperf on two arms, with the pyperf of this environment."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.measure.benchmarks import sampling
from tests.measure.engines import Making, write

from benchgate.config.live_benchmarks import PyperfBenchmark
from benchgate.errors import UsageError
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.functions.engine import FunctionEngine
from benchgate.measure.trees.file_plan import Tree, plan
from benchgate.measure.trees.laying import LaidTree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.guardian import Guardian

BASE, HEAD = ArmName.BASE, ArmName.HEAD
SCRIPT = """\
import os
import sys

import pyperf

with open(os.environ["LOG"], "a") as file:
    file.write(f"{os.getpid()}\\n")


def work(n):
    return sum(range(n))


if __name__ == "__main__":
    runner = pyperf.Runner()
    runner.argparser.add_argument("--size", type=int, default=10)
    size = runner.parse_args().size
    runner.bench_func(f"work {size}", work, size)
    runner.bench_func("other", work, 20)
    runner.bench_command("command", [sys.executable, "-c", "pass"])
"""


def scripts(*paths: str, **keys: Any) -> PyperfBenchmark:  # noqa: ANN401 - of any type
    return PyperfBenchmark.model_validate({"pyperf": list(paths), **keys})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The process ids in which the script has run."""
    return tmp_path / "log"


@dataclass
class MakeEngine(Making):
    """Makes engines on two trees with the same files."""

    log: Path

    def __call__(self, files: Mapping[str, str], *benchmarks: PyperfBenchmark) -> FunctionEngine:
        arms = []
        for name in (BASE, HEAD):
            root = self.folder / name / "tree"
            write(root, files)
            arms.append(
                Arm(name, root, self.folder / f"{name}-env", variables=self.guardian.variables)
            )
        settings = EngineSettings(
            measure=sampling(3, 3 * 200e-6, 1),
            cpu=None,
            unpinned="",
            all_cpus=frozenset(),
            interpreter=sys.executable,
            outside=StartingEnvironment(
                {"PATH": os.environ["PATH"], "LOG": str(self.log)}, self.folder / "checkout"
            ),
        )
        engine = FunctionEngine(
            dict.fromkeys((BASE, HEAD), benchmarks), arms, settings, self.guardian
        )
        return self.keep(engine)


@pytest.fixture
def make_engine(tmp_path: Path, log: Path, guardian: Guardian) -> Iterator[MakeEngine]:
    making = MakeEngine(tmp_path, guardian, log)
    yield making
    making.close()


def ids_of(engine: FunctionEngine) -> list[str]:
    discovery = engine.discover()
    assert discovery.failures == ()
    assert discovery.found[BASE] == discovery.found[HEAD]
    return [each.id for each in discovery.found[HEAD]]


def measure(engine: FunctionEngine, ids: list[str]) -> list[Observation]:
    return list(engine.measure_round(ids, random.Random(1), 0))  # noqa: S311 - repeatable


def metrics_of(observation: Observation) -> set[str]:
    assert observation.error is None
    return {measured.metric.name for measured in observation.metrics}


def test_each_benchmark_is_measured_on_both_arms(make_engine: MakeEngine) -> None:
    engine = make_engine({"script.py": SCRIPT}, scripts("script.py"))
    assert ids_of(engine) == ["work 10", "other", "command"]
    found = measure(engine, ["work 10", "command"])
    by_id = {(each.arm, each.benchmark): metrics_of(each) for each in found}
    assert len(by_id) == 4
    for arm in (BASE, HEAD):
        assert {"time", "alloc_peak"} < by_id[arm, "work 10"]
        # The memory of this process is not the command's.
        assert by_id[arm, "command"] == {"time", "cpu_time"}


@pytest.mark.parametrize("isolate", [True, False])
def test_each_benchmark_has_a_process_of_its_own(
    make_engine: MakeEngine, log: Path, *, isolate: bool
) -> None:
    keys = {} if isolate else {"isolate": False}
    engine = make_engine({"script.py": SCRIPT}, scripts("script.py", **keys))
    engine.discover()
    log.unlink()
    measure(engine, ["work 10", "other"])
    processes = log.read_text().split()
    assert len(processes) == 4
    assert len(set(processes)) == (4 if isolate else 2)


def test_arguments_and_groups_tell_tables_apart(make_engine: MakeEngine) -> None:
    engine = make_engine(
        {"script.py": SCRIPT},
        scripts("script.py", isolate=False),
        scripts("script.py", group="big/one", arguments="--size 1000", isolate=False),
    )
    names = [("work 10", "other", "command"), ("work 1000", "other", "command")]
    ids = [*names[0], *(f"big/one/{name}" for name in names[1])]
    assert ids_of(engine) == ids
    for each in measure(engine, ids):
        metrics_of(each)


def test_other_arguments_are_other_work(make_engine: MakeEngine) -> None:
    one, two = (
        make_engine({"script.py": SCRIPT}, scripts("script.py", arguments=text)).discover()
        for text in ("", "--size 10")
    )
    assert one.found[HEAD][0].id == two.found[HEAD][0].id
    assert one.found[HEAD][0].workload != two.found[HEAD][0].workload


def test_two_scripts_with_the_same_names_need_a_group(make_engine: MakeEngine) -> None:
    files = {"one.py": SCRIPT, "two.py": SCRIPT}
    failures = make_engine(files, scripts("one.py", "two.py")).discover().failures
    assert {each.id for each in failures} == {"two.py"}
    assert "two benchmarks have the id work 10 (two.py and one.py)" in failures[0].error
    assert "another `group`" in failures[0].error


def test_a_script_that_fails_leaves_the_others(make_engine: MakeEngine) -> None:
    engine = make_engine({"one.py": "1 / 0\n", "two.py": SCRIPT}, scripts("one.py", "two.py"))
    discovery = engine.discover()
    assert [(each.arm, each.id) for each in discovery.failures] == [
        (BASE, "one.py"),
        (HEAD, "one.py"),
    ]
    assert len(discovery.found[HEAD]) == 3


@pytest.mark.parametrize("path", ["no.py", "folder"])
def test_a_path_must_be_a_file(make_engine: MakeEngine, path: str) -> None:
    engine = make_engine({"folder/script.py": SCRIPT}, scripts(path))
    with pytest.raises(UsageError) as caught:
        engine.discover()
    assert f'[[benchmark]] pyperf = "{path}" is not a file' in caught.value.message


def test_the_heads_script_can_be_lent(tmp_path: Path) -> None:
    head, base = (Arm(name, tmp_path / name, tmp_path / "env") for name in (HEAD, BASE))
    for arm in (head, base):
        folder = arm.root / "perf"
        folder.mkdir(parents=True)
        (folder / "script.py").write_text(f"of {arm.name}")
        (folder / "helper.py").write_text(f"of {arm.name}")
        (arm.root / "code.py").write_text(f"of {arm.name}")
    planned = plan(Tree(head), Tree(base), [scripts("perf/script.py")])
    LaidTree(base.root, head.root, planned, tmp_path / "store").lay(laid=True)
    names = ("perf/script.py", "perf/helper.py", "code.py")
    texts = [(base.root / name).read_text() for name in names]
    assert texts == ["of head", "of head", "of base"]

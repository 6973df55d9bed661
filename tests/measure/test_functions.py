from __future__ import annotations

import math
import os
import random
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.measure.benchmarks import OWN_TIME, TAKEN, functions, sampling
from tests.measure.engines import Making, write

from benchgate._worker import PROGRAM
from benchgate.errors import UsageError
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.engine import Division, ignore
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.functions.engine import FunctionEngine
from benchgate.measure.functions.grouping import divide, together
from benchgate.measure.functions.interpreter import settings_of
from benchgate.measure.machine.cpus import supports_pinning
from benchgate.measure.machine.memory_layout import REGION_BYTES, fixed_addresses
from benchgate.stats.timer import Timer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchgate.config import PythonBenchmark
    from benchgate.measure.contract.described import Described
    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.guardian import Guardian
    from benchgate.model.run import Series

BASE, HEAD = ArmName.BASE, ArmName.HEAD
BENCHES = {
    "benchmarks/bench_it.py": "def bench_a(): sum(range(100))\ndef bench_b(): sorted('ab')\n"
}


@pytest.mark.parametrize(
    ("costs", "share", "parts"),
    [
        ([1, 1, 1, 1], math.inf, ["abcd"]),
        ([1, 1, 1, 1], 2, ["ab", "cd"]),
        ([1, 1, 1, 1], 3, ["abc", "d"]),
        ([1, 1, 1, 1], 1.4, ["a", "b", "c", "d"]),
        ([9, 1, 1, 1], 6, ["a", "bcd"]),
        ([1, 1, 1, 9], 6, ["abc", "d"]),
        ([1], 0.5, ["a"]),
        ([0, 0], 0, ["ab"]),
    ],
)
def test_a_group_is_cut_into_parts_of_about_the_same_cost(
    costs: list[float], share: float, parts: list[str]
) -> None:
    assert ["".join(part) for part in divide("abcd"[: len(costs)], costs, share)] == parts


def test_tests_of_one_file_and_of_one_class_follow_each_other() -> None:
    names = [
        "b.py::test_2",
        "a.py::C::test_1",
        "b.py::D::test_1[::]",
        "a.py::test_2",
        "b.py::test_1",
    ]
    ranks = dict(zip(names, together(names), strict=True))
    assert sorted(names, key=ranks.__getitem__) == [
        *("b.py::test_2", "b.py::test_1", "b.py::D::test_1[::]"),
        *("a.py::test_2", "a.py::C::test_1"),
    ]
    assert len(set(together(["parse[n=2]", "parse[n=1]", "dump"]))) == 1


def living_workers() -> int:
    """How many workers this process has started that live."""
    command = ["ps", "-e", "-ww", "-o", "ppid=,stat=,args="]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in table.splitlines()]
    mine = [row for row in rows if row[0] == str(os.getpid()) and not row[1].startswith("Z")]
    return sum(str(PROGRAM) in row[-1] for row in mine)


@dataclass
class MakeEngine(Making):
    """Makes engines on trees with the same files; `head` are the head's instead or beside."""

    def __call__(
        self,
        files: Mapping[str, str],
        *specs: PythonBenchmark,
        head: Mapping[str, str] | None = None,
        arms: Iterable[ArmName] = (BASE, HEAD),
        warmup: int | None = 3,
        environ: Mapping[str, str] | None = None,
        samples: int = 10,
        cpu: int | None = None,
        interpreter: str = sys.executable,
        aliases: Mapping[str, str] | None = None,
        base_specs: Sequence[PythonBenchmark] | None = None,
        lead: ArmName = HEAD,
        brief: bool = False,
        described: dict[tuple[str, ...], Described] | None = None,
        traces: Callable[[str], bool] = lambda _: True,
    ) -> FunctionEngine:
        trees = []
        for name in arms:
            root = self.folder / name / "tree"
            write(root, {**files, **((head or {}) if name is HEAD else {})})
            trees.append(
                Arm(
                    name, root, self.folder / f"{name}-env", variables=dict(self.guardian.variables)
                )
            )
        settings = EngineSettings(
            measure=sampling(samples, samples * 200e-6, warmup),
            cpu=cpu,
            unpinned="" if cpu is not None else "not pinned: no CPU was chosen",
            all_cpus=frozenset(os.sched_getaffinity(0)) if supports_pinning() else frozenset(),
            interpreter=interpreter,
            outside=StartingEnvironment(
                {"PATH": os.environ["PATH"], **(environ or {})}, self.folder / "checkout"
            ),
            aliases=aliases or {},
            lead=lead,
            brief=brief,
            described={} if described is None else described,
            traces=traces,
        )
        some = specs or [functions("benchmarks")]
        by_arm: dict[ArmName, Sequence[PythonBenchmark]] = dict.fromkeys(arms, some)
        if base_specs is not None:
            by_arm[BASE] = base_specs
        engine = FunctionEngine(by_arm, trees, settings, self.guardian)
        return self.keep(engine)


@pytest.fixture
def make_engine(tmp_path: Path, guardian: Guardian) -> Iterator[MakeEngine]:
    making = MakeEngine(tmp_path, guardian)
    yield making
    making.close()


def discovered(engine: FunctionEngine) -> list[str]:
    """Every id of any arm; nothing may have failed."""
    discovery = engine.discover()
    assert discovery.failures == ()
    return list(dict.fromkeys(d.id for found in discovery.found.values() for d in found))


def measure(engine: FunctionEngine, ids: Sequence[str], round_index: int = 0) -> list[Observation]:
    rng = random.Random(round_index)  # noqa: S311 - repeatable on purpose
    return list(engine.measure_round(ids, rng, round_index))


def metrics_of(observation: Observation) -> dict[str, Series]:
    assert observation.error is None
    return {measured.metric.name: measured for measured in observation.metrics}


def logging_file(tmp_path: Path, source: str) -> str:
    log = f"""
import os, sys
def log(*words):
    with open({str(tmp_path / "log")!r}, "a") as file:
        print(*words, sep="|", file=file)
ARM = os.path.basename(os.path.dirname(os.getcwd()))
"""
    return log + source


def log_of(tmp_path: Path) -> list[list[str]]:
    file = tmp_path / "log"
    return [line.split("|") for line in file.read_text().splitlines()] if file.exists() else []


# What a round gives


def test_a_round_gives_each_arm_a_launch_of_each_benchmark(make_engine: MakeEngine) -> None:
    engine = make_engine(BENCHES)
    assert discovered(engine) == ["it/a", "it/b"]
    for round_index in range(3):
        observations = measure(engine, ["it/b", "it/a"], round_index)
        assert [o.benchmark for o in observations] == ["it/b", "it/b", "it/a", "it/a"]
        for base, head in (observations[:2], observations[2:]):
            assert {base.arm, head.arm} == {BASE, HEAD}
            assert [base.order, head.order] == [0, 1]
            one, other = metrics_of(base), metrics_of(head)
            assert one["time"].loops == other["time"].loops > 1
            for name in ("time", "cpu_time"):
                for measured in (one[name], other[name]):
                    assert measured.launches[0].samples.shape == (10,)
                    assert measured.launches[0].warmup.shape == (3,)
                    assert (measured.launches[0].samples > 0).all()
                    assert (measured.launches[0].samples < 0.1).all()
            assert ("alloc_peak" in one) == ("alloc_blocks" in other) == (round_index == 0)


def test_allocations_are_traced_where_somebody_wants_them(make_engine: MakeEngine) -> None:
    engine = make_engine(BENCHES, traces=lambda id_: id_ == "it/a")
    discovered(engine)
    for one in measure(engine, ["it/b", "it/a"], 0):
        assert ("alloc_peak" in metrics_of(one)) == (one.benchmark == "it/a")


RENAMED = {
    "it/before": "it/after",
    "it/kept": "moved/kept",
    "it/gone": "it/nowhere",
    "it/b": "it/c",
}


def test_what_the_head_renamed_is_one_benchmark(make_engine: MakeEngine) -> None:
    work = "def bench_{}():\n    return sum(range(500))\n"
    engine = make_engine(
        {"benchmarks/bench_it.py": "".join(map(work.format, ("before", "kept", "gone", "b")))},
        head={
            "benchmarks/bench_it.py": "".join(map(work.format, ("after", "b", "c"))),
            "benchmarks/bench_moved.py": work.format("kept"),
        },
        aliases=RENAMED,
    )
    discovery = engine.discover()
    found = {
        arm: {d.id: (d.renamed_from, d.workload) for d in definitions}
        for arm, definitions in discovery.found.items()
    }
    (workload,) = {workload for ds in found.values() for _, workload in ds.values()}
    assert found[BASE] == {
        "it/b": (None, workload),
        "it/gone": (None, workload),
        "it/after": ("it/before", workload),
        "moved/kept": ("it/kept", workload),
    }
    assert found[HEAD] == dict.fromkeys(
        ("it/after", "it/b", "it/c", "moved/kept"), (None, workload)
    )
    for round_index in range(2):
        ids = ["it/after", "moved/kept", "it/b"]
        observations = measure(engine, ids, round_index)
        assert sorted((o.benchmark, o.arm) for o in observations) == sorted(
            (id_, arm) for id_ in ids for arm in (BASE, HEAD)
        )
        for id_ in ids:
            loops = {metrics_of(o)["time"].loops for o in observations if o.benchmark == id_}
            assert len(loops) == 1


def test_loops_are_calibrated_once(make_engine: MakeEngine) -> None:
    engine = make_engine(BENCHES)
    discovered(engine)
    loops = {
        metrics_of(observation)["time"].loops
        for round_index in range(3)
        for observation in measure(engine, ["it/a"], round_index)
    }
    assert len(loops) == 1


def with_clock(tmp_path: Path, code: str) -> str:
    """Make an interpreter that runs code before benchgate's worker; return its path."""
    folder = tmp_path / "clock"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(f"import itertools, time\n{code}\n{TAKEN}")
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    return str(python)


def with_own_time(tmp_path: Path) -> PythonBenchmark:
    """Benchmarks for which time passes only if their code adds to `time.now_ns`."""
    return functions("benchmarks", interpreter=with_clock(tmp_path, OWN_TIME))


@pytest.mark.parametrize(
    ("slow_calls", "slow_ns"),
    [
        ((1, 1), 300_000_000),
        ((3, 3), 5_000_000),
        ((5, 5), 5_000_000),
        ((2, 2), 300_000_000),
        ((0, 2), 300_000_000),
        ((2, 0), 900_000_000),
    ],
)
def test_slow_first_calls_do_not_settle_the_samples(
    slow_calls: tuple[int, int], slow_ns: int, make_engine: MakeEngine, tmp_path: Path
) -> None:
    base, head = (
        {
            "benchmarks/bench_it.py": f"""
import time
PAUSES_NS = {count} * [{slow_ns}]
def bench_a(): time.now_ns += PAUSES_NS.pop() if PAUSES_NS else 100_000
"""
        }
        for count in slow_calls
    )
    engine = make_engine(base, with_own_time(tmp_path), head=head)
    discovered(engine)
    for observation in measure(engine, ["it/a"]):
        found = metrics_of(observation)["time"]
        # A sample should take 200 us.
        assert (found.loops, found.launches[0].samples.shape) == (2, (10,))
        assert found.launches[0].samples.max() < 110e-6


def test_the_arm_with_the_shortest_samples_is_noted(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    def source(call_ns: int) -> dict[str, str]:
        work = f"import time\ndef bench_a(): time.now_ns += {call_ns}\n"
        return {"benchmarks/bench_it.py": work}

    engine = make_engine(source(100), with_own_time(tmp_path), head=source(50_000_000))
    discovered(engine)
    for observation in measure(engine, ["it/a"]):
        (note,) = observation.notes
        assert note == (
            "reading the clock costs 50 ns, 33.3 % of a sample of 150 ns: "
            "the other side is too slow for more calls in a sample"
        )


@pytest.mark.parametrize(
    ("first_ns", "warmups"), [(300_000_000, 0), (650_000_000, 0), (900_000_000, 1)]
)
def test_slow_work_is_warmed_up_if_its_first_call_takes_longer(
    first_ns: int, warmups: int, make_engine: MakeEngine, tmp_path: Path
) -> None:
    source = f"""
import time
PAUSES_NS = [{first_ns}]
def bench_a():
    time.sleep(0.02)
    time.now_ns += PAUSES_NS.pop() if PAUSES_NS else 600_000_000
"""
    files = {"benchmarks/bench_it.py": source}
    engine = make_engine(files, with_own_time(tmp_path))
    discovered(engine)
    for index in range(2):
        for observation in measure(engine, ["it/a"], index):
            found = metrics_of(observation)["time"]
            assert (len(found.launches[0].warmup), len(found.launches[0].samples)) == (warmups, 1)
            # Calibration and the tracing of allocations, on both arms: three calls.
            once_s = observation.once_s
            assert once_s >= 2 * 3 * 0.02 if index == 0 else once_s == 0


def test_a_launch_that_is_slow_to_start_takes_more_samples(make_engine: MakeEngine) -> None:
    source = "import time\ntime.sleep(0.5)\ndef bench_a(): time.sleep(0.005)\n"
    engine = make_engine({"benchmarks/bench_it.py": source}, samples=45)
    discovered(engine)
    for observation in measure(engine, ["it/a"]):
        assert len(metrics_of(observation)["time"].launches[0].samples) > 4 * 9 / 5, (
            "a launch's time is 9 ms"
        )


def test_the_arms_share_the_loops_that_the_faster_one_needs(make_engine: MakeEngine) -> None:
    def source(size: int) -> dict[str, str]:
        return {"benchmarks/bench_it.py": f"def bench_a(): sum(range({size}))\n"}

    engine = make_engine(source(10), head=source(1000))
    discovered(engine)
    base, head = sorted(measure(engine, ["it/a"]), key=lambda observation: observation.arm)
    assert metrics_of(base)["time"].loops == metrics_of(head)["time"].loops > 10
    assert len(metrics_of(base)["time"].launches[0].samples) == len(
        metrics_of(head)["time"].launches[0].samples
    )


def test_the_arms_start_in_an_order_that_is_balanced_over_rounds(make_engine: MakeEngine) -> None:
    engine = make_engine(BENCHES)
    discovered(engine)
    first = [measure(engine, ["it/a"], index)[0].arm for index in range(4)]
    assert Counter(first) == {BASE: 2, HEAD: 2}
    assert first[0] is first[3]


def test_the_time_is_that_of_one_call(make_engine: MakeEngine) -> None:
    source = "import time\ndef bench_a(): time.sleep(0.02)\nbench_a.number = 3\n"
    engine = make_engine({"benchmarks/bench_it.py": source}, samples=4)
    discovered(engine)
    for observation in measure(engine, ["it/a"]):
        found = metrics_of(observation)
        assert found["time"].loops == 3
        assert (found["time"].launches[0].samples >= 0.02).all()
        assert np.min(found["time"].launches[0].samples) < 0.06
        assert (found["cpu_time"].launches[0].samples < found["time"].launches[0].samples).all()


def test_a_heavier_head_shows_in_every_metric(make_engine: MakeEngine) -> None:
    def source(size: int) -> dict[str, str]:
        return {"benchmarks/bench_it.py": f"def bench_a(): return list(range({size}))\n"}

    engine = make_engine(
        source(100_000), functions("benchmarks", isolate=True), head=source(2_000_000)
    )
    discovered(engine)
    found = {o.arm: metrics_of(o) for o in measure(engine, ["it/a"])}
    for name in ("time", "cpu_time", "peak_rss", "alloc_peak", "alloc_blocks"):
        assert found[HEAD][name].launches[0].samples.min() > np.median(
            found[BASE][name].launches[0].samples
        ), name


@pytest.mark.skipif(not supports_pinning(), reason="only what is pinned can be halted")
def test_a_round_after_one_that_was_halted_is_measured(make_engine: MakeEngine) -> None:
    cpu = min(os.sched_getaffinity(0))
    engine = make_engine(BENCHES, cpu=cpu)
    ids = discovered(engine)
    rng = random.Random(0)  # noqa: S311 - repeatable on purpose
    task, *_ = engine.tasks(ids, rng, 0, Division())
    assert task.halt
    task.halt()
    assert all(one.error for one in task.run(cpu, ignore))
    assert not any(one.error for one in measure(engine, ids))


def test_one_arm_is_measured_alone(make_engine: MakeEngine) -> None:
    engine = make_engine(BENCHES, arms=[HEAD])
    discovered(engine)
    (observation,) = measure(engine, ["it/a"])
    assert (observation.arm, observation.order) == (HEAD, 0)
    assert metrics_of(observation)["time"].launches[0].samples.shape == (10,)


def test_a_benchmark_of_one_arm_is_measured_there(make_engine: MakeEngine) -> None:
    only = {"benchmarks/bench_new.py": "def bench_n(): ...\n"}
    also = {"benchmarks/bench_it.py": "def bench_a(): ...\ndef bench_c(): ...\n"}
    engine = make_engine(BENCHES, head={**only, **also})
    assert set(discovered(engine)) == {"it/a", "it/b", "it/c", "new/n"}
    found = measure(engine, ["it/a", "it/b", "it/c", "new/n"])
    assert Counter((o.benchmark, o.arm) for o in found if metrics_of(o)) == Counter(
        [("it/a", BASE), ("it/a", HEAD), ("it/b", BASE), ("it/c", HEAD), ("new/n", HEAD)]
    )


def test_auto_warm_up_is_settled_in_the_first_launch(make_engine: MakeEngine) -> None:
    engine = make_engine(BENCHES, warmup=None, samples=12)
    discovered(engine)
    counts = []
    for index in range(2):
        base, head = measure(engine, ["it/a"], index)
        counts.append(len(metrics_of(base)["time"].launches[0].warmup))
        assert len(metrics_of(head)["time"].launches[0].warmup) == counts[-1]
    assert counts[0] == counts[1]
    assert 10 <= counts[0] <= 60


def test_no_warm_up(make_engine: MakeEngine) -> None:
    engine = make_engine(BENCHES, warmup=0)
    discovered(engine)
    for observation in measure(engine, ["it/a"]):
        assert metrics_of(observation)["time"].launches[0].warmup.shape == (0,)


# What both arms share, and what they do not


def test_the_hash_seed_is_shared_in_a_round_and_changes(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    source = 'def bench_a(): ...\nbench_a.setup = lambda: log(ARM, os.environ["PYTHONHASHSEED"])\n'
    engine = make_engine({"benchmarks/bench_it.py": logging_file(tmp_path, source)})
    discovered(engine)
    for index in range(3):
        measure(engine, ["it/a"], index)
    seeds = {arm: [seed for name, seed in log_of(tmp_path) if name == arm] for arm in (BASE, HEAD)}
    assert seeds[BASE] == seeds[HEAD]
    assert len(set(seeds[BASE])) == 3


def test_places_in_regions_are_shared_in_a_round_and_change(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    with fixed_addresses() as fixed:
        if not fixed:
            pytest.skip("this machine does not let addresses be fixed")
    source = """
def bench_a(): ...
bench_a.setup = lambda: log(ARM, id(LIST), id(bytearray(10000)), id(bytearray(10**6)), id(sys))
LIST = [1, 2, 3]
"""
    engine = make_engine({"benchmarks/bench_it.py": logging_file(tmp_path, source)})
    discovered(engine)
    for index in range(3):
        measure(engine, ["it/a"], index)
    # Python maps the next arena of objects after the gap, whose regions differ.
    found = {
        arm: [
            [int(at) % REGION_BYTES for at in rest]
            for name, *rest in log_of(tmp_path)
            if name == arm
        ]
        for arm in (BASE, HEAD)
    }
    assert found[BASE] == found[HEAD]
    assert len({tuple(places) for places in found[BASE]}) == 3


def test_libraries_of_both_arms_lie_whole_regions_apart(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    with fixed_addresses() as fixed:
        if not fixed:
            pytest.skip("this machine does not let addresses be fixed")
    source = """
import _decimal
def bench_a(): ...
maps = open("/proc/self/maps").read().splitlines()
found = [line.partition("-")[0] for line in maps if "_decimal" in line]
bench_a.setup = lambda: log(ARM, int(found[0] if found else "0", 16))
"""
    engine = make_engine({"benchmarks/bench_it.py": logging_file(tmp_path, source)})
    discovered(engine)
    for index in range(4):
        measure(engine, ["it/a"], index)
    found = {arm: [int(at) for name, at in log_of(tmp_path) if name == arm] for arm in (BASE, HEAD)}
    if 0 in found[BASE]:
        pytest.skip("in this Python, _decimal is not a library")
    apart = [head - base for base, head in zip(found[BASE], found[HEAD], strict=True)]
    assert 0 not in apart
    assert {gap % REGION_BYTES for gap in apart} == {0}
    assert len({at % REGION_BYTES for at in found[BASE]}) > 1


def test_the_arms_environments_differ_in_nothing_but_the_name_of_the_arm(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    source = """
def prepare():
    log(ARM, "size", len(sys.argv[0]), sum(len(k) + len(v) for k, v in os.environ.items()))
    mine, path = os.environ["MINE"], os.environ["PYTHONPATH"]
    log(ARM, "places", os.environ["PWD"] == os.getcwd(), mine, path)
def bench_a(): ...
bench_a.setup = prepare
"""
    spec = functions("benchmarks", env={"MINE": "{root}/x {env}"})
    inherited = {"PWD": "/elsewhere", "OLDPWD": "/x", "PYTHONPATH": "/inherited"}
    files = {"benchmarks/bench_it.py": logging_file(tmp_path, source), "src/x.py": ""}
    engine = make_engine(files, spec, environ=inherited)
    discovered(engine)
    measure(engine, ["it/a"])
    logged = {(arm, what): rest for arm, what, *rest in log_of(tmp_path)}
    assert logged[BASE, "size"] == logged[HEAD, "size"]
    for arm in (BASE, HEAD):
        root = tmp_path / arm / "tree"
        assert logged[arm, "places"] == [
            "True",
            f"{root}/x {tmp_path}/{arm}-env",
            f"{root}/src:{root}:/inherited",
        ]


@pytest.mark.skipif(not supports_pinning(), reason="the OS does not bind processes to CPUs")
def test_both_arms_are_pinned_unless_a_benchmark_is_parallel(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    source = """
# As libraries do that size their pools when they are imported.
AT_IMPORT = sorted(os.sched_getaffinity(0))
def bench_pinned(): ...
def bench_parallel(): ...
bench_parallel.parallel = True
bench_pinned.setup = lambda: log("pinned", AT_IMPORT, sorted(os.sched_getaffinity(0)))
bench_parallel.setup = lambda: log("parallel", AT_IMPORT, sorted(os.sched_getaffinity(0)))
"""
    cpus = sorted(os.sched_getaffinity(0))
    engine = make_engine({"benchmarks/bench_it.py": logging_file(tmp_path, source)}, cpu=cpus[-1])
    notes = {d.id: d.notes for d in engine.discover().found[HEAD]}
    assert notes == {
        "it/pinned": (),
        "it/parallel": ("not pinned: it is marked parallel",),
    }
    measure(engine, list(notes))
    assert Counter(map(tuple, log_of(tmp_path))) == {
        ("pinned", str([cpus[-1]]), str([cpus[-1]])): 2,
        ("parallel", str(cpus), str(cpus)): 2,
    }


def test_says_why_nothing_is_pinned(make_engine: MakeEngine) -> None:
    (first, *_) = make_engine(BENCHES).discover().found[HEAD]
    assert first.notes == ("not pinned: no CPU was chosen",)


def test_benchmarks_of_a_file_share_their_processes_unless_isolated(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    source = """
def bench_a(): ...
def bench_b(): ...
bench_a.setup = bench_b.setup = lambda: log(ARM, os.getpid())
"""
    files = {"benchmarks/bench_it.py": logging_file(tmp_path, source)}
    for isolate, processes in ((False, 2), (True, 4)):
        (tmp_path / "log").unlink(missing_ok=True)
        engine = make_engine(files, functions("benchmarks", isolate=isolate))
        discovered(engine)
        measure(engine, ["it/a", "it/b"])
        logged = log_of(tmp_path)
        assert len(logged) == 4
        assert len({pid for _, pid in logged}) == processes


def test_what_is_not_compared_reaches_nothing_that_is(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    source = """
def bench_a(): ...
def bench_b(): ...
bench_a.setup = lambda: log(ARM, "a")
bench_b.setup = lambda: log(ARM, "b")
def bench_changed(): ...
bench_changed.setup = lambda: log(ARM, "changed")
"""
    added = """
def bench_new(): ...
bench_new.setup = lambda: log(ARM, "new")
bench_changed.number = 7
"""
    engine = make_engine(
        {"benchmarks/bench_it.py": logging_file(tmp_path, source)},
        head={"benchmarks/bench_it.py": logging_file(tmp_path, source + added)},
    )
    discovered(engine)
    observations = measure(engine, ["it/new", "it/b", "it/changed", "it/a"])
    order = list(dict.fromkeys(o.benchmark for o in observations))
    assert order == ["it/b", "it/a", "it/new", "it/changed"]
    assert [name for arm, name in log_of(tmp_path) if arm == HEAD] == ["b", "a", "new", "changed"]


def test_an_interpreter_of_its_own_with_options_and_spaces(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    source = (
        "def bench_a(): ...\nbench_a.setup = lambda: log(ARM, sys.executable, sys.flags.optimize)\n"
    )
    for arm in (BASE, HEAD):
        # An environment of an arm is used without being asked for, too.
        bin_folder = tmp_path / f"{arm}-env" / "bin"
        bin_folder.mkdir(parents=True)
        for name in ("python", "my python"):
            (bin_folder / name).write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
            (bin_folder / name).chmod(0o755)
    files = {"benchmarks/bench_it.py": logging_file(tmp_path, source)}
    spec = functions("benchmarks", interpreter="'{env}/bin/my python' -O")
    for engine in (make_engine(files, spec), make_engine(files)):
        discovered(engine)
        measure(engine, ["it/a"])
    assert [optimize for *_, optimize in log_of(tmp_path)] == ["1", "1", "0", "0"]


def test_a_shim_is_asked_once_which_interpreter_it_stands_for(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    shim, used = tmp_path / "shim", tmp_path / "used"
    shim.write_text(f'#!/bin/sh\necho >> {used}\nexec {shlex.quote(sys.executable)} "$@"\n')
    shim.chmod(0o755)
    engine = make_engine(BENCHES, interpreter=str(shim))
    discovered(engine)
    assert used.read_text() == "\n" * 2
    for index in range(2):
        assert all(o.error is None for o in measure(engine, ["it/a"], index))
    assert used.read_text() == "\n" * 2


# Failures


BAD = """
import ctypes, os, subprocess, sys, threading, time
def bench_fine_1(): ...
def bench_fine_2(): ...
def bench_exit(): print("gone"); os._exit(3)
def bench_sys_exit(): print("gone"); sys.exit(3)
def bench_crash(): print("gone", flush=True); ctypes.string_at(0)
def bench_kill(): print("gone"); os.kill(os.getpid(), 9)
def bench_hang(): print("gone"); time.sleep(999)
def bench_fork(): print("gone"); os.fork()
def bench_raise(): print("gone"); raise ValueError
def bench_half(): print("gone"); 1 / (0 if "head" in os.getcwd() else 1)
"""
FAILING = {
    "exit": "exited with code 3",
    "sys_exit": "SystemExit: 3",
    "crash": "SIGSEGV",
    "kill": "SIGKILL",
    "hang": "timed out",
    "fork": "it forked",
    "raise": "ValueError",
    "half": "ZeroDivisionError",
}


def test_what_fails_spoils_nothing_else(
    make_engine: MakeEngine, skip_time: Callable[[float], str]
) -> None:
    spec = functions("benchmarks", timeout_s=6.0)
    bad = BAD.replace("time.sleep(999)", f"{skip_time(100)}; time.sleep(999)")
    engine = make_engine({"benchmarks/bench_bad.py": bad}, spec)
    ids = discovered(engine)
    rng = random.Random(5)  # noqa: S311 - repeatable on purpose
    for index in range(2):
        rng.shuffle(ids)
        observations = measure(engine, ids, index)
        assert set(ids) == {o.benchmark for o in observations}
        for name, line in FAILING.items():
            every = [o for o in observations if o.benchmark == f"bad/{name}"]
            assert every[-1].arm is HEAD, "also where the base was first and failed"
            for failed in every:
                assert failed.error is not None
                assert line in failed.error.splitlines()[0]
                assert "gone" in failed.error
                assert failed.metrics == ()
            if name == "half":
                assert len(every) == 1
        for name in ("fine_1", "fine_2"):
            fine = [o for o in observations if o.benchmark == f"bad/{name}"]
            assert {o.arm for o in fine if metrics_of(o)} == {BASE, HEAD}
    engine.close()
    assert living_workers() == 0


LOGGED = """
with open("{log}", "a") as log: log.write("import ")
def bench_a():
    with open("{log}", "a") as log: log.write("call ")
def bench_b(): raise ValueError
"""


def test_a_trial_calls_each_function_once_and_what_it_imported_is_known_afterwards(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    files = {"benchmarks/bench_it.py": LOGGED.format(log=log)}
    described: dict[tuple[str, ...], Described] = {}
    trial = make_engine(files, arms=[BASE], brief=True, described=described)
    found = measure(trial, discovered(trial))
    assert {one.benchmark: (one.error or "").partition("\n")[0] for one in found} == {
        "it/a": "",
        "it/b": "ValueError",
    }
    assert log.read_text().split().count("call") == 1
    log.unlink()
    again = make_engine(files, functions("./benchmarks"), described=described)
    assert discovered(again) == ["it/a", "it/b"]
    assert log.read_text().split() == ["import"], "only in the head"


SLOW = """
import time
def bench_slow():
    {call}
    time.sleep(1.3)
bench_slow.number = {number}
"""


@pytest.mark.parametrize(("number", "calls"), [(1, [2, 1]), (2, [4, 2])])
def test_the_time_limit_is_for_a_call_and_a_slow_one_is_a_launch(
    make_engine: MakeEngine,
    tmp_path: Path,
    skip_time: Callable[[float], str],
    number: int,
    calls: list[int],
) -> None:
    source = SLOW.format(call=skip_time(1.3), number=number)
    log = tmp_path / "skips"
    engine = make_engine({"benchmarks/bench_it.py": source}, functions("benchmarks", timeout_s=2.0))
    ids = discovered(engine)
    before = 0
    for index, each in enumerate(calls):
        found = measure(engine, ids, index)
        assert [len(metrics_of(one)["time"].launches[0].samples) for one in found] == [1, 1]
        assert all(not one.metrics[0].launches[0].warmup.size for one in found)
        after = log.stat().st_size
        assert after - before == 2 * each, "each side"
        before = after
    engine.close()


RUDE = """
import gc, os, subprocess, sys, threading, time
STATE = os.getcwd(), dict(os.environ), gc.isenabled(), threading.active_count()
def clean():
    assert not sys.stdout.closed and sys.stdout is sys.__stdout__
    assert STATE == (os.getcwd(), dict(os.environ), gc.isenabled(), threading.active_count())
    try: os.waitpid(-1, os.WNOHANG)
    except ChildProcessError: pass
    else: raise AssertionError("there are children")
def bench_fine_1(): ...
def bench_fine_2(): ...
bench_fine_1.setup = bench_fine_2.setup = clean
def bench_chdir(): os.chdir("/")
def bench_environment(): os.environ["LEFT"] = "x"
def bench_stdout():
    sys.stdout.write("x"); sys.stdout.flush()
    bench_stdout.teardown = sys.stdout.close
def bench_replace(): sys.stdout = open(os.devnull, "w")
def bench_gc(): gc.enable(); gc.disable()
def bench_threads(): threading.Thread(target=time.sleep, args=(999,)).start()
def bench_child():
    if os.fork() == 0:
        time.sleep(999)
        os._exit(0)
def bench_daemon(): subprocess.Popen(["sleep", "999"], start_new_session=True)
for f in (bench_threads, bench_child, bench_daemon, bench_replace):
    f.number = 1
"""


def test_rude_benchmarks_reach_no_other(make_engine: MakeEngine) -> None:
    engine = make_engine({"benchmarks/bench_rude.py": RUDE}, samples=2)
    ids = discovered(engine)
    rng = random.Random(9)  # noqa: S311 - repeatable on purpose
    for index in range(2):
        rng.shuffle(ids)
        observations = measure(engine, ids, index)
        assert [o.error for o in observations] == [None] * (2 * len(ids))


def test_nothing_is_left_after_many_rounds(make_engine: MakeEngine, tmp_path: Path) -> None:
    engine = make_engine(
        {
            "benchmarks/bench_it.py": BENCHES["benchmarks/bench_it.py"] + BAD,
            "benchmarks/bench_import.py": "raise ValueError",
        }
    )
    engine.discover()
    ids = ["it/a", "it/exit", "it/raise"]
    measure(engine, ids)
    descriptors = len(list(Path("/dev/fd").iterdir()))
    for index in range(6):
        measure(engine, ids, index)
    assert len(list(Path("/dev/fd").iterdir())) == descriptors
    assert living_workers() == 0
    assert {path.name for path in tmp_path.iterdir()} == {BASE, HEAD}


def test_an_abandoned_round_leaves_no_worker_once_closed(make_engine: MakeEngine) -> None:
    engine = make_engine(BENCHES)
    discovered(engine)
    round_ = engine.measure_round(["it/a", "it/b"], random.Random(1), 0)  # noqa: S311 - repeatable on purpose
    next(iter(round_))
    assert living_workers() == 2
    engine.close()
    assert living_workers() == 0


def test_a_round_that_ends_before_a_benchmark_leaves_no_worker(make_engine: MakeEngine) -> None:
    engine = make_engine(BENCHES)
    discovered(engine)

    def starting(id_: str) -> None:
        if id_ == "it/b":
            raise TimeoutError

    round_ = engine.measure_round(["it/a", "it/b"], random.Random(1), 0, starting)  # noqa: S311 - repeatable on purpose
    with pytest.raises(TimeoutError):
        list(round_)
    assert living_workers() == 0
    again = engine.measure_round(["it/a"], random.Random(2), 1)  # noqa: S311 - as above
    assert {one.error for one in again} == {None}


def test_a_file_that_cannot_be_read_fails_in_its_arm(make_engine: MakeEngine) -> None:
    engine = make_engine(
        {**BENCHES, "benchmarks/sub/bench_bad.py": "def bench_x(): ...\n"},
        head={"benchmarks/sub/bench_bad.py": "print('so far')\nraise ValueError('no')\n"},
    )
    discovery = engine.discover()
    (failure,) = discovery.failures
    assert (failure.arm, failure.id) == (HEAD, "sub/bad")
    assert failure.error.startswith("ValueError: no\n")
    assert failure.error.endswith("so far")
    assert [d.id for d in discovery.found[BASE]] == ["it/a", "it/b", "sub/bad/x"]
    assert [d.id for d in discovery.found[HEAD]] == ["it/a", "it/b"]
    assert discovery.toolchains[BASE]["python"].startswith("cpython 3.")
    assert all(discovery.timers[arm].pairs == 1000 for arm in (BASE, HEAD))


def test_a_bad_function_fails_alone(make_engine: MakeEngine) -> None:
    wrong = "def bench_a(): sum(range(100))\nbench_a.param = {'n': [1]}\ndef bench_b(): ...\n"
    engine = make_engine(BENCHES, head={"benchmarks/bench_it.py": wrong})
    discovery = engine.discover()
    assert [(f.arm, f.id, f.error) for f in discovery.failures] == [
        (HEAD, "it/a", "bench_a.param has no effect; did you mean 'params'?")
    ]
    assert [d.id for d in discovery.found[HEAD]] == ["it/b"]
    assert {o.arm: o.error for o in measure(engine, ["it/b"])} == {BASE: None, HEAD: None}


@pytest.mark.parametrize(
    "nested",
    [
        "def pick(n):\n    if n == 0: return 0\n"
        + "".join(f"    elif n == {n}: return {n}\n" for n in range(1, 400)),
        "TEXT = " + " + ".join(["'x'"] * 500) + "\ndef pick(n): return TEXT\n",
    ],
)
def test_a_deeply_nested_text_is_read(nested: str, make_engine: MakeEngine) -> None:
    source = f"{nested}def bench_a(): pick(3)\n"
    engine = make_engine({"benchmarks/bench_it.py": source})
    discovery = engine.discover()
    assert discovery.failures == ()
    assert [one.id for one in discovery.found[HEAD]] == ["it/a"]


def test_the_slowest_clock_of_an_arm_is_told(make_engine: MakeEngine, tmp_path: Path) -> None:
    clock = "time.perf_counter_ns = itertools.count(0, 7_000_000).__next__"
    engine = make_engine(
        {**BENCHES, "slow/bench_a.py": "def bench_x(): ...\n"},
        functions("slow", interpreter=with_clock(tmp_path, clock)),
        functions("benchmarks"),
        arms=(HEAD,),
    )
    timers = engine.discover().timers
    assert timers == {HEAD: Timer(cost_ns=7e6, resolution_ns=7e6, pairs=1000)}


def test_a_file_that_fails_only_later_fails_its_benchmarks(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    engine = make_engine(BENCHES)
    discovered(engine)
    (tmp_path / HEAD / "tree" / "benchmarks" / "bench_it.py").write_text("raise ValueError('late')")
    found = measure(engine, ["it/a", "it/b"])
    assert [(o.arm, o.benchmark) for o in found] == [(HEAD, "it/a"), (HEAD, "it/b")]
    assert all((o.error or "").startswith("ValueError: late\n") for o in found)


def test_a_base_that_fails_alone_is_said_to(make_engine: MakeEngine, tmp_path: Path) -> None:
    engine = make_engine(BENCHES)
    discovered(engine)
    (tmp_path / BASE / "tree" / "benchmarks" / "bench_it.py").write_text("raise ValueError('late')")
    found = measure(engine, ["it/a", "it/b"])
    assert [(o.arm, o.benchmark) for o in found] == [(BASE, "it/a"), (BASE, "it/b")]
    engine.close()
    assert living_workers() == 0


def test_a_place_without_benchmarks_is_refused(make_engine: MakeEngine) -> None:
    engine = make_engine(BENCHES, functions("benchmarks", "bench"))
    with pytest.raises(UsageError) as caught:
        engine.discover()
    assert caught.value.message == (
        'no benchmarks found: [[benchmark]] python = "bench" has no file bench_*.py'
    )


def test_two_benchmarks_of_one_id_are_refused(make_engine: MakeEngine) -> None:
    defined = "def bench_x(): ...\n"
    files = {"a/bench_it.py": defined, "b/bench_it.py": f"{defined}def bench_y(): ...\n"}
    discovery = make_engine(files, functions("a", "b")).discover()
    assert [one.id for one in discovery.found[ArmName.HEAD]] == ["it/x", "it/y"]
    assert [(f.arm, f.id) for f in discovery.failures] == [(a, "b/bench_it.py") for a in ArmName]
    for failure in discovery.failures:
        assert failure.error == (
            "two benchmarks have the id it/x (b/bench_it.py and a/bench_it.py): "
            "give one [[benchmark]] another `group`"
        )
    grouped = make_engine(files, functions("a"), functions("b", group="b"))
    assert discovered(grouped) == ["it/x", "b/it/x", "b/it/y"]


def test_the_other_arms_code_is_refused(make_engine: MakeEngine, tmp_path: Path) -> None:
    files = {**BENCHES, "pkg/__init__.py": ""}
    files["benchmarks/bench_it.py"] += "import pkg\n"
    base = tmp_path / BASE / "tree"
    engine = make_engine(
        files,
        functions("benchmarks", pythonpath=("lib",)),
        environ={"PYTHONPATH": str(base)},
    )
    (failure,) = engine.discover().failures
    assert failure.arm is HEAD
    assert failure.error.startswith(
        f"the head imported pkg from {base}/pkg/__init__.py, not from its own tree"
    )


def parts_that_differ(engine: FunctionEngine, id_: str) -> list[str]:
    """Tell what differs in the work of a benchmark; its hash differs with it."""
    found = engine.discover().found
    base, head = (next(d for d in found[arm] if d.id == id_) for arm in (BASE, HEAD))
    differing = [p for p in {**base.parts, **head.parts} if base.parts.get(p) != head.parts.get(p)]
    assert (base.workload != head.workload) is bool(differing)
    return differing


def test_data_of_the_file_belongs_to_the_work(make_engine: MakeEngine) -> None:
    source = "DATA = list(range(1000))\ndef bench_a(): sum(DATA)\ndef bench_b(): ...\n"
    head = {"benchmarks/bench_it.py": source.replace("1000", "500")}
    engine = make_engine({"benchmarks/bench_it.py": source}, head=head)
    assert parts_that_differ(engine, "it/a") == ["DATA"]
    assert parts_that_differ(engine, "it/b") == []


def test_params_that_show_another_value_than_they_hold_differ(make_engine: MakeEngine) -> None:
    source = "from project import N\ndef bench_a(n): ...\nbench_a.params = {'n': [N]}\n"
    shown = "class Shown(int):\n    def __repr__(self): return '10'\nN = Shown(4)\n"
    trees = (
        {"benchmarks/bench_it.py": source, "src/project.py": project}
        for project in ("N = 10\n", shown)
    )
    base, head = trees
    assert parts_that_differ(make_engine(base, head=head), "it/a[n=10]") != []


def test_modules_and_data_files_belong_to_the_work(make_engine: MakeEngine) -> None:
    source = "from made import DATA\ndef bench_a(): sum(DATA)\nbench_a.data = ['data/*']\n"
    files = {
        "benchmarks/bench_it.py": source,
        "benchmarks/made.py": "DATA = [1]\n",
        "src/project.py": "N = 1\n",
        "data/own.txt": "1",
        "shared.txt": "1",
    }
    for name, text in files.items():
        if name.endswith("it.py"):
            continue
        engine = make_engine(
            files, functions("benchmarks", data=("shared.txt",)), head={name: text * 2}
        )
        assert (
            parts_that_differ(engine, "it/a")
            == {
                "benchmarks/made.py": ["made.py"],
                "src/project.py": [],
                "data/own.txt": ["its data file data/own.txt"],
                "shared.txt": ["its data file shared.txt"],
            }[name]
        )


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("fast_project.py", "import project"),
        ("json.py", "import project"),
        ("made.py", "import importlib\nmade = importlib.import_module('made')"),
        ("made.py", "made = __import__('made')"),
    ],
)
def test_a_module_beside_the_benchmarks_that_was_imported_belongs_to_the_work(
    make_engine: MakeEngine, module: str, code: str
) -> None:
    project = "try: from fast_project import work\nexcept ImportError: work = sum\nimport json\n"
    files = {
        "benchmarks/bench_it.py": f"{code}\ndef bench_a(): ...\n",
        "benchmarks/made.py": "N = 1\n",
        "src/project.py": project,
    }
    head = {f"benchmarks/{module}": "work = N = len\n"}
    engine = make_engine(files, head=head)
    assert parts_that_differ(engine, "it/a") == [module]


def test_a_data_file_that_is_nowhere_is_the_benchmarks_failure(make_engine: MakeEngine) -> None:
    source = "def bench_a(): ...\nbench_a.data = ['no/*.txt']\ndef bench_b(): ...\n"
    discovery = make_engine({"benchmarks/bench_it.py": source}).discover()
    why = "`data` has 'no/*.txt': there is no such file in the tree"
    assert [(f.arm, f.id, f.error) for f in discovery.failures] == [
        (BASE, "it/a", why),
        (HEAD, "it/a", why),
    ]
    assert [d.id for d in discovery.found[HEAD]] == ["it/b"]


@pytest.mark.parametrize(
    ("was", "now", "changed"),
    [
        ("[[3, 1] * 9]", "[[3, 1] * 2]", ["its params"]),
        ("[[3, 1]]", "[[3, 1], [2]]", ["its params"]),
        ("[1, 2]", "[1, 3]", []),
        ("[N]", "[N[:1]]", ["its params"]),
        ("[lambda: 1]", "[lambda: 2]", ["its params"]),
        ("[f]", "[f, g]", ["its params", "g"]),
        ("[f]", "[f, *M]", ["its params", "M"]),
    ],
)
def test_values_of_params_that_show_little_count_as_they_are_written(
    make_engine: MakeEngine, was: str, now: str, changed: list[str]
) -> None:
    source = "def f(): ...\ndef g(): ...\nN = [1, 2]\nM = []\ndef bench_a(n): n\n"
    base, head = (
        {"benchmarks/bench_it.py": f"{source}bench_a.params = {{'n': {text}}}\n"}
        for text in (was, now)
    )
    engine = make_engine(base, head=head)
    first = engine.discover().found[BASE][0].id
    assert parts_that_differ(engine, first) == changed


@pytest.mark.parametrize(
    "source", ["P = 0x" + "f" * 5000, "T = " + " + ".join(["'a'"] * 2500), "0\n" * 3]
)
def test_unusual_texts_are_read(make_engine: MakeEngine, source: str) -> None:
    files = {"benchmarks/bench_it.py": f"{source}\ndef bench_a(): ...\n"}
    discovery = make_engine(files).discover()
    assert [one.id for one in discovery.found[HEAD]] == ["it/a"]


def install(place: Path, module: str, project: str, version: str = "1.0") -> str:
    """Install a module of a project that is not editable; give the folder to import it from."""
    site = place / "site-packages"
    about = site / f"{project}-{version}.dist-info"
    about.mkdir(parents=True)
    (site / f"{module}.py").write_text("def work(): ...\n")
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n")
    (about / "RECORD").write_text(f"{module}.py,,\n")
    return str(site)


PROJECT = {"pyproject.toml": '[project]\nname = "my.pkg"\n', "code/my_pkg/__init__.py": ""}
AT_ONCE = "import my_pkg\ndef bench_a(): ...\n"
LATER = "def bench_a(): import my_pkg\n"


@pytest.mark.parametrize("source", [AT_ONCE, LATER], ids=["at once", "later"])
def test_an_installed_copy_of_the_project_is_refused(
    make_engine: MakeEngine, tmp_path: Path, source: str
) -> None:
    """Where the layout is neither `src` nor the root, both arms would import it."""
    site = install(tmp_path / "user", "my_pkg", "My-Pkg")
    files = {**PROJECT, "benchmarks/bench_it.py": source}
    engine = make_engine(files, environ={"PYTHONPATH": site})
    failures = engine.discover().failures
    errors = [failure.error for failure in failures]
    if not failures:
        errors = [o.error or "" for o in measure(engine, ["it/a"])]
    assert all(f" imported my_pkg from {site}/my_pkg.py, not " in e for e in errors)
    assert all('Set `pythonpath = ["code"]` in [[benchmark]]' in e for e in errors)
    assert len(errors) == (2 if source == AT_ONCE else 1)
    right = functions("benchmarks", pythonpath=("code",))
    engine = make_engine(files, right, environ={"PYTHONPATH": site})
    assert discovered(engine) == ["it/a"]
    assert [o.error for o in measure(engine, ["it/a"])] == [None, None]


@pytest.mark.parametrize(
    ("source", "is_refused"),
    [
        ("import other\ndef bench_a(): ...\n", True),
        ("def bench_a(): import other\n", True),
        ("import json\ndef bench_a(): json.loads('1')\n", False),
        ("import other, mine\ndef bench_a(): ...\n", False),
        ("import other, subprocess\ndef bench_a(): subprocess.run(['true'])\n", False),
    ],
)
def test_what_imports_nothing_of_its_own_is_refused(
    make_engine: MakeEngine, tmp_path: Path, source: str, *, is_refused: bool
) -> None:
    site = install(tmp_path / "user", "other", "other")
    # A folder of the tree that has the name of another project is none of its modules.
    files = {**PROJECT, "mine.py": "", "vendored/other/__init__.py": ""}
    files["benchmarks/bench_it.py"] = f"{source}bench_a.number = 1\n"
    engine = make_engine(files, environ={"PYTHONPATH": site, "PATH": os.environ["PATH"]})
    assert discovered(engine) == ["it/a"]
    errors = [o.error or "" for o in measure(engine, ["it/a"])]
    assert (
        errors[0].startswith("it imported nothing from the tree or environment of the ")
        is is_refused
    )
    assert any(errors) is is_refused


@pytest.mark.parametrize(
    ("version", "note"),
    [
        ("1.0", "both sides ran the same versions: other 1.0"),
        ("1.1", "the base ran other 1.0, the head 1.1"),
    ],
)
def test_a_dependency_is_compared_by_its_versions(
    make_engine: MakeEngine, tmp_path: Path, version: str, note: str
) -> None:
    install(tmp_path / "base-env", "other", "other")
    install(tmp_path / "head-env", "other", "other", version)
    spec = functions("benchmarks", pythonpath=("{env}/site-packages",), allow_foreign=True)
    engine = make_engine({"benchmarks/bench_it.py": "import other\nbench_a = other.work\n"}, spec)
    assert discovered(engine) == ["it/a"]
    for observation in measure(engine, ["it/a"]):
        assert observation.error is None
        assert note in observation.notes


def test_one_arm_may_measure_what_is_installed(make_engine: MakeEngine, tmp_path: Path) -> None:
    site = install(tmp_path / "user", "my_pkg", "my-pkg")
    files = {**PROJECT, "benchmarks/bench_it.py": AT_ONCE}
    engine = make_engine(files, arms=(HEAD,), environ={"PYTHONPATH": site})
    assert discovered(engine) == ["it/a"]
    assert [o.error for o in measure(engine, ["it/a"])] == [None]


def test_the_users_checkout_is_refused(make_engine: MakeEngine, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "pkg").mkdir(parents=True)
    (checkout / "pkg" / "__init__.py").write_text("")
    source = f"import sys; sys.path.append({str(checkout)!r})\nimport pkg\ndef bench_a(): ...\n"
    failures = make_engine({"benchmarks/bench_it.py": source}).discover().failures
    assert [f.arm for f in failures] == [BASE, HEAD]
    assert all("An editable install is in the way" in f.error for f in failures)


def test_each_arm_is_searched_where_its_own_configuration_says(make_engine: MakeEngine) -> None:
    """The ids of a folder that was moved stay as they are."""
    source = BENCHES["benchmarks/bench_it.py"]
    engine = make_engine(
        {"old/bench_it.py": source, "old/deep/bench_it.py": source, "old/bench_gone.py": source},
        functions("new"),
        base_specs=[functions("old")],
        head={
            "new/bench_it.py": source,
            "new/deep/bench_it.py": source,
            "new/bench_new.py": source,
        },
    )
    found = engine.discover().found
    base, head = ({d.id: d.workload for d in found[arm]} for arm in (BASE, HEAD))
    both = {"it/a", "it/b", "deep/it/a", "deep/it/b"}
    assert base.keys() == both | {"gone/a", "gone/b"}
    assert head.keys() == both | {"new/a", "new/b"}
    assert all(base[id_] == head[id_] for id_ in both)
    arms = {
        arm: {o.benchmark for o in measure(engine, [*base, *head]) if o.arm is arm}
        for arm in (BASE, HEAD)
    }
    assert arms == {BASE: base.keys(), HEAD: head.keys()}


@pytest.mark.parametrize("lead", [BASE, HEAD])
def test_both_arms_are_run_as_one_of_them_says(make_engine: MakeEngine, lead: ArmName) -> None:
    parallel, alone = (
        functions("benchmarks", parallel=True),
        functions("benchmarks", isolate=True),
    )
    engine = make_engine(BENCHES, alone, base_specs=[parallel], lead=lead)
    notes = {d.notes for found in engine.discover().found.values() for d in found}
    marked = ("not pinned: it is marked parallel",)
    assert notes == {marked if lead is BASE else ("not pinned: no CPU was chosen",)}
    assert {o.error for o in measure(engine, ["it/a", "it/b"])} == {None}


def test_another_environment_is_other_work(make_engine: MakeEngine) -> None:
    fast = functions("benchmarks", env={"FAST": "1"})
    plain = functions("benchmarks")
    found = make_engine(BENCHES, fast, base_specs=[plain]).discover().found
    base, head = ({d.id: d for d in found[arm]} for arm in (BASE, HEAD))
    assert base["it/a"].workload != head["it/a"].workload
    assert head["it/a"].parts == {**base["it/a"].parts, **settings_of(fast)}
    assert list(settings_of(fast)) == ["its `env`"]


@pytest.mark.parametrize(
    ("interpreter", "same"),
    [("{env}/bin/python", True), ("uv run python", True), ("python3 -O", False)],
)
def test_another_option_of_the_interpreter_is_other_work(interpreter: str, *, same: bool) -> None:
    spec = functions("benchmarks", interpreter=interpreter)
    assert (settings_of(spec) == {}) is same


def test_what_is_imported_from_elsewhere_is_other_work() -> None:
    one, other = (functions("benchmarks", pythonpath=(path,)) for path in ("src", "stub"))
    assert settings_of(one).keys() == settings_of(other).keys() == {"its `pythonpath`"}
    assert settings_of(one) != settings_of(other)
    assert settings_of(functions("benchmarks")) == {}


def test_a_place_that_the_base_alone_names_may_be_empty(make_engine: MakeEngine) -> None:
    engine = make_engine(BENCHES, base_specs=[functions("gone", "benchmarks")])
    assert discovered(engine) == ["it/a", "it/b"]


def test_a_function_of_the_head_is_measured_where_the_base_cannot_start(
    make_engine: MakeEngine, tmp_path: Path
) -> None:
    """The file of both arms has a new function, and can be imported once only in the base."""
    once = f"import os\nopen({str(tmp_path / 'once')!r}, 'x')\n"
    source = "def bench_a(): sum(range(100))\n"
    engine = make_engine(
        {"benchmarks/bench_it.py": once + source},
        head={"benchmarks/bench_it.py": source + "def bench_new(): sum(range(100))\n"},
    )
    assert discovered(engine) == ["it/a", "it/new"]
    found = {(o.arm, o.benchmark): o.error for o in measure(engine, ["it/a", "it/new"])}
    assert found.keys() == {(BASE, "it/a"), (HEAD, "it/new")}
    assert "FileExistsError" in (found[BASE, "it/a"] or "")
    assert found[HEAD, "it/new"] is None

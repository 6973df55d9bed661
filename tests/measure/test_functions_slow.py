"""Functions whose calls take long: both arms run at the same time, or in turn if they wait."""

from __future__ import annotations

import os
import random
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import pytest
from tests.measure.benchmarks import functions, sampling

from benchgate.config.live_benchmarks import PyperfBenchmark, PytestBenchmark
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.contract.sharing_a_cpu import OF_SEVERAL
from benchgate.measure.functions.engine import FunctionEngine
from benchgate.measure.machine.cpus import available_cpus, supports_pinning
from benchgate.model.notes import OF_ONE_THREAD

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.config.live_benchmarks import FunctionBenchmarks
    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.guardian import Guardian

pytestmark = pytest.mark.skipif(not supports_pinning(), reason="binds processes to CPUs")

# Each call needs this much CPU time of its thread, however fast the machine is.
CALL_NS = 20_000_000
TOOLS = f"""
import fcntl, os, subprocess, sys, threading, time
SPINNING = "import time\\nwhile time.thread_time_ns() < {CALL_NS}: pass"


def spin(cpu_ns={CALL_NS}):
    until_ns = time.thread_time_ns() + cpu_ns
    while time.thread_time_ns() < until_ns:
        pass


def log(what):
    line = f"{{os.path.basename(os.path.dirname(os.getcwd()))}} {{what}}\\n"
    os.write(LOG, line.encode())


LOG = os.open(os.environ["LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
"""
LOGGED = """
def bench_it():
    log("begins")
    spin()
    log("ends")
"""


class Round(NamedTuple):
    """What a round was like.

    Attributes:
        overlaps: whether a call of one arm began before one of the other arm had ended.
    """

    observations: list[Observation]
    log: list[str]

    @property
    def overlaps(self) -> bool:
        return any(
            line.endswith("begins") and before.endswith("begins")
            for before, line in zip(self.log, self.log[1:], strict=False)
        )

    def samples(self, metric: str = "time") -> list[list[float]]:
        return [
            one.launches[0].samples.tolist()
            for observation in self.observations
            for one in observation.metrics
            if one.metric.name == metric
        ]


class Rounds(Protocol):
    def __call__(
        self,
        source: str,
        *,
        name: str = ...,
        table: FunctionBenchmarks = ...,
        count: int = ...,
        is_pinned: bool = ...,
    ) -> list[Round]: ...


@pytest.fixture
def rounds(tmp_path: Path, guardian: Guardian) -> Iterator[Rounds]:
    """Measure rounds of the one benchmark of a file that both trees have."""
    log = tmp_path / "log"
    engines = []

    def measure(
        source: str,
        *,
        name: str = "bench_it.py",
        table: FunctionBenchmarks | None = None,
        count: int = 2,
        is_pinned: bool = True,
    ) -> list[Round]:
        arms = []
        for arm in ArmName:
            arms.append(Arm(arm, tmp_path / arm / "tree", tmp_path / f"{arm}-env"))
            arms[-1].root.mkdir(parents=True, exist_ok=True)
            (arms[-1].root / name).write_text(TOOLS + source)
        settings = EngineSettings(
            measure=sampling(10, 0.002),
            cpu=max(available_cpus()) if is_pinned else None,
            unpinned="",
            all_cpus=frozenset(available_cpus()),
            interpreter=sys.executable,
            outside=StartingEnvironment(
                {"PATH": os.environ["PATH"], "LOG": str(log)}, tmp_path / "checkout"
            ),
        )
        some = [table or functions(name)]
        engine = FunctionEngine({arm.name: some for arm in arms}, arms, settings, guardian)
        engines.append(engine)
        discovery = engine.discover()
        assert discovery.failures == ()
        (definition,) = discovery.found[ArmName.BASE]
        found = []
        for index in range(count):
            log.write_text("")
            rng = random.Random(index)  # noqa: S311 - repeatable on purpose
            observations = list(engine.measure_round([definition.id], rng, index))
            assert [one.error for one in observations] == [None, None]
            found.append(Round(observations, log.read_text().splitlines()))
        return found

    yield measure
    for engine in engines:
        engine.close()


def notes_of(one: Round) -> set[tuple[str, ...]]:
    return {observation.notes for observation in one.observations}


def test_calls_that_only_compute_overlap_and_do_not_count_waiting_for_the_cpu(
    rounds: Rounds,
) -> None:
    for one in rounds(LOGGED):
        assert one.overlaps
        assert notes_of(one) == {(OF_ONE_THREAD,)}
        times, cpu_times = one.samples(), one.samples("cpu_time")
        assert [len(each) for each in times] == [1, 1]
        for (time_s,), (cpu_s,) in zip(times, cpu_times, strict=True):
            assert cpu_s >= CALL_NS / 1e9
            # The wall time of either is about that of both.
            assert time_s < 1.3 * cpu_s


@pytest.mark.parametrize(
    ("source", "how"),
    [
        (LOGGED.replace("spin()", "spin(); time.sleep(0.02)"), {}),
        (LOGGED, {"table": functions("bench_it.py", in_turn=True)}),
        (LOGGED, {"is_pinned": False}),
        (LOGGED, {"table": functions("bench_it.py", parallel=True)}),
        (LOGGED.replace("spin()", "spin(100_000)"), {}),
    ],
    ids=["waits", "in_turn", "unpinned", "parallel", "short"],
)
def test_others_take_turns(rounds: Rounds, source: str, how: dict[str, Any]) -> None:
    for one in rounds(source, **how):
        assert not one.overlaps
        assert not any("same time" in note for notes in notes_of(one) for note in notes)


def test_of_threads_and_processes_the_time_is_the_cpu_time_of_all(
    rounds: Rounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = """
def bench_it():
    log("begins")
    threads = [threading.Thread(target=spin) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    log("ends")
"""
    processes = """
def bench_it():
    log("begins")
    spin()
    subprocess.run([sys.executable, "-S", "-c", SPINNING], check=True)
    log("ends")
"""
    # If other work keeps the CPU from the threads, their first calls seem to wait.
    monkeypatch.setattr("benchgate.measure.functions.sampler.only_computes", lambda _: True)
    for source in (threads, processes):
        for one in rounds(source):
            assert one.overlaps
            assert all(OF_SEVERAL in notes for notes in notes_of(one))
            assert one.samples() == one.samples("cpu_time")
            assert all(time_s >= 2 * CALL_NS / 1e9 for (time_s,) in one.samples())


def test_arms_that_need_the_same_thing_take_turns_from_then_on_and_a_note_says_why(
    rounds: Rounds, tmp_path: Path
) -> None:
    taken = tmp_path / "taken"
    source = f"""
def bench_it():
    log("begins")
    os.close(os.open({str(taken)!r}, os.O_CREAT | os.O_EXCL))
    spin()
    os.unlink({str(taken)!r})
    log("ends")


def teardown():
    if os.path.exists({str(taken)!r}): os.unlink({str(taken)!r})


bench_it.setup = lambda: None
"""
    first, second = rounds(source)
    ((note,),) = notes_of(first)
    assert note.startswith("base and head were measured in turn, because one of them failed")
    assert "FileExistsError" in note
    assert not second.overlaps


def test_arms_that_wait_for_each_other_take_turns_from_then_on(
    rounds: Rounds, tmp_path: Path
) -> None:
    source = f"""
def bench_it():
    with open({str(tmp_path / "lock")!r}, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        log("begins")
        spin()
        log("ends")
"""
    for one in rounds(source):
        assert notes_of(one) == {()}
        assert all(each >= CALL_NS / 1e9 for times in one.samples() for each in times)


def test_one_sample_that_loses_the_cpu_for_a_moment_does_not_make_arms_take_turns(
    rounds: Rounds, tmp_path: Path
) -> None:
    source = f"""
def bench_it():
    log("begins")
    spin()
    with open(os.environ["LOG"]) as file:
        last = [line.split()[1] for line in file][-2:]
    if last == ["begins", "begins"] and not os.path.exists({str(tmp_path / "lost")!r}):
        open({str(tmp_path / "lost")!r}, "w").close()
        time.sleep(0.02)
    log("ends")
"""
    for one in rounds(source):
        assert one.overlaps
        assert notes_of(one) == {(OF_ONE_THREAD,)}
    assert (tmp_path / "lost").exists()


@pytest.mark.parametrize("suite", ["pytest", "pyperf"])
def test_suites_of_other_tools_do_the_same(rounds: Rounds, suite: str) -> None:
    if suite == "pytest":
        source = LOGGED + "\ndef test_it(benchmark):\n    benchmark(bench_it)\n"
        table: FunctionBenchmarks = PytestBenchmark.model_validate(
            {"pytest": "test_it.py", "allow_foreign": True}
        )
    else:
        # A task times itself, with a clock that does not stand still while it waits for the CPU.
        source = f"""
import pyperf
{LOGGED}
def task(loops):
    began = time.perf_counter()
    for _ in range(loops):
        bench_it()
    return time.perf_counter() - began

pyperf.Runner().bench_time_func("it", task)
"""
        table = PyperfBenchmark.model_validate({"pyperf": "test_it.py"})
    for one in rounds(source, name="test_it.py", table=table):
        assert one.overlaps
        assert all(OF_ONE_THREAD in notes for notes in notes_of(one))
        for (time_s,), (cpu_s,) in zip(one.samples(), one.samples("cpu_time"), strict=True):
            assert time_s < 1.3 * cpu_s

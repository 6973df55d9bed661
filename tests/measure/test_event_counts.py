"""Counts per call, of real workers; page faults, which any machine has, stand for instructions."""

from __future__ import annotations

import os
import random
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import pytest
from tests.measure.benchmarks import functions, sampling

from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.functions import lockstep
from benchgate.measure.functions.canary_engine import canary_engine
from benchgate.measure.functions.engine import FunctionEngine
from benchgate.measure.machine.perf import USER_INSTRUCTIONS, CounterError, Event, why_not_counted
from benchgate.measure.workers.event_counts import count_per_call
from benchgate.model.metrics import INSTRUCTIONS
from benchgate.model.run import CANARY_ID

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.guardian import Guardian
    from benchgate.measure.workers.worker import Worker

TASK_CLOCK = Event(type=1, config=1)
PAGE_FAULTS = Event(type=1, config=2)
NEVER = Event(type=1, config=9)
UNKNOWN = Event(type=1, config=99)
SOFTWARE = why_not_counted(TASK_CLOCK)
HARDWARE = why_not_counted(USER_INSTRUCTIONS)

pytestmark = [
    pytest.mark.xdist_group("cpu"),
    pytest.mark.skipif(SOFTWARE is not None, reason=f"nothing to count: {SOFTWARE}"),
]

TOUCH = """
import mmap
def touch(pages):
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        memory[::mmap.PAGESIZE] = bytes(pages)
"""


class Measure(Protocol):
    def __call__(
        self,
        source: str,
        *,
        head: str = "",
        rounds: int = 1,
        interpreter: str = sys.executable,
        event: Event = PAGE_FAULTS,
    ) -> list[Observation]: ...


@pytest.fixture
def settings(tmp_path: Path) -> EngineSettings:
    return EngineSettings(
        measure=sampling(5, 0.001),
        cpu=None,
        unpinned="",
        all_cpus=frozenset(),
        interpreter=sys.executable,
        outside=StartingEnvironment({"PATH": os.environ["PATH"]}, tmp_path / "checkout"),
        event=PAGE_FAULTS,
    )


@pytest.fixture
def arms(tmp_path: Path, guardian: Guardian) -> tuple[Arm, ...]:
    return tuple(
        Arm(name, tmp_path / name, tmp_path / f"{name}-env", variables=dict(guardian.variables))
        for name in ArmName
    )


@pytest.fixture
def measure(settings: EngineSettings, arms: tuple[Arm, ...], guardian: Guardian) -> Measure:
    """Measure the one function of a source; what stands in `head` is added there."""

    def run(
        source: str,
        *,
        head: str = "",
        rounds: int = 1,
        interpreter: str = sys.executable,
        event: Event = PAGE_FAULTS,
    ) -> list[Observation]:
        for arm in arms:
            arm.root.mkdir()
            added = head if arm.name is ArmName.HEAD else ""
            (arm.root / "bench_it.py").write_text(TOUCH + source + added)
        spec = functions("bench_it.py", interpreter=interpreter)
        engine = FunctionEngine(
            {arm.name: [spec] for arm in arms}, arms, replace(settings, event=event), guardian
        )
        try:
            (id_,) = {d.id for found in engine.discover().found.values() for d in found}
            rng = random.Random(1)  # noqa: S311 - repeatable on purpose
            return [o for index in range(rounds) for o in engine.measure_round([id_], rng, index)]
        finally:
            engine.close()

    return run


def counts_of(observations: Sequence[Observation]) -> list[float]:
    """The counts per call, where there is one."""
    counts = []
    for observation in observations:
        assert observation.error is None
        for measured in observation.metrics:
            if measured.metric == INSTRUCTIONS:
                assert measured.launches[0].samples.shape == (1,)
                assert measured.loops == observation.metrics[0].loops
                counts.append(float(measured.launches[0].samples[0]))
    return counts


def test_each_launch_counts_what_one_call_does(measure: Measure) -> None:
    counts = counts_of(measure("def bench_a(): touch(300)\n", rounds=3))
    assert len(counts) == 6
    assert counts == pytest.approx([300] * 6, rel=0.02)


def test_the_arms_are_told_apart(measure: Measure) -> None:
    source = "def bench_a(): touch(PAGES)\nPAGES = 300\n"
    observations = measure(source, head="PAGES = 303\n", rounds=2)
    for name, pages in ((ArmName.BASE, 300), (ArmName.HEAD, 303)):
        counts = counts_of([o for o in observations if o.arm is name])
        assert counts == pytest.approx([pages] * 2, rel=0.004)


def test_neither_the_setup_nor_the_samples_are_counted(measure: Measure) -> None:
    source = "def bench_a(_): touch(100)\nbench_a.setup = lambda: touch(50_000) or 1\n"
    assert counts_of(measure(source)) == pytest.approx([100] * 2, rel=0.05)


@pytest.mark.parametrize(
    "source",
    [
        "async def bench_a(): touch(100)\n",
        # in a thread of a pool that lived before
        """
from concurrent.futures import ThreadPoolExecutor
def make():
    pool = ThreadPoolExecutor(1)
    pool.submit(int).result()
    return pool
def bench_a(pool): pool.submit(touch, 100).result()
bench_a.setup, bench_a.teardown = make, lambda pool: pool.shutdown()
bench_a.parallel = True
""",
    ],
    ids=["async", "threads"],
)
def test_what_the_whole_process_does_is_counted(measure: Measure, source: str) -> None:
    assert counts_of(measure(source)) == pytest.approx([100] * 2, rel=0.05)


def test_children_are_counted(measure: Measure) -> None:
    source = """
import os
def bench_a():
    pid = os.fork()
    if not pid:
        touch(5000)
        os._exit(0)
    os.waitpid(pid, 0)
bench_a.number = 1
"""
    for count in counts_of(measure(source)):
        assert 5000 <= count < 8000


def test_work_that_gets_a_single_sample_is_counted_in_the_first_round_alone(
    measure: Measure,
) -> None:
    source = "import time\ndef bench_a(): touch(100); time.sleep(0.03)\n"
    observations = measure(source, rounds=2)
    assert counts_of(observations[:2]) == pytest.approx([100] * 2, rel=0.05)
    assert counts_of(observations[2:]) == []


def test_a_command_that_only_starts_python_is_seen_through(
    measure: Measure, tmp_path: Path
) -> None:
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\n{shlex.quote(sys.executable)} "$@"\n')
    wrapper.chmod(0o755)
    counts = counts_of(measure("def bench_a(): touch(100)\n", interpreter=str(wrapper)))
    assert counts == pytest.approx([100] * 2, rel=0.05)


def test_the_garbage_collector_is_off_and_then_on_again(measure: Measure) -> None:
    source = """
import gc
def bench_a(): touch(1 if gc.isenabled() else 100)
def done():
    assert gc.isenabled()
bench_a.teardown = done
"""
    assert counts_of(measure(source)) == pytest.approx([100] * 2, rel=0.05)


def test_what_cannot_be_counted_is_a_note_and_no_error(measure: Measure) -> None:
    observations = measure("def bench_a(): sum(range(100))\n", event=UNKNOWN)
    assert counts_of(observations) == []
    for observation in observations:
        (note,) = observation.notes
        assert note.startswith("instructions: ")
        assert {m.metric.name for m in observation.metrics} >= {"time", "cpu_time", "alloc_peak"}


def test_an_arm_that_cannot_be_counted_leaves_the_other_without_a_count(
    measure: Measure, monkeypatch: pytest.MonkeyPatch
) -> None:

    def fails_later(worker: Worker, loops: int, event: Event) -> float:
        if worker.arm.name is ArmName.HEAD:
            raise CounterError("the counters are gone")
        return count_per_call(worker, loops, event)

    monkeypatch.setattr(lockstep, "count_per_call", fails_later)
    observations = measure("def bench_a(): touch(100)\n")
    assert counts_of(observations) == []
    assert [o.notes for o in observations] == [("instructions: the counters are gone",)] * 2


def test_calls_that_add_nothing_to_the_count_have_none(measure: Measure) -> None:
    observations = measure("def bench_a(): pass\n", event=NEVER)
    assert counts_of(observations) == []
    note = "instructions: calls did not add to the count"
    assert [o.notes for o in observations] == [(note,)] * 2


def test_a_benchmark_that_fails_while_it_is_counted_has_failed(measure: Measure) -> None:
    source = """
import gc
CALLS = []
def bench_a():
    CALLS.append(1)
    if len(CALLS) > LAST: raise ValueError("as it should")
bench_a.number = 1
"""
    errors = [one.error for one in measure(f"LAST = 3 + 1 + 5\n{source}")]
    assert errors
    assert all(error and error.startswith("ValueError: as it should") for error in errors)


def test_the_canary_is_not_counted(
    settings: EngineSettings, arms: tuple[Arm, ...], guardian: Guardian
) -> None:
    engine = canary_engine(arms, settings, guardian, in_trees=False)
    try:
        engine.discover()
        assert counts_of(list(engine.measure_round([CANARY_ID], random.Random(1), 0))) == []  # noqa: S311 - repeatable on purpose
    finally:
        engine.close()


@pytest.mark.skipif(HARDWARE is not None, reason=f"no instructions here: {HARDWARE}")
def test_instructions_of_a_call(measure: Measure) -> None:
    source = "def bench_a(): sum(range(SIZE))\nSIZE = 100_000\n"
    observations = measure(source, head="SIZE = 110_000\n", rounds=2, event=USER_INSTRUCTIONS)
    base, head = (counts_of([o for o in observations if o.arm is name]) for name in ArmName)
    assert head[0] / base[0] == pytest.approx(1.1, rel=0.01)
    assert head[1] / base[1] == pytest.approx(1.1, rel=0.01)


def test_what_sets_up_each_call_is_not_counted(measure: Measure) -> None:
    source = "def bench_a(one): ...\nbench_a.setup_each = lambda: 1\n"
    for one in measure(source, event=NEVER):
        assert one.error is None
        assert "instructions: what surrounds each call would be counted, too" in one.notes

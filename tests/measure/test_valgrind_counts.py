"""Counts of functions and programs; a script stands in for valgrind where it is not needed."""

from __future__ import annotations

import os
import random
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.measure.benchmarks import functions, program, sampling

from benchgate.config import Measure
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.engine import ignore
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.functions.engine import FunctionEngine
from benchgate.measure.machine.perf import CounterError
from benchgate.measure.machine.valgrind import Valgrind, find_valgrind
from benchgate.measure.programs.engine import CommandEngine
from benchgate.model.metrics import INSTRUCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from benchgate.measure.contract.engine import CountingEngine
    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.guardian import Guardian

BASE, HEAD = ArmName.BASE, ArmName.HEAD


def why_no_valgrind() -> str:
    try:
        find_valgrind(os.environ)
    except CounterError as error:
        return str(error)
    return ""


MISSING = why_no_valgrind()
real = pytest.mark.skipif(bool(MISSING), reason=MISSING)
# Counts the words of its command, but for each 1 in the file `fails` it ends like a killed program.
FAKE = """#!/bin/sh
for word; do case $word in --cachegrind-out-file=*) out=${word#*=};; esac; done
while case $1 in --*) true;; *) false;; esac; do shift; done
[ -e fails ] && exit 139
echo "summary: $(wc -c < size)" > "${out%\\%p}$$"
exec "$@"
"""


@pytest.fixture
def arms(tmp_path: Path, guardian: Guardian) -> tuple[Arm, ...]:
    arms = tuple(
        Arm(name, tmp_path / name, tmp_path / f"{name}-env", variables=dict(guardian.variables))
        for name in ArmName
    )
    for arm in arms:
        arm.root.mkdir()
    return arms


def everything(_: str) -> bool:
    return True


def of_round(engine: CountingEngine, ids: Sequence[str], index: int) -> list[Observation]:
    """Time a round, then count what is due."""
    rng = random.Random(1)  # noqa: S311 - repeatable on purpose
    for one in engine.measure_round(ids, rng, index):
        assert one.error is None
    due = engine.due_for_counting(ids)
    return [one for each in engine.count_round(due, index, ignore) for one in each]


def counts_of(observations: Sequence[Observation]) -> dict[ArmName, list[float]]:
    found: dict[ArmName, list[float]] = {arm: [] for arm in ArmName}
    for one in observations:
        for measured in one.metrics:
            assert measured.metric == INSTRUCTIONS
            found[one.arm] += measured.launches[0].samples.tolist()
    return found


# Programs


@pytest.fixture
def command_engine(
    arms: tuple[Arm, ...], guardian: Guardian
) -> Iterator[Callable[..., CommandEngine]]:
    engines = []

    def make(words: tuple[str, ...], valgrind: Valgrind | None) -> CommandEngine:
        spec = program("one", words, executions=1)
        settings = EngineSettings(
            Measure(), outside=StartingEnvironment(os.environ, None), valgrind=valgrind
        )
        engine = CommandEngine({arm.name: [spec] for arm in arms}, arms, guardian, settings)
        engine.discover()
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture
def fake(tmp_path: Path) -> Valgrind:
    file = tmp_path / "valgrind"
    file.write_text(FAKE)
    file.chmod(0o700)
    return Valgrind(str(file), everything)


def test_a_program_is_counted_on_both_sides(
    command_engine: Callable[..., CommandEngine], fake: Valgrind, arms: tuple[Arm, ...]
) -> None:
    for arm, size in zip(arms, (100, 103), strict=True):
        (arm.root / "size").write_text("x" * size)
    engine = command_engine(("true",), fake)
    found = [one for index in range(2) for one in of_round(engine, ["one"], index)]
    assert counts_of(found) == {BASE: [100.0, 100.0], HEAD: [103.0, 103.0]}


def test_a_program_that_fails_under_valgrind_is_timed_all_the_same(
    command_engine: Callable[..., CommandEngine], fake: Valgrind, arms: tuple[Arm, ...]
) -> None:
    for arm in arms:
        (arm.root / "size").write_text("x")
    (arms[1].root / "fails").touch()
    engine = command_engine(("true",), fake)
    found = of_round(engine, ["one"], 0)
    assert counts_of(found) == {BASE: [], HEAD: []}
    assert all(one.error is None and len(one.notes) == 1 for one in found)
    assert "instructions: valgrind:" in found[0].notes[0]
    assert of_round(engine, ["one"], 1) == []


def test_what_does_not_count_has_nothing_due(
    command_engine: Callable[..., CommandEngine], fake: Valgrind
) -> None:
    assert command_engine(("true",), None).due_for_counting(["one"]) == []
    unwanted = replace(fake, wants=lambda _: False)
    assert command_engine(("true",), unwanted).due_for_counting(["one"]) == []


@real
def test_a_real_program_has_nearly_the_same_count_every_time(
    command_engine: Callable[..., CommandEngine],
) -> None:
    engine = command_engine(("sh", "-c", "true"), Valgrind(find_valgrind(os.environ), everything))
    counts = counts_of([one for index in range(2) for one in of_round(engine, ["one"], index)])
    assert min(counts[BASE]) > 10_000
    assert counts[HEAD] == pytest.approx(counts[BASE], rel=0.001)
    assert max(counts[BASE]) == pytest.approx(min(counts[BASE]), rel=0.01)


@real
def test_the_children_of_a_program_are_counted(
    command_engine: Callable[..., CommandEngine],
) -> None:
    source = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done"
    valgrind = Valgrind(find_valgrind(os.environ), everything)
    nested = f"sh -c {shlex.quote(source)}; true"
    counts = [
        counts_of(of_round(command_engine(("sh", "-c", text), valgrind), ["one"], 0))[BASE]
        for text in ("sh -c true; true", nested)
    ]
    ((without,), (with_loop,)) = counts
    assert with_loop > without + 2000 * 100


# Functions


@pytest.fixture
def python_engine(
    tmp_path: Path, arms: tuple[Arm, ...], guardian: Guardian
) -> Iterator[Callable[..., tuple[FunctionEngine, list[str]]]]:
    """Open an engine for the functions of a source; `head` is its source, if that differs."""

    engines = []

    def make(source: str, head: str = "") -> tuple[FunctionEngine, list[str]]:
        for arm in arms:
            text = head if head and arm.name is HEAD else source
            (arm.root / "work.py").write_text(text)
            (arm.root / "bench_it.py").write_text("from work import *\n")
        settings = EngineSettings(
            measure=sampling(5, 0.001),
            cpu=max(os.sched_getaffinity(0)),
            unpinned="",
            all_cpus=frozenset(os.sched_getaffinity(0)),
            interpreter=sys.executable,
            outside=StartingEnvironment({"PATH": os.environ["PATH"]}, tmp_path / "checkout"),
            valgrind=Valgrind(find_valgrind(os.environ), everything),
        )
        spec = functions("bench_it.py", pythonpath=(".",))
        engine = FunctionEngine({arm.name: [spec] for arm in arms}, arms, settings, guardian)
        engines.append(engine)
        found = engine.discover().found[HEAD]
        return engine, [one.id for one in found]

    yield make
    for engine in engines:
        engine.close()


# Its numbers are small, so it needs no memory, whose place is luck: it may cost a fifth.
LOOP = """
def bench_a():
    total = 0
    for one in b"x" * {count}:
        total ^= one
    return total
"""


@real
def test_a_count_of_a_function_is_of_its_calls_alone(
    python_engine: Callable[..., tuple[FunctionEngine, list[str]]],
) -> None:
    """The head does 3 % more, and its file takes long to import, which does not count."""
    slow_import = "import json, argparse, decimal\n"
    engine, ids = python_engine(LOOP.format(count=10_000), slow_import + LOOP.format(count=10_300))
    counts = counts_of(of_round(engine, ids, 0))
    (base,), (head,) = counts[BASE], counts[HEAD]
    assert head / base == pytest.approx(1.03, abs=0.005)


@real
def test_one_slow_call_is_counted_though_a_sample_has_several(
    python_engine: Callable[..., tuple[FunctionEngine, list[str]]],
) -> None:
    engine, ids = python_engine(
        "from time import process_time as now\n"
        "def bench_a():\n    end = now() + 0.005\n    while now() < end: ...\n"
    )
    timed = list(engine.measure_round(ids, random.Random(1), 0))  # noqa: S311 - repeatable
    counted = [one for each in engine.count_round(ids, 0, ignore) for one in each]
    times = [of for one in timed for of in one.metrics if of.metric.name == "time"]
    assert times
    assert all(of.loops > 1 for of in times)
    assert {of.loops for one in counted for of in one.metrics} == {1}


@real
def test_equal_functions_have_equal_counts_in_every_round(
    python_engine: Callable[..., tuple[FunctionEngine, list[str]]],
) -> None:
    source = "TEXT = 'a quick brown fox ' * 50\ndef bench_a(): return sorted(set(TEXT.split()))\n"
    engine, ids = python_engine(source)
    counts = counts_of([one for index in range(2) for one in of_round(engine, ids, index)])
    assert len(counts[BASE]) == 2
    assert counts[HEAD] == pytest.approx(counts[BASE], rel=0.001)


@real
def test_a_function_that_fails_under_valgrind_does_not_stop_the_others(
    python_engine: Callable[..., tuple[FunctionEngine, list[str]]],
) -> None:
    source = """
import os
IS_SLOW = "vgpreload" in os.environ.get("LD_PRELOAD", "")
def bench_dies():
    if IS_SLOW: os.abort()
def bench_lives(): return sum(range(1000))
def bench_raises():
    if IS_SLOW: raise ValueError("no")
"""
    engine, ids = python_engine(source)
    found = of_round(engine, ids, 0)
    due = engine.due_for_counting(ids)
    assert {one.benchmark for one in found if one.metrics} == {"it/lives"}
    notes = {one.benchmark: one.notes[0] for one in found if one.notes}
    assert notes.keys() == {"it/dies", "it/raises"}
    assert "SIGABRT" in notes["it/dies"]
    assert "ValueError: no" in notes["it/raises"]
    assert due == ["it/lives"]


@real
def test_a_function_that_returns_a_number_is_not_counted(
    python_engine: Callable[..., tuple[FunctionEngine, list[str]]],
) -> None:
    engine, ids = python_engine(
        "import benchgate\n@benchgate.bench(measures='size', unit='B')\ndef bench_a(): return 5.0\n"
    )
    assert of_round(engine, ids, 0) == []


@real
def test_what_sets_up_each_call_is_not_counted_and_the_reader_learns_why(
    python_engine: Callable[..., tuple[FunctionEngine, list[str]]],
) -> None:
    engine, ids = python_engine("def bench_a(one): ...\nbench_a.setup_each = lambda: 1\n")
    found = of_round(engine, ids, 0)
    assert {one.notes for one in found} == {
        ("instructions: valgrind: what surrounds each call would be counted, too",)
    }
    assert all(one.metrics == () for one in found)

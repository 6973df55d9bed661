"""Counts of commands; page faults, which need no hardware, stand in for instructions."""

from __future__ import annotations

import os
import random
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.measure.benchmarks import program

from benchgate.config import Measure
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings
from benchgate.measure.machine.perf import Counter, CounterError, Event, why_not_counted
from benchgate.measure.processes.execution import AllowedTime
from benchgate.measure.processes.launcher import CommandLauncher
from benchgate.measure.programs.engine import CommandEngine
from benchgate.model.metrics import INSTRUCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.execution import Execution
    from benchgate.measure.processes.guardian import Guardian

TASK_CLOCK = Event(type=1, config=1)
PAGE_FAULTS = Event(type=1, config=2)
NEVER = Event(type=1, config=9)
UNKNOWN = Event(type=1, config=99)
SOFTWARE = why_not_counted(TASK_CLOCK)

pytestmark = [
    pytest.mark.xdist_group("cpu"),
    pytest.mark.skipif(SOFTWARE is not None, reason=f"nothing to count: {SOFTWARE}"),
]

PYTHON = f"{shlex.quote(sys.executable)} -I -S -c"
PAGES = 5000


def touching(pages: int, then: str = "") -> str:
    """A shell's words for a program that touches so many pages."""
    source = (
        f"import mmap; m = mmap.mmap(-1, {pages} * mmap.PAGESIZE); "
        f"m[::mmap.PAGESIZE] = bytes({pages}){then}"
    )
    return f"{PYTHON} {shlex.quote(source)}"


@pytest.fixture
def run(tmp_path: Path, guardian: Guardian) -> Iterator[Callable[..., Execution]]:
    """Execute a shell's text with an event counted."""
    launchers: dict[Event | None, CommandLauncher] = {}

    def execute(text: str, event: Event | None = PAGE_FAULTS) -> Execution:
        launcher = launchers.setdefault(event, CommandLauncher(guardian, event))
        return launcher.execute(
            ("/bin/sh", "-c", text), cwd=tmp_path, env=os.environ, allowed=AllowedTime(60)
        )

    yield execute
    for launcher in launchers.values():
        launcher.close()


def count(execution: Execution) -> int:
    assert execution.returncode == 0, execution.output_tail
    assert execution.uncounted == ""
    assert execution.count is not None
    return execution.count


def test_the_same_command_has_about_the_same_count(run: Callable[..., Execution]) -> None:
    counts = [count(run(touching(PAGES))) for _ in range(4)]
    assert min(counts) >= PAGES
    assert max(counts) - min(counts) < PAGES / 50
    assert count(run(touching(2 * PAGES))) - min(counts) == pytest.approx(PAGES, rel=0.05)


def test_children_are_counted_whether_they_were_waited_for_or_not(
    run: Callable[..., Execution],
) -> None:
    none = count(run("true"))
    assert none < PAGES / 2
    assert count(run(f"{touching(PAGES)}; true")) >= PAGES + none / 2
    # A child of a child that nobody waits for, and one that lives on until it is killed.
    assert (
        count(run(f"({touching(PAGES)} && touch done &) ; while [ ! -e done ]; do :; done"))
        >= PAGES
    )
    lives = touching(PAGES, "; open('there', 'w').close(); import time; time.sleep(300)")
    assert count(run(f"{lives} & while [ ! -e there ]; do :; done")) >= PAGES


def test_a_daemon_is_not_counted_in_later_commands(
    run: Callable[..., Execution], guardian: Guardian
) -> None:
    source = "import os\nif not os.fork(): os.setsid(); exec('while True: pass')"
    busy_ns = count(run(f"{PYTHON} {shlex.quote(source)}", TASK_CLOCK))
    assert busy_ns > 0
    waiting = run("sleep 0.5", TASK_CLOCK)
    guardian.close()
    assert count(waiting) < waiting.wall_ns / 4, "the daemon was busy all the time"


def test_nothing_is_counted_unless_asked(run: Callable[..., Execution]) -> None:
    execution = run("true", None)
    assert (execution.count, execution.uncounted) == (None, "")


def test_what_cannot_be_counted_runs_all_the_same(run: Callable[..., Execution]) -> None:
    execution = run("exit 3", UNKNOWN)
    assert (execution.returncode, execution.count) == (3, None)
    assert execution.uncounted == why_not_counted(UNKNOWN)


def test_a_count_of_nothing_is_none(run: Callable[..., Execution]) -> None:
    execution = run("true", NEVER)
    assert execution.count is None
    assert "changes its privileges" in execution.uncounted


def test_a_counter_that_was_shared_is_no_count(
    run: Callable[..., Execution], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(_: Counter) -> int:
        raise CounterError("in use")

    monkeypatch.setattr(Counter, "read", read)
    execution = run("true")
    assert (execution.count, execution.uncounted) == (None, "in use")


def test_no_descriptor_is_left_open(run: Callable[..., Execution]) -> None:
    folder = Path("/proc/self/fd")
    run("true")
    run("true", UNKNOWN)
    before = len(list(folder.iterdir()))
    for event in (PAGE_FAULTS, UNKNOWN) * 3:
        run("true", event)
    assert len(list(folder.iterdir())) == before


def burst(tmp_path: Path, guardian: Guardian, text: str, event: Event | None) -> list[Observation]:
    arms = []
    for name in ArmName:
        (tmp_path / name).mkdir()
        arms.append(Arm(name, tmp_path / name, tmp_path / "env"))
    spec = program(
        "one",
        ("/bin/sh", "-c", text),
        prepare=("/bin/sh", "-c", touching(2 * PAGES)),
        executions=2,
    )
    engine = CommandEngine(
        {arm.name: [spec] for arm in arms},
        arms,
        guardian,
        EngineSettings(Measure(), event=event),
        burst_s=300,
    )
    try:
        engine.discover()
        return list(engine.measure_round(["one"], random.Random(1), 0))  # noqa: S311 - repeatable on purpose
    finally:
        engine.close()


def test_each_execution_of_a_burst_is_counted_without_its_prepare(
    tmp_path: Path, guardian: Guardian
) -> None:
    for observation in burst(tmp_path, guardian, touching(PAGES), PAGE_FAULTS):
        (measured,) = (m for m in observation.metrics if m.metric == INSTRUCTIONS)
        assert (measured.launches[0].samples.shape, measured.launches[0].warmup.shape) == (
            (2,),
            (1,),
        )
        assert (measured.launches[0].samples >= PAGES).all()
        assert (measured.launches[0].samples < 2 * PAGES).all()
        assert not any(note.startswith("instructions") for note in observation.notes)


@pytest.mark.parametrize(("event", "noted"), [(UNKNOWN, 1), (None, 0)])
def test_a_burst_that_is_not_counted_says_so(
    event: Event | None, noted: int, tmp_path: Path, guardian: Guardian
) -> None:
    for observation in burst(tmp_path, guardian, "true", event):
        assert [m.metric.name for m in observation.metrics] == ["time", "cpu_time", "peak_rss"]
        assert sum(note.startswith("instructions: ") for note in observation.notes) == noted

"""The budget bounds the time limits of commands and workers, and ends only what hangs."""

from __future__ import annotations

import math
import os
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from tests.world import Clock

from benchgate.config import Measure, SuiteBenchmark
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings
from benchgate.measure.machine.memory_layout import Layout
from benchgate.measure.processes import budget as budget_module
from benchgate.measure.processes.budget import Budget, TimeLimit
from benchgate.measure.processes.execution import AllowedTime
from benchgate.measure.processes.guardian import Guardian
from benchgate.measure.processes.launcher import CommandLauncher
from benchgate.measure.suites.engine import SuiteEngine
from benchgate.measure.workers.start import ProgramSetting
from benchgate.measure.workers.worker import Worker, WorkerFailedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

USED_UP = (
    "timed out: benchgate ended it after {}, because the budget of {} was used up; --budget, or "
    "`budget` of [measure], sets the limit"
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def budget(clock: Clock) -> Budget:
    return Budget(clock)


@pytest.fixture
def guardian(budget: Budget) -> Iterator[Guardian]:
    """Its budget has a clock that stands still."""
    with Guardian.start() as guardian:
        guardian.budget = budget
        yield guardian


@pytest.fixture
def patient_for_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let hanging steps end soon."""
    monkeypatch.setattr(budget_module, "GRACE_S", 0.2)


def test_without_a_budget_a_step_has_its_own_limit(budget: Budget) -> None:
    assert budget.limit(600) == TimeLimit(600)
    assert TimeLimit(600).exceeded() == (
        "timed out: it took longer than 10 min; `timeout` of [[benchmark]] sets the limit"
    )


def test_a_step_has_what_is_left_and_a_grace(budget: Budget, clock: Clock) -> None:
    budget.begin(20, spent_s=5)
    assert budget.limit(60) == (25, 20)
    assert budget.limit(25) == (25, None)
    clock.now_s += 12
    assert budget.limit(60) == (13, 20)
    clock.now_s += 300
    assert budget.limit(60) == (10, 20)
    assert budget.limit(60, planned_s=30) == (40, 20)
    assert budget.limit(60).exceeded() == USED_UP.format("10 s", "20 s")


def test_what_always_takes_long_is_not_ended(budget: Budget) -> None:
    budget.begin(20, spent_s=20)
    budget.ended(3)
    assert budget.limit(600).seconds == 10
    budget.ended(40)
    budget.ended(1)
    assert budget.limit(600).seconds == 80


def test_before_measuring_only_what_hangs_uses_up_the_budget(budget: Budget, clock: Clock) -> None:
    budget.offer(20)
    clock.now_s += 100
    assert budget.limit(60) == (30, 20)
    budget.exceeded(TimeLimit(5))
    assert budget.limit(60) == (30, 20), "its own limit ended that step"
    budget.exceeded(budget.limit(60))
    clock.now_s += 100
    assert budget.limit(60) == (10, 20)
    budget.begin(20)
    assert budget.limit(60) == (30, 20)
    budget.offer(math.inf)
    assert budget.limit(60) == (60, None)


@pytest.mark.usefixtures("patient_for_no_time")
def test_a_command_that_hangs_ends_with_the_budget(
    guardian: Guardian, budget: Budget, tmp_path: Path
) -> None:
    budget.begin(0.3)
    with closing(CommandLauncher(guardian)) as launcher:
        done = launcher.execute(
            ["sleep", "300"], cwd=tmp_path, env=os.environ, allowed=AllowedTime(300)
        )
        assert done.timed_out == USED_UP.format("0.5 s", "0.3 s")
        done = launcher.execute(["true"], cwd=tmp_path, env=os.environ, allowed=AllowedTime(300))
        assert not done.timed_out


def test_a_command_that_ends_shows_what_is_long_beside_its_plan(
    guardian: Guardian, budget: Budget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget_module, "GRACE_S", 0)
    with closing(CommandLauncher(guardian)) as launcher:

        def limit_after(planned_s: float) -> float:
            budget.begin(1)
            launcher.execute(
                ["sleep", "0.2"],
                cwd=tmp_path,
                env=os.environ,
                allowed=AllowedTime(300, planned_s=planned_s),
            )
            budget.begin(0)
            return budget.limit(300).seconds

        assert limit_after(planned_s=300) == 0
        assert limit_after(planned_s=0) >= 0.4


def test_an_answer_of_a_worker_shows_what_is_long(
    guardian: Guardian, budget: Budget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = "import os, time; time.sleep(.2); os.write(int(os.environ['BENCHGATE_FD']), b'x\\n')"
    command = [sys.executable, "-c", says]
    setting = ProgramSetting(command, None, None, dict(os.environ), Layout())
    worker = Worker(Arm(ArmName.HEAD, tmp_path, tmp_path / "env"), setting, guardian)
    with pytest.raises(WorkerFailedError, match="it wrote to the pipe"):
        worker.ready(300)
    worker.kill()
    monkeypatch.setattr(budget_module, "GRACE_S", 0)
    budget.begin(0)
    assert budget.limit(300).seconds >= 0.4


@pytest.mark.usefixtures("patient_for_no_time")
@pytest.mark.parametrize("is_measuring", [False, True])
def test_a_worker_that_hangs_ends_with_the_budget(
    guardian: Guardian, budget: Budget, tmp_path: Path, *, is_measuring: bool
) -> None:
    (budget.begin if is_measuring else budget.offer)(0.3)
    setting = ProgramSetting(["sleep", "300"], None, None, dict(os.environ), Layout())
    worker = Worker(Arm(ArmName.HEAD, tmp_path, tmp_path / "env"), setting, guardian)
    with pytest.raises(WorkerFailedError) as caught:
        worker.ready(300)
    worker.kill()
    assert caught.value.error == USED_UP.format("0.5 s", "0.3 s")
    assert budget.limit(300).seconds == 0.2


@pytest.mark.usefixtures("patient_for_no_time")
@pytest.mark.parametrize("format_name", [None, "hyperfine"])
def test_a_suite_that_hangs_ends_with_the_budget(
    guardian: Guardian, budget: Budget, tmp_path: Path, format_name: str | None
) -> None:
    budget.offer(0.3)
    arms = [Arm(name, tmp_path / name, tmp_path / f"{name}-env") for name in ArmName]
    for arm in arms:
        arm.root.mkdir()
    table = {"suite": f"{sys.executable} -c 'import time; time.sleep(300)'", "format": format_name}
    suite = SuiteBenchmark.model_validate(table)
    suites = dict.fromkeys(ArmName, suite)
    with closing(SuiteEngine(suites, arms, guardian, EngineSettings(Measure()))) as engine:
        found = engine.discover()
    said = {one.error.partition("\n")[0] for one in found.failures}
    assert said == {USED_UP.format(one, "0.3 s") for one in ("0.5 s", "0.2 s")}

"""Programs of both arms that run at the same time, and when they do not."""

from __future__ import annotations

import os
import random
import threading
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from benchgate.config import Measure
from benchgate.measure.arm import Arm, ArmName
from benchgate.measure.contract.settings import EngineSettings
from benchgate.measure.contract.sharing_a_cpu import OF_SEVERAL, mostly_waits, only_computes
from benchgate.measure.machine.cpus import available_cpus, supports_pinning
from benchgate.measure.processes.execution import Execution, measured_in
from benchgate.measure.processes.launcher import CommandLauncher
from benchgate.measure.programs.bursts import BurstRunner, run_together
from benchgate.measure.programs.commands import ArmCommand
from benchgate.measure.programs.run_settings import RunSettings
from benchgate.measure.programs.runner import ArmRunner, CommandFailedError
from benchgate.model.notes import OF_ONE_THREAD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchgate.measure.contract.observation import Observation
    from benchgate.measure.processes.guardian import Guardian

MS = 1_000_000
COMPUTES = Execution(
    wall_ns=30 * MS,
    user_ns=29 * MS,
    system_ns=MS,
    peak_rss_bytes=2,
    peak_rss_floor_bytes=1,
    returncode=0,
    timed_out="",
    output_tail="",
    first_thread_ns=30 * MS,
    waited_for_cpu_ns=0,
)
WAITS = replace(COMPUTES, wall_ns=40 * MS)
STARTS_OTHERS = replace(COMPUTES, first_thread_ns=10 * MS)
UNKNOWN = replace(COMPUTES, first_thread_ns=None, waited_for_cpu_ns=None)
ON_A_BUSY_CPU = replace(COMPUTES, wall_ns=90 * MS, waited_for_cpu_ns=59 * MS)
SETTINGS = RunSettings("a", 6, 1, pin=True, allow_foreign=False, timeout_s=9, in_turn=False)


def command(arm: ArmName, words: Sequence[str] = ("run",), cwd: Path = Path("/")) -> ArmCommand:
    return ArmCommand(arm, tuple(words), None, None, cwd, dict(os.environ), True, frozenset({0}))  # noqa: FBT003


def test_what_computes_on_both_sides_may_share_a_cpu() -> None:
    assert only_computes([0.0, 0.1])
    assert not only_computes([0.0, 0.11])


def test_what_mostly_waits_is_noticed() -> None:
    assert not mostly_waits([0.0, 0.25])
    assert mostly_waits([0.0, 0.25, 0.25])


@pytest.mark.parametrize(
    ("warmup", "later", "together"),
    [
        ([COMPUTES], COMPUTES, True),
        ([ON_A_BUSY_CPU], COMPUTES, True),
        ([WAITS, COMPUTES], COMPUTES, True),
        ([WAITS], WAITS, False),
        ([STARTS_OTHERS], STARTS_OTHERS, True),
        ([replace(STARTS_OTHERS, wall_ns=40 * MS)], WAITS, False),
        ([UNKNOWN], UNKNOWN, True),
        # Beside the other side, several threads may have waited for the CPU.
        ([STARTS_OTHERS], replace(STARTS_OTHERS, wall_ns=90 * MS), True),
    ],
)
def test_the_executions_that_came_before_decide(
    warmup: list[Execution], later: Execution, *, together: bool
) -> None:
    left = {arm: list(warmup) for arm in ArmName}

    def execution(arm: ArmName, _together: bool) -> Execution:  # noqa: FBT001
        return left[arm].pop(0) if left[arm] else later

    settings = replace(SETTINGS, warmup=len(warmup))
    found = [is_together(done) for done, _ in rounds(Script(execution), 2, settings)]
    assert found == [together, together]


def test_waiting_for_a_shared_cpu_is_no_part_of_the_time_but_sleeping_is() -> None:
    sleeps = replace(ON_A_BUSY_CPU, wall_ns=100 * MS)
    for shared, times_ms in ((False, [90, 100]), (True, [31, 41])):
        samples = [replace(one, shared_cpu=shared) for one in (ON_A_BUSY_CPU, sleeps)]
        time, cpu_time, _ = measured_in(samples, [])
        assert time.launches[0].samples.tolist() == [ms / 1000 for ms in times_ms]
        assert cpu_time.launches[0].samples.tolist() == [0.03, 0.03]


def test_of_several_threads_the_time_beside_the_other_arm_is_the_cpu_time() -> None:
    for several in (STARTS_OTHERS, UNKNOWN):
        assert replace(several, wall_ns=90 * MS, shared_cpu=True).time_ns == several.cpu_ns
        ((done, observations),) = rounds(Script(always(several)), 1)
        assert is_together(done)
        assert observations[0].notes[-1] == OF_SEVERAL


def test_a_time_is_never_less_than_the_cpu_time() -> None:
    rounded = replace(COMPUTES, waited_for_cpu_ns=2 * MS, shared_cpu=True)
    assert rounded.time_ns == COMPUTES.cpu_ns
    assert rounded.waiting_ratio == 0


@dataclass
class Script:
    """What the executions of both arms are like, and what was done."""

    execution: Callable[[ArmName, bool], Execution]
    done: list[str] = field(default_factory=list)
    running: set[ArmName] = field(default_factory=set)
    fails_together: bool = False
    meeting: threading.Barrier = field(default_factory=lambda: threading.Barrier(2, timeout=30))
    given_up: list[ArmName] = field(default_factory=list)


class Actor:
    """An `ArmRunner` that follows a script."""

    def __init__(self, arm: ArmName, script: Script, cpu: int | None) -> None:
        self._arm = arm
        self._script = script
        self._cpu = cpu

    def cpu_for(self, settings: RunSettings) -> int | None:
        return self._cpu if settings.pin else None

    def check(self, settings: RunSettings, command: ArmCommand) -> tuple[Execution | None, Any]:  # noqa: ARG002
        return None, ()

    def prepare(self, settings: RunSettings, command: ArmCommand) -> None:  # noqa: ARG002
        self._script.done.append("prepare")

    def prepare_and_time(self, settings: RunSettings, command: ArmCommand) -> Execution:  # noqa: ARG002
        self._script.done.append(f"{self._arm} in turn")
        return self._script.execution(self._arm, False)  # noqa: FBT003

    def time(self, settings: RunSettings, command: ArmCommand) -> Execution:
        assert settings.timeout_s == 2 * SETTINGS.timeout_s
        self._script.meeting.wait()
        self._script.done.append("together")
        if self._script.fails_together:
            raise CommandFailedError(command, "exited with 1 (allowed: 0)\nport in use")
        return self._script.execution(self._arm, True)  # noqa: FBT003

    def give_up(self) -> None:
        self._script.given_up.append(self._arm)

    def clean_up(self, settings: RunSettings, commands: Sequence[ArmCommand]) -> None:
        """Nothing to clean up."""


COMMANDS = tuple(map(command, ArmName))


def rounds(
    script: Script, count: int, settings: RunSettings = SETTINGS, cpu: int | None = 10**6
) -> list[tuple[list[str], list[Observation]]]:
    """Measure some rounds; of each, what was done, and the observations."""
    runners = {arm: cast("ArmRunner", Actor(arm, script, cpu)) for arm in ArmName}
    bursts = BurstRunner(runners, burst_s=6.0)
    found = []
    for index in range(count):
        script.done.clear()
        observations = bursts.measure(settings, COMMANDS, random.Random(index))  # noqa: S311
        found.append((script.done.copy(), observations))
    return found


def always(execution: Execution) -> Callable[[ArmName, bool], Execution]:
    return lambda _arm, _together: execution


def is_together(done: list[str]) -> bool:
    return done.count("together") == 12


def test_programs_that_only_compute_run_at_the_same_time_after_the_warm_up() -> None:
    (done, observations), (later, _) = rounds(Script(always(COMPUTES)), 2)
    assert done[:2] == ["base in turn", "head in turn"]
    assert is_together(done)
    assert is_together(later)
    assert [one.notes for one in observations] == [(OF_ONE_THREAD,)] * 2
    assert all(len(one.metrics[0].launches[0].samples) == 6 for one in observations)


def test_without_a_warm_up_the_first_round_shows_it() -> None:
    settings = replace(SETTINGS, warmup=0)
    (first, _), (second, _) = rounds(Script(always(COMPUTES)), 2, settings)
    assert not is_together(first)
    assert is_together(second)


@pytest.mark.parametrize(
    ("execution", "settings", "cpu"),
    [
        (WAITS, SETTINGS, 10**6),
        (COMPUTES, replace(SETTINGS, in_turn=True), 10**6),
        (COMPUTES, replace(SETTINGS, pin=False), 10**6),
        (COMPUTES, SETTINGS, None),
    ],
)
def test_others_take_turns(execution: Execution, settings: RunSettings, cpu: int | None) -> None:
    for done, observations in rounds(Script(always(execution)), 3, settings, cpu):
        assert "together" not in done
        assert observations[0].notes == ()


def test_it_takes_only_one_arm_that_waits() -> None:
    def execution(arm: ArmName, _together: bool) -> Execution:  # noqa: FBT001
        return WAITS if arm is ArmName.HEAD else COMPUTES

    assert not any("together" in done for done, _ in rounds(Script(execution), 2))


def test_sides_that_wait_for_each_other_take_turns_from_then_on() -> None:
    def execution(_arm: ArmName, together: bool) -> Execution:  # noqa: FBT001
        return WAITS if together else COMPUTES

    first, *later = rounds(Script(execution), 3)
    assert is_together(first[0])
    assert not any("together" in done for done, _ in later)


def test_sides_that_fail_at_the_same_time_take_turns_and_a_note_says_why() -> None:
    (done, observations), (later, _) = rounds(
        script := Script(always(COMPUTES), fails_together=True), 2
    )
    assert script.given_up, "the other side is not left running"
    assert done.count("together") == 2
    assert done[-12:].count("base in turn") == 6
    for one in observations:
        assert one.error is None
        (note,) = one.notes
        assert note.startswith("base and head were measured in turn, because one of them failed")
        assert note.endswith("at the same time: exited with 1 (allowed: 0)")
    assert "together" not in later


def test_several_threads_on_one_cpu_are_noted() -> None:
    for cpu, settings, is_noted in (
        (10**6, SETTINGS, True),
        (None, SETTINGS, False),
        (10**6, replace(SETTINGS, pin=False), False),
    ):
        ((_, observations),) = rounds(Script(always(STARTS_OTHERS)), 1, settings, cpu)
        assert any("`parallel = true`" in note for note in observations[0].notes) is is_noted


@pytest.mark.skipif(not supports_pinning(), reason="binds processes to CPUs")
def test_real_commands_run_at_the_same_time_and_a_failure_ends_the_other(
    tmp_path: Path, guardian: Guardian
) -> None:
    arms = {name: Arm(name, tmp_path, tmp_path) for name in ArmName}
    cpu = max(available_cpus())
    settings = EngineSettings(Measure(), cpu=cpu, all_cpus=available_cpus())
    meet = "touch {mine}; until [ -e {other} ]; do :; done; [ {mine} != {failing} ] || exit 7"
    meet += "; [ {failing} = none ] || sleep 300"
    with closing(CommandLauncher(guardian)) as one, closing(CommandLauncher(guardian)) as two:
        runners = {
            arm: ArmRunner(arms, launcher, settings)
            for arm, launcher in zip(ArmName, (one, two), strict=True)
        }

        def run(failing: str) -> list[Execution]:
            for file in tmp_path.iterdir():
                file.unlink()
            commands = [
                command(
                    mine,
                    ("/bin/sh", "-c", meet.format(mine=mine, other=other, failing=failing)),
                    tmp_path,
                )
                for mine, other in zip(ArmName, reversed(ArmName), strict=True)
            ]
            return run_together(runners, replace(SETTINGS, timeout_s=30), commands)

        executions = run("none")
        assert all(execution.shared_cpu for execution in executions)
        for execution in executions:
            assert execution.waited_for_cpu_ns is not None
            assert 0 < execution.time_ns <= execution.wall_ns
        with pytest.raises(CommandFailedError, match="exited with 7"):
            run(str(list(ArmName)[1]))
        assert len(run("none")) == 2
    assert available_cpus() == settings.all_cpus

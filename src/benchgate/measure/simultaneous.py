"""Runs a program in both arms at the same time, on one CPU.

What disturbs one of them then disturbs the other, too, so the ratio of their times varies much less
than if they take turns. The time of each is the time until it ended, without the time in which it
could have run but the CPU was busy with something else. The OS knows that of a single thread; of
several, the time is their CPU time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from benchgate.measure.affinity import kept_off
from benchgate.model.metrics import TIME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.measure.arm_runner import ArmRunner, CommandFailedError
    from benchgate.measure.armcommand import ArmCommand, RunSettings
    from benchgate.measure.engine import ArmName
    from benchgate.measure.execution import Execution

_TOGETHER = f"{TIME.name}: both sides ran at the same time on one CPU"
OF_ONE_THREAD: Final = f"{_TOGETHER}; how long each waited for the CPU is not part of its time"
OF_SEVERAL: Final = (
    f"{_TOGETHER}; because they start threads or other processes, it is their CPU time, without any"
    " waiting: `in_turn = true` measures the wall time"
)

# The part of its time, waiting for a CPU left out, that a program may spend on anything else than
# computing.
_MOST_WAITING = 0.1


def may_share_cpu(executions: Sequence[Execution]) -> bool:
    """Whether a program does nothing but compute, as far as these executions show.

    A program that waits, for example for a disk, could wait for its other side.

    Args:
        executions: of one arm, pinned, with nothing of the other arm beside them. The one that
            waited least counts, because the first of all has to read files from the disk.
    """
    return any(one.waiting_ratio <= _MOST_WAITING for one in executions)


def mostly_waits(executions: Sequence[Execution]) -> bool:
    """Whether most executions beside the other arm waited for something else than a CPU.

    Nobody knows it of several threads.
    """
    waiting = [one.is_one_thread and one.waiting_ratio > _MOST_WAITING for one in executions]
    return 2 * sum(waiting) > len(executions)


def note_on(executions: Sequence[Execution]) -> str:
    """Say what the time of executions beside the other arm is."""
    return OF_ONE_THREAD if all(one.is_one_thread for one in executions) else OF_SEVERAL


def run_together(
    runners: Mapping[ArmName, ArmRunner], settings: RunSettings, commands: Sequence[ArmCommand]
) -> list[Execution]:
    """Run the prepare of each arm, and then execute the commands of both arms at the same time.

    Args:
        settings: pinned.
        commands: of two arms; the first is started first.

    Raises:
        CommandFailedError: one of them failed, and the other one was ended.
    """
    first, second = commands
    for command in commands:
        runners[command.arm].prepare(settings, command)
    longer = replace(settings, timeout_s=len(commands) * settings.timeout_s)
    with kept_off(runners[first.arm].cpu_for(settings)), ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(runners[first.arm].time, longer, first)
        try:
            executed = runners[second.arm].time(longer, second)
            executions = [ahead.result(), executed]
        except BaseException:
            runners[first.arm].give_up()
            raise
    return [replace(one, shared_cpu=True) for one in executions]


def why_in_turn(failure: CommandFailedError) -> str:
    """The note on a program that fails if both of its sides run at the same time."""
    reason = str(failure).partition("\n")[0]
    return (
        "base and head were measured in turn, because one of them failed when both ran at the same"
        f" time: {reason}"
    )

"""Runs the same work in both arms at the same time, on one CPU: programs, and slow functions.

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
from benchgate.model.run import TIME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchgate.measure.arm_runner import ArmRunner
    from benchgate.measure.armcommand import ArmCommand, RunSettings
    from benchgate.measure.engine import ArmName
    from benchgate.measure.execution import Execution

_TOGETHER = f"{TIME.name}: both sides ran at the same time on one CPU"
OF_ONE_THREAD: Final = f"{_TOGETHER}; how long each waited for the CPU is not part of its time"
OF_SEVERAL: Final = (
    f"{_TOGETHER}; because they start threads or other processes, it is their CPU time, without any"
    " waiting: `in_turn = true` measures the wall time"
)

# The part of its time, waiting for a CPU left out, that work may spend on anything else than
# computing.
_MOST_WAITING = 0.1


def only_computes(waiting_ratios: Iterable[float]) -> bool:
    """Whether work does nothing but compute on each arm; what waits could wait for the other arm.

    Args:
        waiting_ratios: for each arm the part of its time, waiting for a CPU left out, in which it
            did not compute; of the run that waited least, because the first of all has to read
            files from the disk.
    """
    return all(ratio <= _MOST_WAITING for ratio in waiting_ratios)


def mostly_waits(waiting_ratios: Sequence[float]) -> bool:
    """Whether most runs beside the other arm waited for something else than a CPU."""
    return 2 * sum(ratio > _MOST_WAITING for ratio in waiting_ratios) > len(waiting_ratios)


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


def why_in_turn(failure: str) -> str:
    """The note on work that fails if both sides do it at the same time."""
    reason = failure.partition("\n")[0]
    return (
        "base and head were measured in turn, because one of them failed when both ran at the same"
        f" time: {reason}"
    )

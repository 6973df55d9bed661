"""How a command runs, the same in all arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.config import CommandBenchmark, Measure
    from benchgate.measure.arm import ArmName


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a command runs, the same in all arms.

    Attributes:
        id: id of the benchmark.
        executions: most executions per arm and round; slow commands get fewer.
        warmup: executions before those of the first round; they are stored separately.
        pin: run it on one CPU if the OS supports that; wrong for a parallel program.
        in_turn: never run it in two arms at the same time.
        allow_foreign: measure it even if it runs code that is not the arm's own.
        timeout_s: limit for each execution, each prepare and each cleanup.
        grace_s: how long it may clean up if it must end early.
        planned_s: how long an execution takes by its own plan, which no budget shortens.
    """

    id: str
    executions: int
    warmup: int
    pin: bool
    allow_foreign: bool
    timeout_s: float
    grace_s: float = 0.0
    planned_s: float = 0.0
    in_turn: bool = True


def run_settings(
    id_: str, benchmarks: Mapping[ArmName, CommandBenchmark], lead: ArmName, measure: Measure
) -> RunSettings:
    """Choose the settings for a command so that all arms run it in the same way.

    Args:
        benchmarks: the benchmark with this id, by the arm whose configuration defines it.
        lead: the arm that decides if both arms have it. The longer timeout applies to both, so that
            neither arm can make the other fail.
        measure: the defaults for what the benchmark does not set.
    """
    leading = benchmarks.get(lead) or next(iter(benchmarks.values()))
    return RunSettings(
        id=id_,
        executions=leading.executions or measure.executions,
        warmup=measure.command_warmup,
        pin=not leading.parallel,
        in_turn=leading.in_turn,
        allow_foreign=leading.allow_foreign,
        timeout_s=max(one.timeout_s or measure.timeout_s for one in benchmarks.values()),
    )

"""Plans how each unit of a scenario is launched in every arm."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.measure.programs import ArmCommand, RunSettings, environ_of, padded, with_equal_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.measure.contract import EngineSettings
    from benchgate.measure.scenarios.discovery import ArmScenario, Unit


GENERATOR: Final = (sys.executable, "-I", "-m", "benchgate.load")
"""Starts the load generator, which ignores the variables that are for the arm's Python."""

ALLOWANCE_S: Final = 120.0
"""Time for setup and teardown, in which the load generator must also start and end."""

CLEANING_S: Final = 5.0
"""Time for the teardown if the load generator must end early."""

_ANY_EXIT_CODE = frozenset(range(256))


@dataclass(frozen=True, slots=True, eq=False)
class LaunchPlan:
    """How a scenario is launched in one arm.

    Attributes:
        command: the load generator, without the paths of its two files, and its environment.
        settings: how that runs.
    """

    scenario: ArmScenario
    command: ArmCommand
    settings: RunSettings


def launch_plans(
    unit: Unit, settings: EngineSettings, generator: Sequence[str] = GENERATOR
) -> tuple[LaunchPlan, ...]:
    """Plan the launches of a scenario in every arm that has it, under equal conditions.

    Args:
        generator: the command that starts the load generator.
    """
    environs = with_equal_names(
        [environ_of(one.arm, settings.outside, one.benchmark.pythonpath) for one in unit.arms]
    )
    commands = [
        ArmCommand(
            arm=one.arm.name,
            command=tuple(generator),
            prepare=None,
            cleanup=None,
            cwd=one.arm.folder,
            env={**environ, **one.arm.variables, **_variables(one), "PWD": str(one.arm.folder)},
            names_its_arm=any(one.arm.substitute(text) != text for text in _texts(one)),
            ok_exit_codes=_ANY_EXIT_CODE,
            texts=(
                *_texts(one),
                *(text for _, each in one.scenario.tables(one.target) for text in each.texts()),
            ),
        )
        for one, environ in zip(unit.arms, environs, strict=True)
    ]
    leading = next((one for one in unit.arms if one.arm.name is settings.lead), unit.arms[0])
    how = RunSettings(
        id=unit.title,
        executions=1,
        warmup=0,
        pin=False,
        allow_foreign=leading.benchmark.allow_foreign,
        timeout_s=max(map(_timeout_s, unit.arms)),
        grace_s=CLEANING_S,
        planned_s=max(one.scenario.planned_s for one in unit.arms),
    )
    return tuple(
        LaunchPlan(one, command, how)
        for one, command in zip(unit.arms, padded(commands), strict=True)
    )


def _timeout_s(one: ArmScenario) -> float:
    return one.benchmark.timeout_s or one.scenario.planned_s + ALLOWANCE_S


def _variables(one: ArmScenario) -> dict[str, str]:
    return {name: one.arm.substitute(value) for name, value in one.benchmark.env.items()}


def _texts(one: ArmScenario) -> Iterator[str]:
    """The texts that may name files of the arm."""
    yield from one.benchmark.env.values()
    yield from one.target.texts()
    for service in one.scenario.services:
        yield from (service.start, service.cwd, *service.env.values())

"""Measures commands."""

from benchgate.measure.programs.commands import (
    ArmCommand,
    arm_commands,
    padded,
    require_equal_variables,
    workload_hash,
)
from benchgate.measure.programs.engine import CommandEngine
from benchgate.measure.programs.run_settings import RunSettings
from benchgate.measure.programs.runner import ArmRunner, CommandFailedError, RunFailedError
from benchgate.measure.programs.variables import environ_of, with_equal_names

__all__ = [
    "ArmCommand",
    "ArmRunner",
    "CommandEngine",
    "CommandFailedError",
    "RunFailedError",
    "RunSettings",
    "arm_commands",
    "environ_of",
    "padded",
    "require_equal_variables",
    "with_equal_names",
    "workload_hash",
]

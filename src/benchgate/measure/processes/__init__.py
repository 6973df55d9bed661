"""Starts processes, runs commands and builds, and ends what is left behind."""

from benchgate.measure.processes.budget import Budget
from benchgate.measure.processes.build_commands import (
    USERS_ENVIRONMENT,
    build,
    build_environment,
    last_warnings,
    run_command,
    versions,
    with_warnings,
)
from benchgate.measure.processes.execution import (
    AllowedTime,
    Execution,
    measured_in,
    notes_on,
    trouble_with,
)
from benchgate.measure.processes.guardian import Guardian, helper_environment
from benchgate.measure.processes.launcher import CommandLauncher

__all__ = [
    "USERS_ENVIRONMENT",
    "AllowedTime",
    "Budget",
    "CommandLauncher",
    "Execution",
    "Guardian",
    "build",
    "build_environment",
    "helper_environment",
    "last_warnings",
    "measured_in",
    "notes_on",
    "run_command",
    "trouble_with",
    "versions",
    "with_warnings",
]

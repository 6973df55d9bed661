"""Live processes that speak the worker protocol."""

from benchgate.measure.workers.conformance import Conformance
from benchgate.measure.workers.event_counts import COUNTS_SETUPS, count_per_call
from benchgate.measure.workers.file_use import FileUse
from benchgate.measure.workers.runtimes import describe_runtime, describe_runtimes
from benchgate.measure.workers.start import ProgramSetting, WorkerSetting
from benchgate.measure.workers.worker import (
    ForeignModuleError,
    Unstarted,
    Worker,
    WorkerFailedError,
    WorkerSkippedError,
)

__all__ = [
    "COUNTS_SETUPS",
    "Conformance",
    "FileUse",
    "ForeignModuleError",
    "ProgramSetting",
    "Unstarted",
    "Worker",
    "WorkerFailedError",
    "WorkerSetting",
    "WorkerSkippedError",
    "count_per_call",
    "describe_runtime",
    "describe_runtimes",
]

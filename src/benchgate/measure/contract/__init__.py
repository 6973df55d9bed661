"""What an engine is: what it is told, what it finds, and what it measures."""

from benchgate.measure.contract.data_files import DataFiles, DataFilesError, matches, workload_of
from benchgate.measure.contract.described import Described
from benchgate.measure.contract.engine import (
    CountingEngine,
    DivisibleEngine,
    Division,
    Engine,
    ObservingEngine,
    Stopwatch,
    Task,
    ignore,
    starting_order,
    tasks_of,
)
from benchgate.measure.contract.found import Definition, Discovery, DiscoveryFailure
from benchgate.measure.contract.observation import Observation
from benchgate.measure.contract.settings import EngineSettings, StartingEnvironment
from benchgate.measure.contract.sharing_a_cpu import (
    OF_SEVERAL,
    mostly_waits,
    only_computes,
    why_in_turn,
)

__all__ = [
    "OF_SEVERAL",
    "CountingEngine",
    "DataFiles",
    "DataFilesError",
    "Definition",
    "Described",
    "Discovery",
    "DiscoveryFailure",
    "DivisibleEngine",
    "Division",
    "Engine",
    "EngineSettings",
    "Observation",
    "ObservingEngine",
    "StartingEnvironment",
    "Stopwatch",
    "Task",
    "ignore",
    "matches",
    "mostly_waits",
    "only_computes",
    "starting_order",
    "tasks_of",
    "why_in_turn",
    "workload_of",
]

"""What the user wants measured and how it is judged: benchgate.toml or [tool.benchgate]."""

from benchgate.config.benchmarks import Benchmark
from benchgate.config.command_benchmark import CommandBenchmark
from benchgate.config.function_benchmarks import FunctionBenchmarks, PythonBenchmark
from benchgate.config.load import from_kept, load, loads, loads_folder, to_keep
from benchgate.config.loosening import brings_waivers, loosening
from benchgate.config.measurement import Build, Measure
from benchgate.config.precedence import policy_from, with_accepted, with_options
from benchgate.config.resolved import Config, Sides
from benchgate.config.rules import RowPolicy, matches
from benchgate.config.scenario_benchmark import ScenarioBenchmark
from benchgate.config.suite_benchmark import SuiteBenchmark
from benchgate.config.tables import Accept, Baseline, Gate, Limit, Rule, Waive

__all__ = [
    "Accept",
    "Baseline",
    "Benchmark",
    "Build",
    "CommandBenchmark",
    "Config",
    "FunctionBenchmarks",
    "Gate",
    "Limit",
    "Measure",
    "PythonBenchmark",
    "RowPolicy",
    "Rule",
    "ScenarioBenchmark",
    "Sides",
    "SuiteBenchmark",
    "Waive",
    "brings_waivers",
    "from_kept",
    "load",
    "loads",
    "loads_folder",
    "loosening",
    "matches",
    "policy_from",
    "to_keep",
    "with_accepted",
    "with_options",
]

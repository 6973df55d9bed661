"""What the user wants measured and how it is judged: benchgate.toml or [tool.benchgate]."""

from benchgate.config.benchmarks import Benchmark, ScenarioBenchmark
from benchgate.config.keeping import to_keep
from benchgate.config.live_benchmarks import FunctionBenchmarks, LiveBenchmarks, PythonBenchmark
from benchgate.config.load import from_kept, load, loads, loads_folder
from benchgate.config.loosening import (
    brings_waivers,
    loosening,
    policy_from,
    with_accepted,
    with_options,
)
from benchgate.config.program_benchmarks import CommandBenchmark, SuiteBenchmark
from benchgate.config.resolved import Config, RowPolicy, Sides, matches
from benchgate.config.tables import Accept, Baseline, Build, Gate, Limit, Measure, Rule, Waive

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
    "LiveBenchmarks",
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

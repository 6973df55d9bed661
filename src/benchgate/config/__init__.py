"""What the user wants measured and how it is judged: benchgate.toml or [tool.benchgate]."""

from benchgate.config.benchmarks import Benchmark, CommandBenchmark, PythonBenchmark
from benchgate.config.load import load, loads
from benchgate.config.models import Baseline, Build, Gate, Measure, Rule
from benchgate.config.resolved import Config
from benchgate.config.rules import RowPolicy, matches
from benchgate.config.schema import config_schema

__all__ = [
    "Baseline",
    "Benchmark",
    "Build",
    "CommandBenchmark",
    "Config",
    "Gate",
    "Measure",
    "PythonBenchmark",
    "RowPolicy",
    "Rule",
    "config_schema",
    "load",
    "loads",
    "matches",
]

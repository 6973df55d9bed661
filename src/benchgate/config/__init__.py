"""What the user wants measured and how it is judged: benchgate.toml or [tool.benchgate]."""

from benchgate.config.benchmarks import Benchmark, Build, CommandBenchmark, Measure, PythonBenchmark
from benchgate.config.kept import kept_text
from benchgate.config.load import load, loads, loads_folder
from benchgate.config.loosening import brings_waivers, loosening
from benchgate.config.models import Accept, Baseline, Gate, Rule, Waive
from benchgate.config.policy import Sides, policy_from, with_accepted, with_options
from benchgate.config.resolved import Config
from benchgate.config.rules import RowPolicy, matches

__all__ = [
    "Accept",
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
    "Sides",
    "Waive",
    "brings_waivers",
    "kept_text",
    "load",
    "loads",
    "loads_folder",
    "loosening",
    "matches",
    "policy_from",
    "with_accepted",
    "with_options",
]

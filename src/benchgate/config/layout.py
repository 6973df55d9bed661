"""The layout of benchgate.toml, for messages about what is wrong in it."""

from __future__ import annotations

from typing import Final

from benchgate.config.benchmarks import KINDS
from benchgate.config.tables import TABLES
from benchgate.tables.problems import Kinds, Layout

_BENCHMARK: Final = "benchmark"

LAYOUT: Final = Layout(
    TABLES,
    frozenset({_BENCHMARK, "rule", "limit", "waive"}),
    "docs/configuration.md",
    kinds=Kinds(
        _BENCHMARK,
        tuple(KINDS),
        'write `command = "..."` for a program, `python = "benchmarks/"` for functions, '
        '`suite = "..."` for a suite of another tool, or `scenario = "..."` for a scenario file',
    ),
)

"""The tables [[benchmark]], one for each kind: what is measured."""

from __future__ import annotations

from functools import reduce
from operator import or_
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Final, get_args

from pydantic import Discriminator, Tag

from benchgate.config.benchmark_table import DATA, PYTHONPATH, TAGS, BenchmarkTable
from benchgate.config.keys import key, neutral, on
from benchgate.config.live_benchmarks import (
    AsvBenchmark,
    CppBenchmark,
    GoBenchmark,
    NodeBenchmark,
    PyperfBenchmark,
    PytestBenchmark,
    PythonBenchmark,
    RustBenchmark,
    WorkerBenchmark,
)
from benchgate.config.program_benchmarks import CommandBenchmark, SuiteBenchmark
from benchgate.tables import fields

if TYPE_CHECKING:
    from collections.abc import Mapping


class ScenarioBenchmark(BenchmarkTable):
    """A workload under load, as a file of each side describes it."""

    KIND = "scenario"

    scenario: fields.RelativePath = key(neutral, ..., "The scenario file (TOML, JSON or YAML).")
    timeout_s: fields.Duration | None = key(
        neutral,
        None,
        "Time limit for one launch; by default one that its durations leave room for.",
    )
    env: fields.Environment = key(
        neutral, dict, "Variables added to the environment of the load generator and its services."
    )
    tags: fields.Names = TAGS
    data: fields.DataGlobs = DATA
    pythonpath: fields.Templates | None = PYTHONPATH
    allow_foreign: bool = key(on, False, "Measure it even if nothing in it depends on the side.")

    @property
    def subjects(self) -> tuple[str, ...]:
        """Its file: the ids are known once it has been read."""
        return (self.scenario,)

    def covers(self, subject: str) -> bool:
        """Whether it has the same file."""
        return PurePosixPath(subject) == PurePosixPath(self.scenario)


Benchmark = (
    CommandBenchmark
    | PythonBenchmark
    | PytestBenchmark
    | AsvBenchmark
    | PyperfBenchmark
    | GoBenchmark
    | NodeBenchmark
    | RustBenchmark
    | CppBenchmark
    | WorkerBenchmark
    | SuiteBenchmark
    | ScenarioBenchmark
)

KINDS: Final[Mapping[str, type[BenchmarkTable]]] = {kind.KIND: kind for kind in get_args(Benchmark)}
"""The kinds of [[benchmark]], by the key that tells them apart."""


def _kind(value: object) -> str | None:
    """Find out which kind of benchmark an entry of [[benchmark]] is."""
    kinds = [kind for kind in KINDS if isinstance(value, dict) and kind in value]
    return kinds[0] if len(kinds) == 1 else None


if TYPE_CHECKING:
    TaggedBenchmark = Benchmark
else:
    _TAGGED = (Annotated[kind, Tag(key)] for key, kind in KINDS.items())
    TaggedBenchmark = Annotated[reduce(or_, _TAGGED), Discriminator(_kind)]

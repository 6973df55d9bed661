"""The table [[benchmark]]: what is measured."""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Final, get_args

from pydantic import Discriminator, Tag

from benchgate.config.asv_benchmark import AsvBenchmark
from benchgate.config.benchmark_table import BenchmarkTable
from benchgate.config.command_benchmark import CommandBenchmark
from benchgate.config.function_benchmarks import PytestBenchmark, PythonBenchmark
from benchgate.config.pyperf_benchmark import PyperfBenchmark
from benchgate.config.scenario_benchmark import ScenarioBenchmark
from benchgate.config.suite_benchmark import SuiteBenchmark

Benchmark = (
    CommandBenchmark
    | PythonBenchmark
    | PytestBenchmark
    | AsvBenchmark
    | PyperfBenchmark
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

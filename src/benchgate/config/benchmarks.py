"""The table [[benchmark]]: what is measured."""

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Discriminator, Tag

from benchgate.config.asv_benchmark import AsvBenchmark
from benchgate.config.benchmark_table import BenchmarkTable
from benchgate.config.command_benchmark import CommandBenchmark
from benchgate.config.function_benchmarks import PytestBenchmark, PythonBenchmark
from benchgate.config.pyperf_benchmark import PyperfBenchmark

KINDS: Final[Mapping[str, type[BenchmarkTable]]] = {
    "command": CommandBenchmark,
    "python": PythonBenchmark,
    "pytest": PytestBenchmark,
    "asv": AsvBenchmark,
    "pyperf": PyperfBenchmark,
}
"""The kinds of [[benchmark]], by the key that tells them apart."""


def _kind(value: object) -> str | None:
    """Find out which kind of benchmark an entry of [[benchmark]] is."""
    kinds = [kind for kind in KINDS if isinstance(value, dict) and kind in value]
    return kinds[0] if len(kinds) == 1 else None


Benchmark = CommandBenchmark | PythonBenchmark | PytestBenchmark | AsvBenchmark | PyperfBenchmark
TaggedBenchmark = Annotated[
    Annotated[CommandBenchmark, Tag("command")]
    | Annotated[PythonBenchmark, Tag("python")]
    | Annotated[PytestBenchmark, Tag("pytest")]
    | Annotated[AsvBenchmark, Tag("asv")]
    | Annotated[PyperfBenchmark, Tag("pyperf")],
    Discriminator(_kind),
]

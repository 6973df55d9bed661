"""C++: programs of Google Benchmark, or with benchgate's own header, which [build] compiles."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.config.live_benchmarks import CppBenchmark
from benchgate.measure.languages.language import ADAPTERS, Language, Toolbox, WorkerProgram, text_of
from benchgate.measure.languages.linking import FOR_LINKERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchgate.measure.arm import Arm

_SUFFIXES = frozenset({".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hh", ".hpp", ".hxx"})
_HEADERS = ("benchmark/benchmark.h", "benchgate.h")


class Cpp(Language[CppBenchmark]):
    """Programs that lie at the paths of the table after [build]."""

    BUILT_BEFORE = True
    LINKED_IN_ORDER = True
    OBSERVED_UNDER_CALLGRIND = True

    def find(self, arm: Arm, benchmark: CppBenchmark) -> Iterator[tuple[str, str]]:
        for path in benchmark.paths:
            if (arm.folder / path).is_file():
                yield path, Path(path).stem

    def build(
        self, _tools: Toolbox, arm: Arm, benchmark: CppBenchmark, path: str, _layout: int
    ) -> WorkerProgram:
        return WorkerProgram((str(arm.folder / path), *benchmark.tool_arguments))


def compiled_by_build(arm: Arm) -> Iterator[Path]:
    """The sources of benchmarks in C++, as far as their text shows."""
    for file in arm.root.rglob("*"):
        if file.suffix in _SUFFIXES and any(each in text_of(file) for each in _HEADERS):
            yield file


def build_variables(benchmarks: Iterable[object], given: Mapping[str, str]) -> dict[str, str]:
    """What [build] gets for these benchmarks: compilers that add what a worker needs.

    Args:
        given: the variables that the configuration sets.
    """
    if not any(isinstance(one, CppBenchmark) for one in benchmarks):
        return {}
    known = {**os.environ, **given}
    return {
        "CC": str(ADAPTERS / "cpp" / "cc"),
        "CXX": str(ADAPTERS / "cpp" / "c++"),
        "BENCHGATE_CC": known.get("CC", "cc"),
        "BENCHGATE_CXX": known.get("CXX", "c++"),
        **FOR_LINKERS,
    }

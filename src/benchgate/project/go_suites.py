"""Finds benchmarks of Go."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from benchgate.project.needs import Build
from benchgate.project.suites import Suite, command_table, in_folder, run_in
from benchgate.units import counted

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from benchgate.project.tree import ProjectTree

_BENCHMARK = re.compile(r"^func Benchmark(?![a-z])\w*\(\s*\w+ \*testing\.B\s*\)", re.MULTILINE)
_COMMAND = "go test -run=NONE -bench=. -benchmem -benchtime=0.1s -count=5 ./..."
_COMPILING = "go test -run=NONE ./..."


def find_go_suites(tree: ProjectTree) -> list[Suite]:
    """Find the modules that have functions `Benchmark...` in their tests."""
    modules = {path.parent for path in tree.named("go.mod")}
    counts: dict[PurePosixPath, dict[PurePosixPath, int]] = defaultdict(dict)
    for path in tree.named("*_test.go") if modules else ():
        module = next((folder for folder in path.parents if folder in modules), None)
        if module is None or any(part.startswith("_") for part in path.parts):
            continue
        if found := len(_BENCHMARK.findall(tree.read(path))):
            counts[module][path.parent] = counts[module].get(path.parent, 0) + found
    return [_suite(module, packages) for module, packages in sorted(counts.items())]


def _suite(module: PurePosixPath, packages: dict[PurePosixPath, int]) -> Suite:
    total, in_packages = sum(packages.values()), counted(len(packages), "package")
    return Suite(
        f"{counted(total, 'benchmark')} of Go in {in_packages}{in_folder(module)}",
        command_table(_COMMAND, module),
        "The benchmarks of Go: functions Benchmark*. A short `-benchtime` leaves time for more "
        "rounds.",
        module,
        Build((run_in(module, _COMPILING),), {}, "the tests are compiled", ("go",)),
    )

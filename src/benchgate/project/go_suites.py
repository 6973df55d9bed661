"""Finds the benchmarks of Go."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.measure.languages import benchmarks_in
from benchgate.project.build_steps import BuildSteps, Suite, one_or_all
from benchgate.project.tree import ProjectTree, in_folder
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator


def go_suites(tree: ProjectTree) -> Iterator[Suite]:
    """The modules that have functions `Benchmark...` in their tests."""
    modules = {path.parent for path in tree.named("go.mod")}
    counts: dict[PurePosixPath, dict[PurePosixPath, int]] = defaultdict(dict)
    for path in tree.named("*_test.go") if modules else ():
        module = next((folder for folder in path.parents if folder in modules), None)
        if module is None or any(part.startswith("_") for part in path.parts):
            continue
        if found := benchmarks_in(tree.read(path)):
            counts[module][path.parent] = counts[module].get(path.parent, 0) + found
    folders = tuple(map(str, sorted(counts)))
    if work := tree.read(PurePosixPath("go.work")):
        used = {PurePosixPath(word.strip('"`')) for word in work.split()}
        for module in sorted(counts.keys() - used):
            del counts[module]
            tree.note(f"go.work does not use the Go module{in_folder(module)}: it is left out.")
        folders = (".",)
    if not counts:
        return
    total = sum(sum(packages.values()) for packages in counts.values())
    places = sum(map(len, counts.values()))
    yield Suite(
        f"{counted(total, 'benchmark')} of Go in {counted(places, 'package')}",
        {"go": one_or_all(folders)},
        "The benchmarks of Go: functions Benchmark*.",
        PurePosixPath(),
        BuildSteps(tools=("go",)),
    )

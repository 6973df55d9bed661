"""Finds the benchmarks that a project has: benchgate's own, and the suites of other tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.config.live_benchmarks import is_benchmark_file
from benchgate.measure.sources import topmost_folders
from benchgate.project.cargo_suites import cargo_suites
from benchgate.project.cmake_suites import cmake_suites
from benchgate.project.go_suites import go_suites
from benchgate.project.java_suites import java_suites
from benchgate.project.javascript import deno_suites, node_suites
from benchgate.project.python_suites import PythonSuites, read_sources
from benchgate.project.ruby_suites import ruby_suites
from benchgate.project.tree import ProjectTree, list_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchgate.project.build_steps import Suite
    from benchgate.project.python_suites import Sources


@dataclass(frozen=True, slots=True)
class FoundBenchmarks:
    """The benchmarks of a project.

    Attributes:
        tree: the files of the project, with notes on the search.
        own: folders and files that hold functions `bench_*`, relative to the top.
        suites: of other tools, the ones in Python first.
        unclear: folders of other files named `bench_*.py`, by what they seem to be for.
    """

    tree: ProjectTree
    own: tuple[str, ...]
    suites: tuple[Suite, ...]
    unclear: Mapping[str, tuple[str, ...]]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found, and what a person should know about it."""
        return (
            *(f"Found {suite.found}." for suite in self.suites),
            *(
                f"The files bench_*.py in {', '.join(places)} are for {tool}, but they do not tell "
                "how it runs them."
                for tool, places in self.unclear.items()
            ),
            *self.tree.notes,
        )


def find_benchmarks(top: Path, is_ignored: Callable[[Path], bool]) -> FoundBenchmarks:
    """Look for benchmarks below a folder; no code of the project runs.

    Args:
        is_ignored: whether git ignores a path, so that it is not measured.
    """
    tree = list_tree(top, is_ignored)
    sources = read_sources(tree)
    suites = PythonSuites(tree, sources).find()
    for find in (
        *(cargo_suites, go_suites, node_suites, deno_suites),
        *(cmake_suites, java_suites, ruby_suites),
    ):
        suites += find(tree)
    measured = [suite for suite in suites if not is_ignored(top / suite.place)]
    return FoundBenchmarks(tree, _own(sources), tuple(measured), _unclear(sources, measured))


def _own(sources: Sources) -> tuple[str, ...]:
    """The folders that hold benchmarks for benchgate; its files, where other tools' are beside."""
    files = {path: one.tool for path, one in sources.items() if is_benchmark_file(path)}
    own = [path for path, tool in files.items() if tool is None]
    folders = topmost_folders(own)
    shared = [
        folder
        for folder in folders
        if any(tool and path.is_relative_to(folder) for path, tool in files.items())
    ]
    named = [str(path) for path in own if any(path.is_relative_to(one) for one in shared)]
    return (*(folder for folder in folders if folder not in shared), *named)


def _unclear(sources: Sources, suites: list[Suite]) -> Mapping[str, tuple[str, ...]]:
    """The folders of files that are named like benchmarks, but belong to no suite."""
    covered = [
        PurePosixPath(place)
        for suite in suites
        if suite.python
        for value in suite.table.values()
        for place in (value if isinstance(value, tuple | dict) else (str(value),))
    ]
    found: dict[str, set[str]] = {}
    for path, one in sources.items():
        is_covered = any(path.is_relative_to(place) for place in covered)
        if one.tool and is_benchmark_file(path) and not is_covered:
            found.setdefault(one.tool, set()).add(str(path.parent))
    return {tool: tuple(sorted(places)) for tool, places in sorted(found.items())}

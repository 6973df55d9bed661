"""Finds the files of Python benchmarks, and the folders that belong to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from benchgate.config.benchmarks import PATTERN, PythonBenchmark, is_benchmark_file
from benchgate.measure.importpath import import_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.measure.engine import Arm

_NAMED_FOR_TESTS = re.compile("bench|perf|test", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BenchFile:
    """One benchmark file; it may exist in one arm only.

    Attributes:
        path: relative to an arm's root.
        group: the prefix of its benchmarks' ids.
        top: the folder that was searched, relative to the root.
    """

    benchmark: PythonBenchmark
    path: str
    group: str
    top: str = "."

    def id_of(self, name: str) -> str:
        """Return the full id of a benchmark that the worker calls `name`."""
        return f"{self.group}/{name}"


def find_files(arm: Arm, benchmark: PythonBenchmark, path: str) -> tuple[BenchFile, ...]:
    """Find the benchmark files of one arm at a benchmark's path; none if the path is absent."""
    place = arm.root / path
    files, top = ([place], place.parent) if place.is_file() else (_search(place), place)
    found = []
    for file in files:
        group = group_of(file.relative_to(top), benchmark.group or "")
        path_, top_ = (p.relative_to(arm.root).as_posix() for p in (file, top))
        found.append(BenchFile(benchmark, path_, group, top_))
    return tuple(found)


def search_of(folders: tuple[str, ...]) -> PythonBenchmark:
    """Return the benchmarks to use if the configuration names none: the folders that hold files."""
    return PythonBenchmark.model_construct(paths=folders)


def group_of(file: PurePath, prefix: str) -> str:
    """Name the group of a benchmark file.

    Args:
        file: path relative to the folder that was searched.
        prefix: the group of the benchmark; "" for none.
    """
    *folders, _ = file.parts
    names = [*folders, file.stem.removeprefix("bench_")]
    return "/".join([prefix, *names] if prefix else names)


def find_folders(arms: Iterable[Arm]) -> tuple[str, ...]:
    """Find the topmost folders that hold benchmark files in any arm, relative to its root."""
    return topmost_folders(file.relative_to(arm.root) for arm in arms for file in _search(arm.root))


def topmost_folders(files: Iterable[PurePath]) -> tuple[str, ...]:
    """Return those folders of the files that do not lie inside another one."""
    found = {file.parent for file in files}
    topmost = [f for f in found if not any(f != g and f.is_relative_to(g) for g in found)]
    return tuple(sorted(folder.as_posix() for folder in topmost))


def _search(top: Path) -> list[Path]:
    """Find benchmark files below a folder."""
    return [f for f in sorted(top.rglob(PATTERN)) if is_benchmark_file(f.relative_to(top))]


def own_folders(arm: Arm, benchmark: PythonBenchmark) -> tuple[Path, ...]:
    """Return the folders whose code belongs to this arm only."""
    given = (path for path in benchmark.pythonpath or () if "{" in path)
    return arm.root, arm.env, *(arm.root / arm.substitute(path) for path in given)


def helpers_of(arm: Arm, file: BenchFile) -> Path | None:
    """Return the folder whose modules belong to the benchmarks instead of being measured.

    It is the folder that was searched for benchmarks, unless the project's own code is there:
    if modules are imported from it or a folder in it, or if it is a package not named for tests.
    """
    top = arm.root / file.top
    path = import_path(arm, file.benchmark.pythonpath)
    imported = (str(arm.root), *path.before, *path.after)
    if any(Path(folder).is_relative_to(top) for folder in imported):
        return None
    if (top / "__init__.py").exists() and not _NAMED_FOR_TESTS.search(top.name):
        return None
    return top

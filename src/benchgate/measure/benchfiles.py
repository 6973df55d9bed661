"""Where the files of Python benchmarks are, and which folders belong to them."""

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
        group: what the ids of its benchmarks start with.
        top: the folder that was searched, relative to the root.
    """

    benchmark: PythonBenchmark
    path: str
    group: str
    top: str = "."

    def id_of(self, name: str) -> str:
        """Give the full id of a benchmark that the worker knows as `name`."""
        return f"{self.group}/{name}"


def find_files(arm: Arm, benchmark: PythonBenchmark, path: str) -> tuple[BenchFile, ...]:
    """Find the benchmark files of one arm at one path of a benchmark; none where it is absent."""
    place = arm.root / path
    files, top = ([place], place.parent) if place.is_file() else (_search(place), place)
    found = []
    for file in files:
        group = group_of(file.relative_to(top), benchmark.group or "")
        path_, top_ = (p.relative_to(arm.root).as_posix() for p in (file, top))
        found.append(BenchFile(benchmark, path_, group, top_))
    return tuple(found)


def search_of(folders: tuple[str, ...]) -> PythonBenchmark:
    """Give what stands for a configuration that names no benchmark: these folders hold some."""
    return PythonBenchmark.model_construct(paths=folders)


def group_of(file: PurePath, prefix: str) -> str:
    """Name the group of a benchmark file.

    Args:
        file: as seen from the folder that was searched.
        prefix: the group of the benchmark; "" for none.
    """
    *folders, _ = file.parts
    names = [*folders, file.stem.removeprefix("bench_")]
    return "/".join([prefix, *names] if prefix else names)


def find_folders(arms: Iterable[Arm]) -> tuple[str, ...]:
    """Find the topmost folders that hold benchmark files in any arm, relative to its root."""
    return topmost_folders(file.relative_to(arm.root) for arm in arms for file in _search(arm.root))


def topmost_folders(files: Iterable[PurePath]) -> tuple[str, ...]:
    """Name the folders of files that lie in no other folder of them."""
    found = {file.parent for file in files}
    topmost = [f for f in found if not any(f != g and f.is_relative_to(g) for g in found)]
    return tuple(sorted(folder.as_posix() for folder in topmost))


def _search(top: Path) -> list[Path]:
    """Find benchmark files below a folder."""
    return [f for f in sorted(top.rglob(PATTERN)) if is_benchmark_file(f.relative_to(top))]


def own_folders(arm: Arm, benchmark: PythonBenchmark) -> tuple[Path, ...]:
    """Give the folders whose code is that of this arm alone."""
    given = (path for path in benchmark.pythonpath or () if "{" in path)
    return arm.root, arm.env, *(arm.root / arm.substitute(path) for path in given)


def helpers_of(arm: Arm, file: BenchFile) -> Path | None:
    """Give the folder whose modules belong to the benchmarks, and are not what they measure.

    It is the one that was searched for them, unless the project's own code is there: where modules
    are imported from it or a folder in it, and where it is a package that is not named for tests.
    """
    top = arm.root / file.top
    path = import_path(arm, file.benchmark.pythonpath)
    imported = (str(arm.root), *path.before, *path.after)
    if any(Path(folder).is_relative_to(top) for folder in imported):
        return None
    if (top / "__init__.py").exists() and not _NAMED_FOR_TESTS.search(top.name):
        return None
    return top

"""Finds the files of benchmarks in an arm, and the modules that belong to them."""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, cast

from benchgate.config.live_benchmarks import (
    PATTERN,
    FunctionBenchmarks,
    LiveBenchmarks,
    PythonBenchmark,
    is_benchmark_file,
)
from benchgate.measure.languages import NAMED_FOR_TESTS, find
from benchgate.measure.sources.import_path import import_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchgate.measure.arm import Arm


@dataclass(frozen=True, slots=True)
class BenchFile:
    """One benchmark file, or a suite of another tool; it may exist in one arm only.

    Attributes:
        path: relative to an arm's root.
        group: the prefix of its benchmarks' ids; "" if they have none.
        top: the folder that was searched, relative to the root.
    """

    benchmark: LiveBenchmarks
    path: str
    group: str
    top: str = "."

    @property
    def functions(self) -> FunctionBenchmarks:
        """Its table, of a file of Python."""
        return cast("FunctionBenchmarks", self.benchmark)

    @property
    def label(self) -> str:
        """Stands for all of its benchmarks."""
        is_foreign = isinstance(self.benchmark, FunctionBenchmarks)
        if is_foreign and not isinstance(self.benchmark, PythonBenchmark):
            return self.path  # its group is that of the whole suite
        return self.group or self.path

    def id_of(self, name: str) -> str:
        """Return the full id of a benchmark that the worker calls `name`."""
        return f"{self.group}/{name}" if self.group else name


def find_files(arm: Arm, benchmark: FunctionBenchmarks, path: str) -> tuple[BenchFile, ...]:
    """Find the benchmark files of one arm at a benchmark's path; none if the path is absent."""
    place = arm.folder / path
    if not isinstance(benchmark, PythonBenchmark):
        top = place if place.is_dir() else place.parent
        path_, top_ = (p.relative_to(arm.root).as_posix() for p in (place, top))
        exists = place.exists() if benchmark.IN_FOLDERS else place.is_file()
        return (BenchFile(benchmark, path_, benchmark.prefix, top_),) if exists else ()
    files, top = ([place], place.parent) if place.is_file() else (search(place), place)
    found = []
    for file in files:
        group = group_of(file.relative_to(top), benchmark.prefix)
        path_, top_ = (p.relative_to(arm.root).as_posix() for p in (file, top))
        found.append(BenchFile(benchmark, path_, group, top_))
    return tuple(found)


def find_programs(arm: Arm, benchmark: LiveBenchmarks) -> tuple[BenchFile, ...]:
    """Find what a table of another language names in one arm."""
    return tuple(
        BenchFile(benchmark, path, "/".join(filter(None, (benchmark.prefix, group))))
        for path, group in find(arm, benchmark)
    )


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
    """Find the topmost folders with benchmark files in any arm, relative to its configuration."""
    return topmost_folders(
        file.relative_to(arm.folder) for arm in arms for file in search(arm.folder)
    )


def topmost_folders(files: Iterable[PurePath]) -> tuple[str, ...]:
    """Return those folders of the files that do not lie inside another one."""
    found = {file.parent for file in files}
    topmost = [f for f in found if not any(f != g and f.is_relative_to(g) for g in found)]
    return tuple(sorted(folder.as_posix() for folder in topmost))


def search(top: Path) -> list[Path]:
    """Find benchmark files below a folder."""
    files = (file for file in sorted(top.rglob(PATTERN)) if not file.is_dir())
    return [file for file in files if is_benchmark_file(file.relative_to(top))]


def own_folders(arm: Arm, benchmark: FunctionBenchmarks) -> tuple[Path, ...]:
    """Return the folders whose code belongs to this arm only."""
    given = (path for path in benchmark.pythonpath or () if "{" in path)
    return arm.root, arm.env, *(arm.folder / arm.substitute(path) for path in given)


def helpers_of(arm: Arm, file: BenchFile) -> Path | None:
    """Return the folder whose modules belong to the benchmarks instead of being measured.

    It is the folder that was searched for benchmarks, unless the project's own code is there: if
    modules are imported from it or a folder in it, or if it is not named for tests and is a
    package, or what it holds is imported as one, or nothing in it imports the project from
    elsewhere.
    """
    top = arm.root / file.top
    path = import_path(arm, file.functions.pythonpath)
    folders = (str(arm.root), *path.before, *path.after)
    if any(Path(folder).is_relative_to(top) for folder in folders):
        return None
    if file.functions.OWN_PACKAGE or NAMED_FOR_TESTS.search(file.top):
        return top
    if (top / "__init__.py").exists():
        return None
    files = {each.stem: each for each in top.glob("*.py")}
    names = {name for each in files.values() for name in _imports_of(each)}
    beside = {name for name in names if name in files}
    is_namespace = any(top.name in name.split(".") for name in names)
    elsewhere = names - beside if beside else ()
    imports_project = not beside or any(
        _is_module(Path(folder), name.partition(".")[0]) for folder in folders for name in elsewhere
    )
    return None if is_namespace or not imports_project else top


def _imports_of(file: Path) -> set[str]:
    """The modules that a file imports by their full names, as far as its text shows."""
    found: set[str] = set()
    with suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module)
    return found


def _is_module(folder: Path, name: str) -> bool:
    return (folder / f"{name}.py").is_file() or (folder / name).is_dir()

"""Lays the head's benchmarks over the base's tree, so that both sides do the same work.

These are the benchmark files, the folder around them if its modules belong to the benchmarks, the
scenario files, and the data files that they name. Code of the project is never laid over the base,
and neither are the files that a scenario names: they are measured.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from benchgate.config import FunctionBenchmarks, ScenarioBenchmark
from benchgate.errors import BaselineError
from benchgate.measure.benchfiles import find_files, find_folders, helpers_of, search_of
from benchgate.measure.datafiles import DataFilesError, matches
from benchgate.measure.importpath import module_folders
from benchgate.measure.overlay import copy, remove
from benchgate.measure.places import entries_below
from benchgate.measure.provided import modules_in, provided_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchgate.config import Benchmark
    from benchgate.measure.benchfiles import BenchFile
    from benchgate.measure.engine import Arm

_DATA = "data"
_WORKTREE = ".git"
_PYTHON = ".py"


@dataclass(frozen=True, slots=True)
class _Side:
    """The benchmarks in one tree.

    Attributes:
        files: the benchmark files.
        folders: folders that belong to the benchmarks as a whole, relative to the root.
    """

    arm: Arm
    files: tuple[BenchFile, ...]
    folders: frozenset[str]

    @classmethod
    def of(cls, arm: Arm, benchmarks: Sequence[FunctionBenchmarks]) -> _Side:
        files = tuple(
            file for one in benchmarks for path in one.paths for file in find_files(arm, one, path)
        )
        helpers = (helpers_of(arm, file) for file in files)
        folders = (place.relative_to(arm.root).as_posix() for place in helpers if place)
        return cls(arm, files, frozenset(folders))


def lend(head: Arm, base: Arm, benchmarks: Sequence[Benchmark]) -> None:
    """Give the base's tree the head's benchmarks in place of its own, before anything is built.

    Args:
        head: its tree is only read.
        benchmarks: those of the head's configuration; if there are none, both trees are searched.

    Raises:
        BaselineError: a module of the head's benchmarks would hide a module of the base.
        UsageError: a file of the head cannot be read.
        OSError: the base's tree cannot be written.
    """
    python = [one for one in benchmarks if isinstance(one, FunctionBenchmarks)]
    if not benchmarks:
        python = [search_of(find_folders((head, base)))]
    given, own = _Side.of(head, python), _Side.of(base, python)
    whole = given.folders | own.folders
    _replace(head.root, base.root, _benchmark_files(given, whole), _benchmark_files(own, whole))
    _require_no_shadow(_Side.of(base, python), whole)
    _replace(head.root, base.root, *(_scenario_files(arm, benchmarks) for arm in (head, base)))
    globs = [glob for one in benchmarks for glob in one.data]
    globs += [glob for file in given.files for glob in _globs_in(head.root / file.path)]
    _replace(head.root, base.root, *(_data_files(arm, globs, whole) for arm in (head, base)))


def _replace(head: Path, base: Path, given: frozenset[str], own: frozenset[str]) -> None:
    """Remove the base's own files, and copy the given ones; stay inside the base's tree."""
    inside = base.resolve()
    for name in sorted(own - given):
        if (base / name).parent.resolve().is_relative_to(inside):
            remove(base / name)
    for name in sorted(given):
        # A folder of the base may be a link to a place outside of its tree.
        if (base / name).parent.resolve().is_relative_to(inside):
            copy(head / name, base / name)


def _benchmark_files(side: _Side, whole: Iterable[str]) -> frozenset[str]:
    """The files of the whole folders, and the benchmark files outside of them."""
    root = side.arm.root
    names = {name for file in side.files for name in _files_of(side.arm, file)}
    for folder in whole:
        names.update(_files_below(root, folder))
    return frozenset(names)


def _files_of(arm: Arm, file: BenchFile) -> Iterator[str]:
    """The file itself, or those of a suite that is a folder; the project's code is in neither.

    What the tool imports for them from the folders above belongs to them, too.
    """
    place = arm.root / file.path
    for folder in PurePosixPath(file.path).parents:
        for name in file.benchmark.BESIDE:
            if (arm.root / folder / name).is_file():
                yield (folder / name).as_posix()
    if not place.is_dir():
        yield file.path
        return
    names = _files_below(arm.root, file.path)
    of_benchmarks = (
        name for name in names if file.benchmark.may_hold((arm.root / name).relative_to(place))
    )
    yield from _outside_project(arm, of_benchmarks)


def _files_below(root: Path, folder: str) -> Iterator[str]:
    for entry in entries_below(root / folder):
        if not entry.is_dir(follow_symlinks=False) and entry.name != _WORKTREE:
            yield Path(entry.path).relative_to(root).as_posix()


def _scenario_files(arm: Arm, benchmarks: Iterable[Benchmark]) -> frozenset[str]:
    """The scenario files that a tree has."""
    files = (arm.folder / one.scenario for one in benchmarks if isinstance(one, ScenarioBenchmark))
    return frozenset(path.relative_to(arm.root).as_posix() for path in files if path.is_file())


def _data_files(arm: Arm, globs: Iterable[str], whole: Iterable[str]) -> frozenset[str]:
    """The data files of a tree that are neither in the whole folders nor code of the project."""
    found: set[str] = set()
    for glob in globs:
        with suppress(DataFilesError):  # it is reported when the benchmarks are read
            files = matches(arm, glob).values()
            found.update(file.relative_to(arm.root).as_posix() for file in files)
    return frozenset(
        name
        for name in _outside_project(arm, found)
        if not any(PurePosixPath(name).is_relative_to(folder) for folder in whole)
    )


def _outside_project(arm: Arm, names: Iterable[str]) -> Iterator[str]:
    """Leave out the files of a tree that are code of the project."""
    modules = module_folders(arm)
    packages = [
        PurePosixPath(folder, module) for module, folder in provided_by(arm.root).modules.items()
    ]
    for name in names:
        in_package = any(PurePosixPath(name).is_relative_to(package) for package in packages)
        if not in_package and not (name.endswith(_PYTHON) and (arm.root / name).parent in modules):
            yield name


def _globs_in(file: Path) -> tuple[str, ...]:
    """Read what `bench_name.data = [...]` says in a benchmark file, if it is a literal."""
    globs: list[str] = []
    with suppress(OSError, SyntaxError, ValueError):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if not isinstance(node, ast.Assign):
                continue
            if any(isinstance(one, ast.Attribute) and one.attr == _DATA for one in node.targets):
                with suppress(ValueError):
                    value = ast.literal_eval(node.value)
                    named = [value] if isinstance(value, str) else value
                    globs += [glob for glob in named if isinstance(glob, str)]
    return tuple(globs)


def _require_no_shadow(base: _Side, whole: Iterable[str]) -> None:
    """Refuse modules beside the benchmarks that have the name of a module of the base.

    Python looks beside the benchmark file first: the benchmarks would measure the head's module.
    """
    root = base.arm.root
    compiled = {name.replace("-", "_") for name in provided_by(root).projects}
    for file in base.files:
        beside = (root / file.path).parent
        if not any(beside.is_relative_to(root / each) for each in whole):
            continue
        named = [path for path in file.benchmark.pythonpath or () if "{" not in path]
        tops = (base.arm.folder / path for path in named)
        folders = {*module_folders(base.arm), *tops} - {beside}
        for module, place in sorted(modules_in(beside).items()):
            if module in compiled or any(module in modules_in(folder) for folder in folders):
                name = place.relative_to(root).as_posix()
                raise BaselineError(
                    f"{name} of the head has the name of the base's own module {module}: the "
                    "head's benchmarks would measure it instead of the base",
                    hint=f"Rename {name}.",
                )

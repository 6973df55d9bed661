"""Which files make the benchmarks of a tree those of the other side."""

from __future__ import annotations

import ast
import filecmp
import os
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from benchgate.config import Benchmark, FunctionBenchmarks, ScenarioBenchmark
from benchgate.config.live_benchmarks import LiveBenchmarks
from benchgate.errors import UsageError
from benchgate.measure.contract import DataFilesError, matches
from benchgate.measure.languages import files_of
from benchgate.measure.sources import (
    ProvidedModules,
    find_files,
    helpers_of,
    module_folders,
    modules_in,
    provided_by,
)
from benchgate.measure.trees.file_state import entries_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchgate.measure.arm import Arm
    from benchgate.measure.sources import BenchFile


_DATA = "data"
_WORKTREE = ".git"
PYTHON = ".py"


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What makes the benchmark files of a tree those of the other side; names in the tree.

    Attributes:
        given: files of the other side that are missing or different here.
        gone: benchmark files that only this tree has, and what is in the place of a folder.
    """

    given: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.given or self.gone)

    def __or__(self, other: FilePlan) -> FilePlan:
        return FilePlan(self.given | other.given, self.gone | other.gone)


@dataclass(frozen=True)
class Tree:
    """A tree as it was checked out, and what code of the project it has."""

    arm: Arm

    @cached_property
    def provided(self) -> ProvidedModules:
        """The modules and projects of the tree."""
        return provided_by(self.arm.root)

    @cached_property
    def module_folders(self) -> frozenset[Path]:
        """The folders that usually hold the project's modules."""
        return frozenset(module_folders(self.arm))

    def is_code(self, name: str) -> bool:
        """Whether a file of the tree is code of the project, or would be."""
        path = PurePosixPath(name)
        packages = (PurePosixPath(f, module) for module, f in self.provided.modules.items())
        if any(path.is_relative_to(package) for package in packages):
            return True
        return name.endswith(PYTHON) and (self.arm.root / name).parent in self.module_folders


@dataclass(frozen=True, slots=True)
class _Side:
    """The benchmarks in one tree.

    Attributes:
        files: the benchmark files.
        folders: folders that belong to the benchmarks as a whole, relative to the root.
    """

    tree: Tree
    files: tuple[BenchFile, ...]
    folders: frozenset[str]

    @classmethod
    def of(cls, tree: Tree, benchmarks: Iterable[FunctionBenchmarks]) -> _Side:
        arm = tree.arm
        files = tuple(
            file for one in benchmarks for path in one.paths for file in find_files(arm, one, path)
        )
        helpers = (helpers_of(arm, file) for file in files)
        folders = (place.relative_to(arm.root).as_posix() for place in helpers if place)
        return cls(tree, files, frozenset(folders))

    def may_lose(self, folder: str) -> bool:
        """Whether nothing in a folder is measured on this side."""
        return folder in self.folders or all(file.top != folder for file in self.files)


def plan(given: Tree, onto: Tree, benchmarks: Sequence[Benchmark]) -> FilePlan:
    """Compare the benchmark files of two trees.

    Args:
        given: the side whose benchmarks both are to run.
        benchmarks: those of its configuration.
    """
    python = [one for one in benchmarks if isinstance(one, FunctionBenchmarks)]
    there, here = _Side.of(given, python), _Side.of(onto, python)
    either = there.folders | here.folders
    whole = frozenset(each for each in either if there.may_lose(each) and here.may_lose(each))
    globs = [glob for one in benchmarks for glob in one.data]
    globs += [glob for file in there.files for glob in _globs_in(given.arm.root / file.path)]
    root, source = onto.arm.root, given.arm.root
    names_there, names_here = (
        _names(side, whole, benchmarks, globs, (given, onto)) for side in (there, here)
    )
    names_there -= {folder.as_posix() for name in names_there for folder in above(name)}
    new = {name for name in names_there if not are_equal(source / name, root / name)}
    gone = names_here - names_there
    # A link in the place of a folder goes as a whole: it may lead to code, or out of the tree.
    blocks = {name: _block(root, name) for name in names_there | gone}
    blocking = {block for name in new | gone if (block := blocks[name])}
    new |= {name for name in names_there if blocks[name] in blocking}
    folders = (name for name in new if not blocks[name] and is_folder(root / name))
    gone = {name for name in gone if not blocks[name]} | blocking
    gone.update(name for folder in folders for name in _files_below(root, folder))
    _require_no_shadow(there, onto, whole, new)
    return FilePlan(frozenset(new), frozenset(gone))


def _names(
    side: _Side,
    whole: Iterable[str],
    benchmarks: Iterable[Benchmark],
    globs: Iterable[str],
    trees: Sequence[Tree],
) -> set[str]:
    """The files of a side's benchmarks, and the data files that are no code in any tree."""
    arm = side.tree.arm
    files = _benchmark_files(side, whole) | _scenario_files(arm, benchmarks)
    files |= _program_files(arm, benchmarks)
    data = _data_files(arm, globs)
    real = {name: _through_links(name, arm.root, trees) for name in files | data}
    code = {name for name in data - files if any(tree.is_code(real[name]) for tree in trees)}
    return {real[name] for name in real.keys() - code}


def _benchmark_files(side: _Side, whole: Iterable[str]) -> set[str]:
    """The files of the whole folders, and the benchmark files outside of them."""
    root = side.tree.arm.root
    names = {name for file in side.files for name in _files_of(side.tree, file)}
    for folder in whole:
        names.update(_files_below(root, folder))
    return names


def _files_of(tree: Tree, file: BenchFile) -> Iterator[str]:
    """The file itself, or those of a suite that is a folder; the project's code is in neither.

    What the tool reads for them from the folders above belongs to them, too.
    """
    root = tree.arm.root
    for folder in PurePosixPath(file.path).parents:
        for name in file.functions.BESIDE:
            if (root / folder / name).is_file():
                yield (folder / name).as_posix()
    place = root / file.path
    if not place.is_dir():
        yield file.path
        return
    for name in _files_below(root, file.path):
        inner = (root / name).relative_to(place)
        is_named = any(fnmatchcase(inner.name, pattern) for pattern in file.functions.NAMED)
        if file.functions.may_hold(inner) and (is_named or not tree.is_code(name)):
            yield name


def _files_below(root: Path, folder: str) -> Iterator[str]:
    for entry in entries_below(root / folder):
        is_made = entry.name.endswith(".pyc") or entry.name == _WORKTREE
        if not is_made and not entry.is_dir(follow_symlinks=False):
            yield Path(entry.path).relative_to(root).as_posix()


def _scenario_files(arm: Arm, benchmarks: Iterable[Benchmark]) -> set[str]:
    """The scenario files that a tree has."""
    files = (arm.folder / one.scenario for one in benchmarks if isinstance(one, ScenarioBenchmark))
    return {path.relative_to(arm.root).as_posix() for path in files if path.is_file()}


def _program_files(arm: Arm, benchmarks: Iterable[Benchmark]) -> set[str]:
    """The benchmark files of other languages that a tree has."""
    tables = (one for one in benchmarks if isinstance(one, LiveBenchmarks))
    files = (Path(os.path.normpath(path)) for one in tables for path in files_of(arm, one))
    inside = (path for path in files if path.is_relative_to(arm.root))
    return {path.relative_to(arm.root).as_posix() for path in inside}


def _data_files(arm: Arm, globs: Iterable[str]) -> set[str]:
    """The data files that a tree has."""
    found: set[str] = set()
    for glob in globs:
        with suppress(DataFilesError):  # it is reported when the benchmarks are read
            files = matches(arm, glob).values()
            found.update(file.relative_to(arm.root).as_posix() for file in files)
    return found


def _globs_in(file: Path) -> tuple[str, ...]:
    """Read what `bench_name.data = [...]` says in a benchmark file, if it is a literal."""
    globs: list[str] = []
    with suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if not isinstance(node, ast.Assign):
                continue
            if any(isinstance(one, ast.Attribute) and one.attr == _DATA for one in node.targets):
                with suppress(ValueError):
                    value = ast.literal_eval(node.value)
                    named = [value] if isinstance(value, str) else value
                    globs += [glob for glob in named if isinstance(glob, str)]
    return tuple(globs)


def _require_no_shadow(given: _Side, onto: Tree, whole: Iterable[str], new: Iterable[str]) -> None:
    """Refuse modules beside the benchmarks that have the name of a module of the other side.

    Python looks beside the benchmark file first: the benchmarks would measure the wrong module.
    """
    root, side = given.tree.arm.root, onto.arm.name
    compiled = {name.replace("-", "_") for name in onto.provided.projects}
    for file in given.files:
        beside = (root / file.path).parent
        if not any(beside.is_relative_to(root / each) for each in whole):
            continue
        inside = beside.relative_to(root)
        known = modules_in(onto.arm.root / inside)
        named = [path for path in file.functions.pythonpath or () if "{" not in path]
        tops = (onto.arm.folder / path for path in named)
        folders = {*onto.module_folders, *tops} - {onto.arm.root / inside}
        for module, place in sorted(modules_in(beside).items()):
            name = place.relative_to(root).as_posix()
            if module in known or not any(PurePosixPath(n).is_relative_to(name) for n in new):
                continue
            if module in compiled or any(module in modules_in(folder) for folder in folders):
                raise UsageError(
                    f"{name} of the {given.tree.arm.name} has the name of a module of the {side}, "
                    f"{module}: the benchmarks would measure it instead of the {side}",
                    hint=f"Rename {name}, or measure each side with its own benchmarks: "
                    "--benchmarks own",
                )


def above(name: str) -> tuple[PurePosixPath, ...]:
    """The folders that a name lies in, the innermost first, without the root."""
    return tuple(PurePosixPath(name).parents)[:-1]


def _block(root: Path, name: str) -> str | None:
    """The file or link of a tree that is in the place of a folder of a name."""
    return next(
        (
            each.as_posix()
            for each in reversed(above(name))
            if os.path.lexists(root / each) and not is_folder(root / each)
        ),
        None,
    )


def _through_links(name: str, root: Path, trees: Iterable[Tree]) -> str:
    """The name of a tree's file without a link to a folder that all trees have."""
    link = _block(root, name)
    if link is None or not all(are_equal(root / link, tree.arm.root / link) for tree in trees):
        return name
    place = (root / name).parent.resolve() / PurePosixPath(name).name
    inside = root.resolve()
    return place.relative_to(inside).as_posix() if place.is_relative_to(inside) else name


def is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def are_equal(one: Path, other: Path) -> bool:
    try:
        here, there = one.lstat(), other.lstat()
        if here.st_mode != there.st_mode:
            return False
        if one.is_symlink():
            return one.readlink() == other.readlink()
        return here.st_size == there.st_size and filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False

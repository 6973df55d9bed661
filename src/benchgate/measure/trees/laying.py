"""Lays the benchmark files of one side over the tree of the other."""

from __future__ import annotations

import ast
import filecmp
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from benchgate.config import Benchmark, FunctionBenchmarks, ScenarioBenchmark
from benchgate.config.benchmarks import LiveBenchmarks, SuiteBenchmark
from benchgate.errors import UsageError
from benchgate.measure.arm import ArmName
from benchgate.measure.contract import DataFilesError, matches
from benchgate.measure.languages import LANGUAGES, compiled_by_build, files_of
from benchgate.measure.sources import (
    ProvidedModules,
    find_files,
    find_folders,
    helpers_of,
    module_folders,
    modules_in,
    provided_by,
    search_of,
)
from benchgate.measure.trees.file_state import entries_below
from benchgate.measure.trees.uncommitted import copy, remove
from benchgate.model.run import BenchmarkFiles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from benchgate.config import Config
    from benchgate.measure.arm import Arm
    from benchgate.measure.sources import BenchFile


_DATA = "data"
_BUILT_BEFORE = frozenset(kind for kind, one in LANGUAGES.items() if one.BUILT_BEFORE)
_WORKTREE = ".git"
_PYTHON = ".py"
# Of such files, the work of a benchmark tells which of them it concerns.
_TOLD = (_PYTHON, ".go", ".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx")
# In the text of a shell.
_END_OF_WORD = re.compile(r"[\s;&|<>()\"'=]+")
# How a benchmark runs, not what it does.
_HOW = ("timeout_s", "executions", "parallel", "isolate", "in_turn", "pin", "allow_foreign")
# Not the time of a tree's own files: else Python would use what it compiled from these.
_LAID_S = 1_400_000_000


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
        return name.endswith(_PYTHON) and (self.arm.root / name).parent in self.module_folders


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
    names_there -= {folder.as_posix() for name in names_there for folder in _above(name)}
    new = {name for name in names_there if not _equal(source / name, root / name)}
    gone = names_here - names_there
    # A link in the place of a folder goes as a whole: it may lead to code, or out of the tree.
    blocks = {name: _block(root, name) for name in names_there | gone}
    blocking = {block for name in new | gone if (block := blocks[name])}
    new |= {name for name in names_there if blocks[name] in blocking}
    folders = (name for name in new if not blocks[name] and _is_folder(root / name))
    gone = {name for name in gone if not blocks[name]} | blocking
    gone.update(name for folder in folders for name in _files_below(root, folder))
    _require_no_shadow(there, onto, whole, new)
    return FilePlan(frozenset(new), frozenset(gone))


@dataclass(slots=True)
class LaidTree:
    """A tree that can have the benchmark files of the other side in place of its own.

    Args:
        given: the root of the other side's tree, as it was checked out.
        store: a folder for copies, which does not exist yet.
    """

    root: Path
    given: Path
    plan: FilePlan
    store: Path
    is_laid: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        for name in self.plan.given:
            _copy(self.given / name, self.store / "given" / name)

    def lay(self, *, laid: bool) -> tuple[str, ...]:
        """Put the other side's files into the tree, or its own again.

        Returns:
            The paths of the files that were replaced or removed.

        Raises:
            OSError: the tree cannot be written.
        """
        names = sorted(self.plan.given | self.plan.gone)
        if laid is self.is_laid or not names:
            return ()
        own = self.store / "own"
        # What is below such a name is not the tree's own.
        of_tree = [name for name in names if self.plan.gone.isdisjoint(map(str, _above(name)))]
        if laid and not own.exists():
            own.mkdir(parents=True)
            for name in of_tree:
                _copy(self.root / name, own / name)
        source, placed = (self.store / "given", self.plan.given) if laid else (own, of_tree)
        for name in names:
            path = self.root / name
            if _is_folder(path):  # the other side has a file there
                shutil.rmtree(path)
            else:
                remove(path)
        for name in placed:
            if _copy(source / name, self.root / name) and laid:
                # Compilers of other languages must see that the file is a new one.
                times = (_LAID_S, _LAID_S) if name.endswith(_PYTHON) else None
                os.utime(self.root / name, times, follow_symlinks=False)
        self.is_laid = laid
        return tuple(str(self.root / name) for name in names)


@dataclass(frozen=True, slots=True)
class Laying:
    """Which benchmarks differ between base and head, and what lays them over the other side.

    Attributes:
        common: the benchmarks that are the same on both sides, with all of their files.
        of_base, of_head: the others in the configuration of each side.
        trees: by arm.
        compiled: sources of benchmarks in C++ that differ; each side runs what was built from its
            own.
        scripts: by title of a suite, the files that its command names and that differ; each side
            runs its own, because `data` does not name them.
    """

    common: tuple[Benchmark, ...]
    of_base: tuple[Benchmark, ...]
    of_head: tuple[Benchmark, ...]
    trees: Mapping[ArmName, LaidTree]
    compiled: tuple[str, ...] = ()
    scripts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def edits_data(self) -> bool:
        """Whether a file of the benchmarks differs between the sides, and may concern any."""
        names = self.trees[ArmName.HEAD].plan.given & self.trees[ArmName.BASE].plan.given
        return any(not name.endswith(_TOLD) for name in names)

    @classmethod
    def of(cls, base: Arm, head: Arm, configs: Mapping[ArmName, Config], store: Path) -> Laying:
        """Compare the trees, as they were checked out.

        Args:
            configs: the configuration of each arm, which names its benchmarks.
            store: a folder for copies, which does not exist yet.
        """
        of_base, of_head = configs[ArmName.BASE], configs[ArmName.HEAD]
        base, head = replace(base, inside=of_base.folder), replace(head, inside=of_head.folder)
        searched = [arm for arm, own in ((head, of_head), (base, of_base)) if own.searches]
        search = search_of(find_folders(searched)) if searched else None
        bases, heads = (
            list[Benchmark]([search] if search and own.searches else own.benchmarks)
            for own in (of_base, of_head)
        )
        bases, heads = _matched(bases, heads, by_head=not of_head.sides)
        from_base = Tree(base), Tree(replace(head, inside=base.inside))
        from_head = Tree(head), Tree(replace(base, inside=head.inside))
        suites = [one for one in (*bases, *heads) if isinstance(one, SuiteBenchmark)]
        on_head, on_base = FilePlan(), FilePlan()
        common: list[Benchmark] = []
        for one in list(bases):
            lain = plan(*from_base, [one])
            on_head |= lain
            is_in_both = base.inside == head.inside and one in heads
            if is_in_both and not lain and not plan(*from_head, [one]):
                common.append(one)
                bases.remove(one)
                heads.remove(one)
        for one in heads:
            on_base |= plan(*from_head, [one])
        trees = {
            ArmName.BASE: LaidTree(base.root, head.root, on_base, store / "base"),
            ArmName.HEAD: LaidTree(head.root, base.root, on_head, store / "head"),
        }
        has_cpp = any(one.KIND in _BUILT_BEFORE for one in common)
        compiled = _differing_sources(base, head) if has_cpp else ()
        laid = on_head.given | on_base.given
        named = {one.title: _names_in_command(one, (base, head)) - laid for one in suites}
        scripts = {title: tuple(sorted(names)) for title, names in named.items() if names}
        return cls(tuple(common), tuple(bases), tuple(heads), trees, compiled, scripts)

    def lay(self, files: BenchmarkFiles) -> Mapping[ArmName, tuple[str, ...]]:
        """Let both trees have the benchmark files of one side, or each its own.

        Returns:
            For each arm the paths that were replaced or removed.
        """
        laid = {BenchmarkFiles.BASE: ArmName.HEAD, BenchmarkFiles.HEAD: ArmName.BASE}.get(files)
        return {name: tree.lay(laid=name is laid) for name, tree in self.trees.items()}


def _differing_sources(base: Arm, head: Arm) -> tuple[str, ...]:
    names = {
        path.relative_to(arm.root).as_posix()
        for arm in (base, head)
        for path in compiled_by_build(arm)
    }
    return tuple(sorted(name for name in names if not _equal(base.root / name, head.root / name)))


def _names_in_command(suite: SuiteBenchmark, arms: Sequence[Arm]) -> set[str]:
    """The files of both trees that the command of a suite names, and that differ."""
    words = {word for text in suite.command for word in (text, *_END_OF_WORD.split(text))}
    paths = (
        Path(os.path.normpath(arm.folder / suite.cwd / arm.substitute(word)))
        for arm in arms
        for word in words
    )
    roots = [arm.root for arm in arms]
    names = {
        path.relative_to(root).as_posix()
        for path in paths
        for root in roots
        if path.is_relative_to(root)
    }
    are_files = (name for name in names if all((root / name).is_file() for root in roots))
    return {name for name in are_files if not _equal(*(root / name for root in roots))}


def _matched(
    bases: Sequence[Benchmark], heads: Sequence[Benchmark], *, by_head: bool
) -> tuple[list[Benchmark], list[Benchmark]]:
    """Let tables of both sides that measure the same have the tags of both.

    Args:
        by_head: whether the head's table says how the base's version runs, too.
    """
    bases, heads = list(bases), list(heads)
    left = list(range(len(heads)))
    for index, one in enumerate(bases):
        same = [n for n in left if (heads[n].KIND, heads[n].subjects) == (one.KIND, one.subjects)]
        if not same:
            continue
        match = next((n for n in same if heads[n] == one), same[0])
        left.remove(match)
        tags = {"tags": tuple(dict.fromkeys((*heads[match].tags, *one.tags)))}
        how = {name: getattr(heads[match], name) for name in _HOW if name in type(one).model_fields}
        bases[index] = one.model_copy(update={**tags, **(how if by_head else {})})
        heads[match] = heads[match].model_copy(update=tags)
    return bases, heads


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


def _above(name: str) -> tuple[PurePosixPath, ...]:
    """The folders that a name lies in, the innermost first, without the root."""
    return tuple(PurePosixPath(name).parents)[:-1]


def _block(root: Path, name: str) -> str | None:
    """The file or link of a tree that is in the place of a folder of a name."""
    above = reversed(_above(name))
    return next(
        (
            each.as_posix()
            for each in above
            if os.path.lexists(root / each) and not _is_folder(root / each)
        ),
        None,
    )


def _through_links(name: str, root: Path, trees: Iterable[Tree]) -> str:
    """The name of a tree's file without a link to a folder that all trees have."""
    link = _block(root, name)
    if link is None or not all(_equal(root / link, tree.arm.root / link) for tree in trees):
        return name
    place = (root / name).parent.resolve() / PurePosixPath(name).name
    inside = root.resolve()
    return place.relative_to(inside).as_posix() if place.is_relative_to(inside) else name


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _equal(one: Path, other: Path) -> bool:
    try:
        here, there = one.lstat(), other.lstat()
        if here.st_mode != there.st_mode:
            return False
        if one.is_symlink():
            return one.readlink() == other.readlink()
        return here.st_size == there.st_size and filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False


def _copy(source: Path, target: Path) -> bool:
    """Copy a file or link with its time; return whether there is one."""
    copy(source, target)
    if not os.path.lexists(target):
        return False
    shutil.copystat(source, target, follow_symlinks=False)
    return True

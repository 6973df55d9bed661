"""Lays the benchmark files of one side over the tree of the other.

These are the benchmark files, the folder around them if its modules belong to the benchmarks, the
scenario files, and the data files that they name. Code of the project is never laid over the other
side, and neither are the files that a scenario names: they are measured.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.config import Benchmark
from benchgate.config.program_benchmarks import SuiteBenchmark
from benchgate.measure.arm import ArmName
from benchgate.measure.languages import LANGUAGES, compiled_by_build
from benchgate.measure.sources import (
    find_folders,
    search_of,
)
from benchgate.measure.trees.file_plan import (
    PYTHON,
    FilePlan,
    Tree,
    above,
    are_equal,
    is_folder,
    plan,
)
from benchgate.measure.trees.uncommitted import copy, remove
from benchgate.model.run import BenchmarkFiles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchgate.config import Config
    from benchgate.measure.arm import Arm

_BUILT_BEFORE = frozenset(kind for kind, one in LANGUAGES.items() if one.BUILT_BEFORE)
# Of such files, the work of a benchmark tells which of them it concerns.
_TOLD = (PYTHON, ".go", ".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx")
# In the text of a shell.
_END_OF_WORD = re.compile(r"[\s;&|<>()\"'=]+")
# How a benchmark runs, not what it does.
_HOW = ("timeout_s", "executions", "parallel", "isolate", "in_turn", "pin", "allow_foreign")
# Not the time of a tree's own files: else Python would use what it compiled from these.
_LAID_S = 1_400_000_000


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
        of_tree = [name for name in names if self.plan.gone.isdisjoint(map(str, above(name)))]
        if laid and not own.exists():
            own.mkdir(parents=True)
            for name in of_tree:
                _copy(self.root / name, own / name)
        source, placed = (self.store / "given", self.plan.given) if laid else (own, of_tree)
        for name in names:
            path = self.root / name
            if is_folder(path):  # the other side has a file there
                shutil.rmtree(path)
            else:
                remove(path)
        for name in placed:
            if _copy(source / name, self.root / name) and laid:
                # Compilers of other languages must see that the file is a new one.
                times = (_LAID_S, _LAID_S) if name.endswith(PYTHON) else None
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
    return tuple(
        sorted(name for name in names if not are_equal(base.root / name, head.root / name))
    )


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
    return {name for name in are_files if not are_equal(*(root / name for root in roots))}


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


def _copy(source: Path, target: Path) -> bool:
    """Copy a file or link with its time; return whether there is one."""
    copy(source, target)
    if not os.path.lexists(target):
        return False
    shutil.copystat(source, target, follow_symlinks=False)
    return True

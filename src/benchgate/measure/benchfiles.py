"""Finds the files of Python benchmarks, and reads what their text says, without importing them."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from benchgate.config.benchmarks import (
    PATTERN,
    FunctionBenchmarks,
    PythonBenchmark,
    is_benchmark_file,
)
from benchgate.measure._worker.attributes import unknown_attribute
from benchgate.measure.importpath import import_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchgate.measure.engine import Arm

# A whole word of a folder's name: pytest_plugin/ is a project, integration_tests/ is not.
_NAMED_FOR_TESTS = re.compile(
    r"(?:^|[/_.-])(?:test(?:s|ing)?|bench(?:es|marks?|marking)?|perf(?:ormance)?|asv)(?=$|[/_.-])",
    re.IGNORECASE,
)
_PREFIX = "bench_"
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set)
# With these, a file can create names that its text does not show.
_MAKERS = frozenset({"globals", "vars", "locals", "setattr", "exec", "eval"})


@dataclass(frozen=True, slots=True)
class BenchFile:
    """One benchmark file, or a suite of another tool; it may exist in one arm only.

    Attributes:
        path: relative to an arm's root.
        group: the prefix of its benchmarks' ids; "" if they have none.
        top: the folder that was searched, relative to the root.
    """

    benchmark: FunctionBenchmarks
    path: str
    group: str
    top: str = "."

    @property
    def label(self) -> str:
        """Stands for all of its benchmarks."""
        return self.group if isinstance(self.benchmark, PythonBenchmark) else self.path

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
    path = import_path(arm, file.benchmark.pythonpath)
    folders = (str(arm.root), *path.before, *path.after)
    if any(Path(folder).is_relative_to(top) for folder in folders):
        return None
    if file.benchmark.OWN_PACKAGE or _NAMED_FOR_TESTS.search(file.top):
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


@dataclass(frozen=True, slots=True)
class BenchSource:
    """What the text of a benchmark file says.

    Attributes:
        names: of the functions, and of other names that may be one after the import.
        makes_more: whether importing the file may create more benchmarks.
        problems: a line number, and what is wrong with the function there.
    """

    names: tuple[str, ...] = ()
    makes_more: bool = False
    problems: tuple[tuple[int, str], ...] = ()


def read_source(source: bytes) -> BenchSource:
    """Read the text of a benchmark file.

    Raises:
        SyntaxError: the file is not Python.
        ValueError: the file holds null bytes.
    """
    tree = ast.parse(source)
    names: dict[str, None] = {}
    problems: list[tuple[int, str]] = []
    makes_more = False
    plain: set[ast.AST] = set()
    for node in _in_module(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, _PLAIN):
            plain.update(node.targets)
        if node not in plain:
            names.update((name, None) for name in _bound(node) if name.startswith(_PREFIX))
        problems += _problems(node)
        makes_more = makes_more or _makes_names(node)
    return BenchSource(tuple(names), makes_more, tuple(problems))


def _in_module(tree: ast.AST) -> Iterator[ast.AST]:
    """Return the code that runs on import, without the bodies of functions and classes."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, _SCOPES):
            yield from _in_module(node)


def _bound(node: ast.AST) -> list[str]:
    if isinstance(node, _Function):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    return []


def _makes_names(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return any(alias.name == "*" for alias in node.names)
    return isinstance(node, ast.Name) and node.id in _MAKERS


def _problems(node: ast.AST) -> list[tuple[int, str]]:
    """Report functions that a session would refuse."""
    if isinstance(node, _Function) and node.name.startswith(_PREFIX):
        yields = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in _in_module(node))
        problem = f"{node.name} is a generator: calling it would not run its body"
        return [(node.lineno, problem)] if yields and not node.decorator_list else []
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id.startswith(_PREFIX)
    ):
        problem = unknown_attribute(node.value.id, [node.attr])
        return [(node.lineno, problem)] if problem else []
    return []

"""Tells benchmark files of other tools from benchgate's own."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from benchgate.measure.benchfiles import read_source, search, topmost_folders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_ASV_NAME = re.compile(r"(time|timeraw|mem|peakmem|track)_")
_ASV_CONFIGURATION = "asv.conf.json"
_ASV_FOLDER = re.compile(r'"benchmark_dir"\s*:\s*"([^"]+)"')
_FOLDERS = ("benchmarks", "benchmark", "asv_bench", "perf")
_MAX_FILES = 500
_IMPORTED = {
    "pyperf": "pyperf",
    "asv_runner": "asv",
    "pytest_benchmark": "pytest-benchmark",
    "pytest_codspeed": "pytest-codspeed",
}
_UNKNOWN = "another tool"
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class BenchmarkFiles:
    """The files that are named like benchmarks.

    Attributes:
        own: folders and files that hold functions benchgate can measure, relative to the top.
        others: the folders of other tools' files, by the name of the tool.
    """

    own: tuple[str, ...]
    others: Mapping[str, tuple[str, ...]]


def find_benchmark_files(top: Path) -> BenchmarkFiles:
    """Look for `bench_*.py` files below a folder, and for what other tools measure there."""
    tools = {path.relative_to(top): _tool_of(path) for path in search(top)}
    own = [path for path, tool in tools.items() if tool is None]
    folders = topmost_folders(own)
    shared = {
        folder
        for folder in folders
        if any(tool and path.is_relative_to(folder) for path, tool in tools.items())
    }
    named = [path.as_posix() for path in own if any(path.is_relative_to(f) for f in shared)]
    others: dict[str, set[str]] = {}
    for path, tool in tools.items():
        if tool:
            others.setdefault(tool, set()).add(path.parent.as_posix())
    for path in _beside(top, set(tools)):
        if (tool := _tool_of(top / path)) not in {None, _UNKNOWN}:
            others.setdefault(str(tool), set()).add(path.parent.as_posix())
    for path in (top / _ASV_CONFIGURATION, *top.glob(f"*/{_ASV_CONFIGURATION}")):
        if path.is_file():
            named_folder = _ASV_FOLDER.search(path.read_text(encoding="utf-8", errors="replace"))
            place = path.parent / (named_folder[1] if named_folder else "benchmarks")
            if place.is_relative_to(top):
                others.setdefault("asv", set()).add(place.relative_to(top).as_posix())
    return BenchmarkFiles(
        tuple([folder for folder in folders if folder not in shared] + named),
        {tool: tuple(sorted(places)) for tool, places in sorted(others.items())},
    )


def _beside(top: Path, known: set[Path]) -> Iterator[Path]:
    """The other Python files in folders that are named for benchmarks, relative to the top."""
    for folder in _FOLDERS:
        found = (path.relative_to(top) for path in sorted((top / folder).rglob("*.py")))
        yield from (path for path in islice(found, _MAX_FILES) if path not in known)


def _tool_of(file: Path) -> str | None:
    """The tool that a file was written for; None for benchgate."""
    try:
        source = file.read_bytes()
        tree = ast.parse(source)
        names = read_source(source)
    except (OSError, SyntaxError, ValueError):
        return None  # `validate` says what is wrong with it
    imported = {_IMPORTED[name] for name in _imports(tree) if name in _IMPORTED}
    if imported:
        return min(imported)
    defined = list(_functions(tree))
    if any("benchmark" in _arguments(one) for one in defined):
        return "pytest-benchmark"
    if names.makes_more or names.names:
        return None
    return "asv" if any(_ASV_NAME.match(one.name) for one in defined) else _UNKNOWN


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _functions(tree: ast.Module) -> Iterator[_Function]:
    """The functions of a module, and the methods of its classes."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from (one for one in node.body if isinstance(one, _Function))
        elif isinstance(node, _Function):
            yield node


def _arguments(function: _Function) -> set[str]:
    arguments = function.args
    return {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}

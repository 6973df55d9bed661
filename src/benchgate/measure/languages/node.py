"""Node.js: scripts of tinybench, mitata and benchmark.js, and suites of vitest."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from benchgate.config.live_benchmarks import NodeBenchmark
from benchgate.measure.languages.language import (
    ADAPTERS,
    NAMED_FOR_TESTS,
    Language,
    Toolbox,
    WorkerProgram,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchgate.measure.arm import Arm

_CODE = frozenset({"src", "lib"})
_OF_A_LIBRARY = frozenset({"main", "module", "exports", "bin"})
_VITEST_NAME = re.compile(r"\.(?:bench|benchmark)\.[cm]?[jt]sx?$")
_TOOL = re.compile(r"""["'](tinybench|mitata|benchmark|vitest)["']""")


class NodeJs(Language[NodeBenchmark]):
    """Scripts that run with a hook, and files of vitest, which have a runner."""

    def find(self, arm: Arm, benchmark: NodeBenchmark) -> Iterator[tuple[str, str]]:
        for path in benchmark.paths:
            yield from _scripts(arm.folder, path)

    def files(self, arm: Arm, benchmark: NodeBenchmark) -> Iterator[Path]:
        for path, _ in self.find(arm, benchmark):
            yield from _files_of_script(arm, arm.folder / path)

    def build(
        self, _tools: Toolbox, arm: Arm, benchmark: NodeBenchmark, path: str, _layout: int
    ) -> WorkerProgram:
        script, folder = (arm.folder / path).resolve(), (arm.folder / benchmark.cwd).resolve()
        if script.is_dir() or _is_of_vitest(script):
            command = ("node", str(ADAPTERS / "vitest.mjs"), str(script), *benchmark.arguments)
        else:
            # What is imported last sees first what a script imports.
            hook = f"--import={ADAPTERS / 'benchgate.mjs'}"
            given = [*benchmark.arguments, "--"]
            at = given.index("--")
            own = given[at + 1 : -1]
            command = ("node", *given[:at], hook, os.path.relpath(script, folder), *own)
        return WorkerProgram(command, folder)


def is_file_of_vitest(file: Path) -> bool:
    """Whether `vitest bench` finds a file by its name, and no other tool runs it."""
    return _VITEST_NAME.search(file.name) is not None and _is_of_vitest(file)


def _is_of_vitest(script: Path) -> bool:
    found = _TOOL.search(text_of(script))
    return found[1] == "vitest" if found else _VITEST_NAME.search(script.name) is not None


def _scripts(folder: Path, path: str) -> Iterator[tuple[str, str]]:
    script = folder / path
    if "*" in path and not script.exists():
        for each in sorted(folder.glob(path)):
            name = each.relative_to(folder)
            if "node_modules" not in name.parts and _TOOL.search(text_of(each)):
                yield from _scripts(folder, name.as_posix())
    elif script.is_dir():
        yield path, ""  # vitest itself finds its files
    elif script.is_file():
        yield path, _VITEST_NAME.sub("", script.name) if is_file_of_vitest(script) else script.stem


def _files_of_script(arm: Arm, script: Path) -> Iterator[Path]:
    """A script and the folder around it, or the files of vitest in a folder."""
    top = script if script.is_dir() else script.parent
    inside = [each for each in (top, *top.parents) if each.is_relative_to(arm.root)]
    named = [each for each in inside[:-1] if NAMED_FOR_TESTS.search(each.name)]
    is_code = not _CODE.isdisjoint(top.relative_to(arm.root).parts)
    whole = next((each for each in named if not (is_code or _is_library(each, top))), None)
    for each in (whole or (script if script.is_dir() else top)).rglob("*"):
        if "node_modules" in each.relative_to(arm.root).parts:
            continue
        if whole or each == script or (script.is_dir() and _VITEST_NAME.search(each.name)):
            yield each


def _is_library(folder: Path, top: Path) -> bool:
    """Whether a folder between these two holds a package that others import."""
    between = (each for each in (top, *top.parents) if each.is_relative_to(folder))
    return any(not _OF_A_LIBRARY.isdisjoint(_manifest(each)) for each in between)


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(text_of(folder / "package.json") or "{}")
    except ValueError:
        return {}
    return manifest if isinstance(manifest, dict) else {}

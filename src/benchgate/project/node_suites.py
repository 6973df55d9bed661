"""Finds benchmarks of JavaScript and TypeScript: of vitest, tinybench, mitata and benchmark.js."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from benchgate.project.programs import node_build
from benchgate.project.suites import Suite, command_table, in_folder, run_in
from benchgate.project.tree import table_at
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.project.needs import Build
    from benchgate.project.suites import Value
    from benchgate.project.tree import ProjectTree

_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_VITEST = re.compile(r"\.(?:bench|benchmark)\.[cm]?[jt]sx?$")
_RUNS = re.compile(r"\brun\s*\(")
_IMPORT = r"""(?:from\s+|require\(\s*|import\s+|import\(\s*)["']{}["']"""
_MAX_PACKAGES = 50
_MAX_SCRIPTS = 5
_SHELL_SIGNS = re.compile(r"[&|;<>$`]")

# What a script must print, and what in its text shows that it does.
_LIBRARIES = {
    "mitata": ("the results as JSON, by run({ format: 'json' })", re.compile(r"\bformat\b.*json")),
    "tinybench": (
        "JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result })))",
        re.compile(r"JSON\.stringify"),
    ),
    "benchmark": (
        "each result, by suite.on('cycle', event => console.log(String(event.target)))",
        re.compile(r"String\(|toString\(|target\}"),
    ),
}
_TITLES = {"benchmark": "benchmark.js"}


def find_node_suites(tree: ProjectTree) -> list[Suite]:
    """Find the packages that have benchmarks, each with its own folder to run in."""
    manifests = {
        path.parent: tree.read_json(path)
        for path in list(tree.named("package.json"))[:_MAX_PACKAGES]
    }
    scripts = [path for path in tree.files if _SCRIPT.search(path.name)] if manifests else []
    owned: dict[PurePosixPath, list[PurePosixPath]] = {folder: [] for folder in manifests}
    for path in scripts:
        folder = next((one for one in path.parents if one in owned), None)
        if folder is not None:
            owned[folder].append(path)
    return [
        suite
        for folder, files in owned.items()
        for suite in _suites(tree, manifests, folder, files)
    ]


def _suites(
    tree: ProjectTree,
    manifests: Mapping[PurePosixPath, Mapping[str, Any]],
    folder: PurePosixPath,
    files: list[PurePosixPath],
) -> Iterator[Suite]:
    """The suites of one package."""
    around = [manifests[one] for one in (folder, *folder.parents) if one in manifests]
    depends = {
        name
        for package in around
        for kind in ("dependencies", "devDependencies")
        for name in table_at(package, kind)
    }
    build = _build(tree, folder, manifests)
    benches = [path for path in files if _VITEST.search(path.name)]
    if benches and "vitest" in depends:
        yield Suite(
            f"{counted(len(benches), 'file')} with benchmarks of vitest{in_folder(folder)}",
            command_table("npx vitest bench --run --outputJson {output}", folder),
            "The benchmarks of vitest. Its file has the median time of each, and no single times.",
            folder,
            build,
        )
    seen: dict[PurePosixPath, str] = {}
    for library in (one for one in _LIBRARIES if one in depends):
        imports = re.compile(_IMPORT.format(re.escape(library)))
        for path in files:
            text = tree.read(path) if path not in benches else ""
            if imports.search(text) and _RUNS.search(text):
                seen.setdefault(path, library)
    scripts = [
        _script(tree, path, library, build, _command(manifests[folder], depends, folder, path))
        for path, library in seen.items()
    ]
    yield from scripts[:_MAX_SCRIPTS]
    if (more := len(scripts) - _MAX_SCRIPTS) > 0:
        tree.note(f"Left out: {counted(more, 'more script')} with benchmarks{in_folder(folder)}.")


def _script(
    tree: ProjectTree, path: PurePosixPath, library: str, build: Build, table: Mapping[str, Value]
) -> Suite:
    """A script that measures with a library, and prints the results."""
    printed, shows = _LIBRARIES[library]
    title = _TITLES.get(library, library)
    to_edit = () if shows.search(tree.read(path)) else (f"{path} must print {printed}.",)
    return Suite(
        f"the script {path} with benchmarks of {title}",
        table,
        f"The benchmarks of {title}, as the script prints them.",
        path,
        build,
        to_edit=to_edit,
    )


def _command(
    package: Mapping[str, Any], depends: set[str], folder: PurePosixPath, path: PurePosixPath
) -> dict[str, Value]:
    """How a script is run: as the package's own scripts run it, otherwise by node or tsx."""
    script = path.relative_to(folder)
    for command in table_at(package, "scripts").values():
        words = str(command).split()
        if _SHELL_SIGNS.search(str(command)) or not words:
            continue
        if any(PurePosixPath(word) == script for word in words[1:]):
            runs = str(command) if words[0] == "node" else f"npx {command}"
            return command_table(runs, folder)
    runner = "npx tsx" if path.suffix in {".ts", ".mts", ".tsx"} and "tsx" in depends else "node"
    return command_table(f"{runner} {shlex.quote(str(script))}", folder)


def _build(
    tree: ProjectTree,
    folder: PurePosixPath,
    manifests: Mapping[PurePosixPath, Mapping[str, Any]],
) -> Build:
    """What installs a package: from its outermost folder, where a workspace has its lock."""
    root = next(one for one in (*reversed(folder.parents), folder) if one in manifests)
    build = node_build(tree.top / root, manifests[root])
    return replace(build, commands=tuple(run_in(root, one) for one in build.commands))

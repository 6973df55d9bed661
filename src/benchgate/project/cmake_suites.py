"""Finds the benchmarks of C++ that CMake builds."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.project.build_steps import (
    COMPILED,
    MOST_PROGRAMS,
    BuildSteps,
    Suite,
)
from benchgate.project.tree import ProjectTree, in_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_CMAKE_COMMENT = re.compile(r"#(?!\[).*")
_PROGRAM = re.compile(
    r"\badd_executable\s*\(\s*([\w.+-]+)((?:(?!IMPORTED|ALIAS)[^)])*)\)", re.IGNORECASE
)
_LINKS = re.compile(r"\btarget_link_libraries\s*\(\s*([\w.+-]+)([^)]*)\)", re.IGNORECASE)
_GOOGLE = re.compile(r"(?<![\w:-])benchmark(?:_main|::benchmark(?:_main)?)?(?![\w:-])")
_GOOGLE_HEADER = "<benchmark/benchmark.h>"
_CATCH = re.compile(r"\bCatch2?(?:::Catch2?\w*)?\b")
_CATCH_BENCHMARK = re.compile(r"\bBENCHMARK(?:_ADVANCED)?\s*\(")
# Those of Google Benchmark itself begin with BENCHMARK_.
_OPTION = re.compile(
    r'\b(?:option|set)\s*\(\s*((?!BENCHMARK_)\w*BENCH\w*)\b(?:"[^"]*"|[^)"])*\bOFF\b[^)]*\)'
)
_PLACED = re.compile(
    r"CMAKE_RUNTIME_OUTPUT_DIRECTORY\s+\"?\$\{(?:CMAKE|PROJECT)_BINARY_DIR\}/?([\w./-]*)"
)
_PROJECT = re.compile(r"^\s*project\s*\(", re.IGNORECASE | re.MULTILINE)
_ADDED = re.compile(r"\badd_subdirectory\s*\(\s*\"?([^\s\")]+)", re.IGNORECASE)
_SOURCE = re.compile(r"[\w./+-]+\.(?:cc|cpp|cxx|c\+\+|C)\b")
# The head has a folder `build` already if git does not ignore it, and CMake keeps to its old place.
_BUILT_IN = PurePosixPath("build/benchgate")


def cmake_suites(tree: ProjectTree) -> list[Suite]:
    """The programs that are linked with Google Benchmark, or with Catch2 and have benchmarks."""
    texts = {
        path: _CMAKE_COMMENT.sub("", tree.read(path))
        for path in tree.named("CMakeLists.txt", "*.cmake")
    }
    added = {PurePosixPath(name).name for text in texts.values() for name in _ADDED.findall(text)}
    starts = [
        path.parent
        for path, text in texts.items()
        if path.name == "CMakeLists.txt"
        and (not path.parent.parts or (_PROJECT.search(text) and path.parent.name not in added))
    ]
    by_start: dict[PurePosixPath, dict[PurePosixPath, str]] = {}
    for path, text in texts.items():
        start = next((folder for folder in path.parents if folder in starts), None)
        if start is not None:
            by_start.setdefault(start, {})[path] = text
    having = [
        start for start, some in by_start.items() if any(_cmake_project(tree, start, some, ""))
    ]
    suites = [
        suite
        for start in having
        for suite in _cmake_project(tree, start, by_start[start], start if having[1:] else "")
    ]
    if not suites and any("benchmark::benchmark" in text for text in texts.values()):
        tree.note(
            "CMake builds programs with Google Benchmark, but their names are not plain text "
            f'in its files. Add a [[benchmark]] for each: cpp = "{_BUILT_IN}/PATH/PROGRAM".'
        )
    if len(suites) > MOST_PROGRAMS:
        left_out = "; ".join(suite.found for suite in suites[MOST_PROGRAMS:])
        tree.note(f"Left out: {left_out}.")
    return suites[:MOST_PROGRAMS]


def _cmake_project(
    tree: ProjectTree,
    start: PurePosixPath,
    texts: Mapping[PurePosixPath, str],
    inside: PurePosixPath | str,
) -> Iterator[Suite]:
    """The programs with benchmarks of one project of CMake, which is built by itself.

    Args:
        start: its folder.
        texts: its files.
        inside: where in the folder of builds it is built.
    """
    options = sorted({name for text in texts.values() for name in _OPTION.findall(text)})
    placed = next((found[1] for text in texts.values() if (found := _PLACED.search(text))), None)
    switched = "".join(f" -D{name}=ON" for name in options)
    built_in = _BUILT_IN / inside
    configure = f"cmake -S {start} -B {built_in} -DCMAKE_BUILD_TYPE=Release{switched}"
    compiling = f"cmake --build {built_in} --parallel"
    build = BuildSteps((configure, compiling), {}, COMPILED, ("cmake",))
    for path, text in texts.items():
        if path.name != "CMakeLists.txt":
            continue
        # Each program is in a folder of its own, unless all are put into one.
        place = built_in / (path.parent.relative_to(start) if placed is None else placed)
        for name, tool, arguments in _programs(tree, path.parent, text):
            yield Suite(
                f"the program {name} with benchmarks of {tool}{in_folder(path.parent)}",
                {"cpp": f"{place / name}"}
                if arguments is None
                else {"suite": f"{place / name}{arguments}"},
                f"The benchmarks of {tool}.",
                path.parent,
                build,
            )


def _programs(
    tree: ProjectTree, folder: PurePosixPath, text: str
) -> Iterator[tuple[str, str, str | None]]:
    """The programs with benchmarks of one CMakeLists.txt, each with its tool and its arguments.

    There are none for a program that need not write its results.
    """
    links = dict[str, str]()
    for name, libraries in _LINKS.findall(text):
        links[name] = f"{links.get(name, '')} {libraries}"
    for name, sources in _PROGRAM.findall(text):
        codes = [tree.read(folder / one) for one in _SOURCE.findall(sources)]
        having = [code for code in codes if _CATCH_BENCHMARK.search(code)]
        if _GOOGLE.search(links.get(name, "")) or any(_GOOGLE_HEADER in code for code in codes):
            yield name, "Google Benchmark", None
        elif _CATCH.search(links.get(name, "")) and having:
            # Tests with [!benchmark] run only if they are named.
            tags = ("[!benchmark]", "[benchmark]")
            tag = next((f" {tag}" for tag in tags if any(tag in code for code in having)), "")
            yield name, "Catch2", f"{tag} --reporter xml"

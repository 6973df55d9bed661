"""Finds benchmarks of C++ that CMake builds: of Google Benchmark and of Catch2."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from benchgate.project.needs import Build
from benchgate.project.suites import Suite, in_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.project.tree import ProjectTree

_COMMENT = re.compile(r"#(?!\[).*")
_PROGRAM = re.compile(
    r"\badd_executable\s*\(\s*([\w.+-]+)((?:(?!IMPORTED|ALIAS)[^)])*)\)", re.IGNORECASE
)
_LINKS = re.compile(r"\btarget_link_libraries\s*\(\s*([\w.+-]+)([^)]*)\)", re.IGNORECASE)
_GOOGLE = re.compile(r"(?<![\w:-])benchmark(?:_main|::benchmark(?:_main)?)?(?![\w:-])")
_GOOGLE_HEADER = "<benchmark/benchmark.h>"
_CATCH = re.compile(r"\bCatch2?(?:::Catch2?\w*)?\b")
_CATCH_BENCHMARK = re.compile(r"\bBENCHMARK(?:_ADVANCED)?\s*\(")
_OPTION = re.compile(r"\b(?:option|set)\s*\(\s*(\w*BENCH\w*)\b[^)]*\bOFF\b[^)]*\)")
_PLACED = re.compile(
    r"CMAKE_RUNTIME_OUTPUT_DIRECTORY\s+\"?\$\{(?:CMAKE|PROJECT)_BINARY_DIR\}/?([\w./-]*)"
)
_SOURCE = re.compile(r"[\w./+-]+\.(?:cc|cpp|cxx|c\+\+|C)\b")
_MAX_PROGRAMS = 8
_OUTPUT = (
    "--benchmark_repetitions=10 --benchmark_min_time=0.05 --benchmark_out={output} "
    "--benchmark_out_format=json"
)


def find_cmake_suites(tree: ProjectTree) -> list[Suite]:
    """Find programs that are linked with Google Benchmark, or with Catch2 and have benchmarks."""
    if not tree.has(PurePosixPath("CMakeLists.txt")):
        return []
    texts = {
        path: _COMMENT.sub("", tree.read(path)) for path in tree.named("CMakeLists.txt", "*.cmake")
    }
    options = sorted({name for text in texts.values() for name in _OPTION.findall(text)})
    placed = next((found[1] for text in texts.values() if (found := _PLACED.search(text))), None)
    suites = [
        suite
        for path, text in texts.items()
        if path.name == "CMakeLists.txt"
        for suite in _programs(tree, path.parent, text, _build(options), placed)
    ]
    if not suites and any("benchmark::benchmark" in text for text in texts.values()):
        tree.note(
            "CMake builds programs with Google Benchmark, but their names are not plain text "
            f'in its files. Add a [[benchmark]] for each: suite = "{{env}}/PATH/PROGRAM {_OUTPUT}".'
        )
    if len(suites) > _MAX_PROGRAMS:
        left_out = "; ".join(suite.found for suite in suites[_MAX_PROGRAMS:])
        tree.note(f"Left out: {left_out}.")
    return suites[:_MAX_PROGRAMS]


def _build(options: list[str]) -> Build:
    switched = "".join(f" -D{name}=ON" for name in options)
    return Build(
        (
            f"cmake -S . -B {{env}} -DCMAKE_BUILD_TYPE=Release{switched}",
            "cmake --build {env} --parallel",
        ),
        {},
        "the benchmarks are compiled",
        ("cmake",),
    )


def _programs(
    tree: ProjectTree, folder: PurePosixPath, text: str, build: Build, placed: str | None
) -> Iterator[Suite]:
    """The programs with benchmarks of one CMakeLists.txt.

    Args:
        placed: the folder in the build folder that all programs are put into; None if each has its
            own.
    """
    links = dict[str, str]()
    for name, libraries in _LINKS.findall(text):
        links[name] = f"{links.get(name, '')} {libraries}"
    for name, sources in _PROGRAM.findall(text):
        place = PurePosixPath(folder if placed is None else placed) / name
        codes = [tree.read(folder / one) for one in _SOURCE.findall(sources)]
        having = [code for code in codes if _CATCH_BENCHMARK.search(code)]
        if _GOOGLE.search(links.get(name, "")) or any(_GOOGLE_HEADER in code for code in codes):
            tool, arguments = "Google Benchmark", f" {_OUTPUT}"
        elif _CATCH.search(links.get(name, "")) and having:
            tool, arguments = "Catch2", f"{_tag(having)} --reporter xml"
        else:
            continue
        yield Suite(
            f"the program {name} with benchmarks of {tool}{in_folder(folder)}",
            {"suite": f"{{env}}/{place}{arguments}"},
            f"The benchmarks of {tool}.",
            folder,
            build,
        )


def _tag(codes: list[str]) -> str:
    """The tag that chooses the benchmarks: tests with [!benchmark] run only if they are named."""
    tags = ("[!benchmark]", "[benchmark]")
    return next((f" {tag}" for tag in tags if any(tag in code for code in codes)), "")

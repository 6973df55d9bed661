"""Finds the benchmark programs of other languages, and the files that belong to each."""

from __future__ import annotations

import ast
import json
import platform
import re
import sys
import tomllib
from hashlib import sha256
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from benchgate.config.benchmarks import (
    GoBenchmark,
    LiveBenchmarks,
    NodeBenchmark,
    RustBenchmark,
    WorkerBenchmark,
)
from benchgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from benchgate.measure.engine import Arm

# A whole word of a folder's name: pytest_plugin/ is a project, integration_tests/ is not.
NAMED_FOR_TESTS: Final = re.compile(
    r"(?:^|[/_.-])(?:test(?:s|ing)?|bench(?:es|marks?|marking)?|perf(?:ormance)?|asv)(?=$|[/_.-])",
    re.IGNORECASE,
)
_SKIPPED = frozenset({"node_modules", "vendor", "testdata"})
_CPP = frozenset({".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hh", ".hpp", ".hxx"})
_CPP_HEADERS = ("benchmark/benchmark.h", "benchgate.h")
_CODE = frozenset({"src", "lib"})
_OF_A_LIBRARY = frozenset({"main", "module", "exports", "bin"})
_VITEST_NAME = re.compile(r"\.(?:bench|benchmark)\.[cm]?[jt]sx?$")
_JS_TOOL = re.compile(r"""["'](tinybench|mitata|benchmark|vitest)["']""")
# On one line, or up to a brace at the beginning of a line.
_GO_FUNCTION = re.compile(
    r"^func (Benchmark\w*)\((?:[^\n]*\}[ \t]*(?://[^\n]*)?$|.*?^\})", re.MULTILINE | re.DOTALL
)
_GO_BUILD = re.compile(r"^//go:build (.+)$", re.MULTILINE)
_GO_WORD = re.compile(r"&&|\|\||[!()]|[\w.]+")


def find(arm: Arm, benchmark: LiveBenchmarks) -> Iterator[tuple[str, str]]:
    """Find the programs of a table in one arm.

    Yields:
        Of each its path, relative to the configuration's folder, and its group.
    """
    if isinstance(benchmark, WorkerBenchmark):
        yield benchmark.title, ""
        return
    for path in benchmark.paths:
        if isinstance(benchmark, GoBenchmark):
            top = arm.folder / path.removesuffix("...")
            for folder in _go_packages(top, benchmark.arguments):
                relative = folder.relative_to(arm.folder).as_posix()
                yield relative, "" if relative == "." else relative
        elif isinstance(benchmark, RustBenchmark):
            target = PurePosixPath(path)
            if target.name in bench_targets(arm.folder / target.parent):
                yield path, path
        elif isinstance(benchmark, NodeBenchmark):
            yield from _scripts(arm.folder, path)
        elif (arm.folder / path).is_file():
            yield path, Path(path).stem


def _scripts(folder: Path, path: str) -> Iterator[tuple[str, str]]:
    script = folder / path
    if "*" in path and not script.exists():
        for each in sorted(folder.glob(path)):
            name = each.relative_to(folder)
            if "node_modules" not in name.parts and _JS_TOOL.search(text_of(each)):
                yield from _scripts(folder, name.as_posix())
    elif script.is_dir():
        yield path, ""  # vitest itself finds its files
    elif script.is_file():
        yield path, _VITEST_NAME.sub("", script.name) if is_file_of_vitest(script) else script.stem


def is_file_of_vitest(file: Path) -> bool:
    """Whether `vitest bench` finds a file by its name, and no other tool runs it."""
    return _VITEST_NAME.search(file.name) is not None and is_of_vitest(file)


def is_of_vitest(script: Path) -> bool:
    """Whether vitest runs a script."""
    found = _JS_TOOL.search(text_of(script))
    return found[1] == "vitest" if found else _VITEST_NAME.search(script.name) is not None


def _go_packages(top: Path, arguments: Sequence[str]) -> list[Path]:
    """The folders whose tests have a function `Benchmark*`, as far as Go builds them here."""
    given = " ".join(arguments).replace("=", " ").split()
    tags = {one for flag, text in pairwise(given) if flag == "-tags" for one in text.split(",")}
    # Go does not build the modules inside of a module, unless a workspace uses them.
    work = next(
        (one / "go.work" for one in (top, *top.parents) if (one / "go.work").is_file()), top
    )
    used = {(work.parent / word.strip('"`')).resolve() for word in text_of(work).split()}
    modules = [one.parent for one in top.rglob("*/go.mod") if one.parent.resolve() not in used]
    found = {
        file.parent
        for file in sorted(top.rglob("*_test.go"))
        if not _is_skipped(file.relative_to(top)) and _has_benchmark(text_of(file), tags)
    }
    return sorted(one for one in found if not any(map(one.is_relative_to, modules)))


def _has_benchmark(text: str, tags: Collection[str]) -> bool:
    constraint = _GO_BUILD.search(text)
    is_built = constraint is None or _holds(constraint[1], tags)
    return is_built and _GO_FUNCTION.search(text) is not None


def _holds(constraint: str, tags: Collection[str]) -> bool:
    """Whether a file with this `//go:build` belongs to a build with these tags."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    known = {*tags, sys.platform, machine, "unix", "gc", "cgo"}
    words = {"&&": " and ", "||": " or ", "!": " not ", "(": "(", ")": ")"}
    text = _GO_WORD.sub(
        lambda m: words.get(m[0]) or str(m[0] in known or m[0].startswith("go1.")), constraint
    )
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        return True  # Go itself says what is wrong


def _value(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        values = map(_value, node.values)
        return all(values) if isinstance(node.op, ast.And) else any(values)
    if isinstance(node, ast.UnaryOp):
        return not _value(node.operand)
    if isinstance(node, ast.Constant):
        return bool(node.value)
    raise ValueError(ast.dump(node))


def _is_skipped(path: Path) -> bool:
    """Whether Go leaves a file out, too."""
    return any(part in _SKIPPED or part.startswith((".", "_")) for part in path.parts[:-1])


def bench_targets(folder: Path) -> dict[str, tuple[str, ...]]:
    """Of each target of a Cargo package that may have benchmarks, the option that builds it."""
    manifest = _cargo_manifest(folder)
    names = [str(one.get("name")) for one in manifest.get("bench", [])]
    benches = folder / "benches"
    names += [file.stem for file in benches.glob("*.rs")]
    names += [file.parent.name for file in benches.glob("*/main.rs")]
    library = folder / manifest.get("lib", {}).get("path", "src/lib.rs")
    found = {"lib": ("--lib",)} if library.is_file() else {}
    return found | {name: ("--bench", name) for name in names}


def _cargo_manifest(folder: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text_of(folder / "Cargo.toml"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{folder / 'Cargo.toml'}: {error}") from error


def files_of(arm: Arm, benchmark: LiveBenchmarks) -> set[Path]:
    """The benchmark files of a table in one arm, with helpers and data beside them.

    There are none of a program that [build] or the user's own worker compiles.
    """
    found: set[Path] = set()
    if isinstance(benchmark, GoBenchmark):
        for path, _ in find(arm, benchmark):
            folder = arm.folder / path
            # They are one package: what they declare, they share.
            found.update(folder.glob("*_test.go"), (folder / "testdata").rglob("*"))
    elif isinstance(benchmark, NodeBenchmark):
        for path, _ in find(arm, benchmark):
            found.update(_files_of_script(arm, arm.folder / path))
    elif isinstance(benchmark, RustBenchmark):
        for path, _ in find(arm, benchmark):
            target = PurePosixPath(path)
            found.update(_files_of_target(arm.folder / target.parent, target.name))
    return {each for each in found if each.is_symlink() or each.is_file()}


def compiled_by_build(arm: Arm) -> Iterator[Path]:
    """The sources of benchmarks in C++, as far as their text shows: [build] compiles them."""
    for file in arm.root.rglob("*"):
        if file.suffix in _CPP and any(each in text_of(file) for each in _CPP_HEADERS):
            yield file


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


def _files_of_target(folder: Path, name: str) -> Iterator[Path]:
    """All benchmarks of a Cargo package, or the file of one that lies elsewhere.

    Those in the library itself are a part of it.
    """
    if name == "lib":
        return
    named = _cargo_manifest(folder).get("bench", [])
    path = next((each["path"] for each in named if each.get("name") == name and "path" in each), "")
    yield from (folder / path,) if path else ()
    yield from (folder / "benches").rglob("*")


def parts(
    arm: Arm, benchmark: LiveBenchmarks, path: str, described: Mapping[str, Any]
) -> dict[str, str]:
    """Identify the work of a benchmark, as far as its text can be told from that of others."""
    if isinstance(benchmark, GoBenchmark):
        name = "Benchmark" + described["id"].partition("/")[0]
        texts = (text_of(file) for file in sorted((arm.folder / path).glob("*_test.go")))
        code = [m[0] for text in texts for m in _GO_FUNCTION.finditer(text) if m[1] == name]
        return {"its code": digest("\0".join(code))}
    if isinstance(benchmark, WorkerBenchmark):
        return {
            "its files": digest("\0".join(text_of(arm.folder / each) for each in benchmark.paths))
        }
    source = described.get("source")
    return {"its code": digest(source)} if isinstance(source, str) else {}


def digest(text: str) -> str:
    """Identify a text."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def text_of(file: Path) -> str:
    """The text of a file; "" if it cannot be read."""
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""

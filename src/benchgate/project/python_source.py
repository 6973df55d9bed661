"""Reads what the text of a Python file tells about the benchmarks in it, without running it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate.measure.python_workers import read_source

if TYPE_CHECKING:
    from collections.abc import Iterator

ASV_NAME = re.compile(r"(?:time|timeraw|mem|peakmem|track)_")
_IMPORTED = {
    "pyperf": "pyperf",
    "asv_runner": "asv",
    "pytest_benchmark": "pytest-benchmark",
    "pytest_codspeed": "pytest-codspeed",
}
UNKNOWN = "another tool"
FIXTURE = "benchmark"
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class PythonTest:
    """A function that may be a test.

    Attributes:
        owner: the class that it is a method of; "" for none.
        arguments: the fixtures that it asks for.
        is_marked: whether it, its class or its module is marked as a benchmark.
        is_fixture: whether it is a fixture instead.
    """

    name: str
    owner: str
    arguments: frozenset[str]
    is_marked: bool
    is_fixture: bool


@dataclass(frozen=True, slots=True)
class PythonSource:
    """What the text of a file says.

    Attributes:
        tool: the tool that the file was written for; None for benchgate, or if it is broken.
        tests: its functions and the methods of its classes.
        imports: modules that it cannot do without, with the packages that they are in.
        asv_benchmarks: how many functions and methods asv would measure.
        has_runner: whether it creates a `pyperf.Runner`.
    """

    tool: str | None = None
    tests: tuple[PythonTest, ...] = ()
    imports: frozenset[str] = frozenset()
    asv_benchmarks: int = 0
    has_runner: bool = False


def read_python(source: str) -> PythonSource:
    """Read the text of a file; nothing is known of one that is not Python."""
    try:
        tree = ast.parse(source)
        names = read_source(source.encode())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return PythonSource()  # `validate` says what is wrong with it
    imported = {name.partition(".")[0] for name in _imports(ast.walk(tree))}
    tests = tuple(_tests(tree))
    tools = {_IMPORTED[name] for name in imported if name in _IMPORTED}
    asv_benchmarks = sum(ASV_NAME.match(one.name) is not None for one in tests)
    tool: str | None = None
    if tools:
        tool = min(tools)
    elif any(FIXTURE in one.arguments for one in tests):
        tool = "pytest-benchmark"
    elif not (names.makes_more or names.names):
        tool = "asv" if asv_benchmarks else UNKNOWN
    return PythonSource(
        tool,
        tests,
        frozenset(_imports(tree.body)),
        asv_benchmarks,
        "pyperf" in imported and _calls(tree, "Runner"),
    )


def _imports(nodes: Iterator[ast.AST] | list[ast.stmt]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _tests(tree: ast.Module) -> Iterator[PythonTest]:
    all_marked = any(
        isinstance(node, ast.Assign)
        and any(isinstance(one, ast.Name) and one.id == "pytestmark" for one in node.targets)
        and _names_mark(node.value)
        for node in tree.body
    )
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            marked = all_marked or any(map(_names_mark, node.decorator_list))
            for one in node.body:
                if isinstance(one, _Function):
                    yield _test(one, node.name, is_marked=marked)
        elif isinstance(node, _Function):
            yield _test(node, "", is_marked=all_marked)


def _test(function: _Function, owner: str, *, is_marked: bool) -> PythonTest:
    given = function.args
    names = (one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs))
    decorators = function.decorator_list
    return PythonTest(
        function.name,
        owner,
        frozenset(names),
        is_marked or any(map(_names_mark, decorators)),
        any("fixture" in ast.unparse(one).partition("(")[0] for one in decorators),
    )


def _names_mark(node: ast.AST) -> bool:
    """Whether an expression holds `pytest.mark.benchmark`."""
    return any(
        isinstance(one, ast.Attribute)
        and one.attr == "benchmark"
        and isinstance(one.value, ast.Attribute | ast.Name)
        and (one.value.attr if isinstance(one.value, ast.Attribute) else one.value.id) == "mark"
        for one in ast.walk(node)
    )


def _calls(tree: ast.Module, name: str) -> bool:
    """Whether something of this name is called, by itself or as an attribute."""
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(
        (isinstance(one, ast.Name) and one.id == name)
        or (isinstance(one, ast.Attribute) and one.attr == name)
        for one in called
    )

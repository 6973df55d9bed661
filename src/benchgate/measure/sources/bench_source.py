"""What the text of a benchmark file says, without running it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchgate._worker.functions import unknown_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator


_PREFIX = "bench_"
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set)
# With these, a file can create names that its text does not show.
_MAKERS = frozenset({"globals", "vars", "locals", "setattr", "exec", "eval"})


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

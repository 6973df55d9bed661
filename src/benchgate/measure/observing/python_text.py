"""Which definitions of a text of Python differ, apart from what is only said in them."""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
NAMELESS = "<"
MODULE = "<module>"
# What a worker may leave out of a function: its last line, that its calls are exact, a digest.
UNSAID: list[Any] = [0, True, ""]
MOST_LINES = 1_000_000


@dataclass(frozen=True, slots=True)
class TextDefinition:
    """A function in the text of a file.

    Attributes:
        last: its last line.
        digest: of what it does: its text, without comments and docstrings.
    """

    name: str
    line: int
    last: int
    digest: str


@dataclass(frozen=True, slots=True)
class PythonText:
    """The functions of a file, and the digest of what is outside of them."""

    definitions: tuple[TextDefinition, ...] = ()
    rest: str = ""

    def at(self, line: int) -> TextDefinition | None:
        """The innermost function that a line belongs to."""
        around = [one for one in self.definitions if one.line <= line <= one.last]
        return max(around, key=lambda one: one.line, default=None)

    def digests(self) -> Mapping[str, str]:
        return {one.name: one.digest for one in self.definitions}


@cache
def read_text(file: Path) -> PythonText:
    """Read a file of Python; empty if it cannot be read as one."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return PythonText()
    for node in ast.walk(tree):
        if isinstance(node, (*_SCOPES, ast.Module)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    definitions = tuple(_definitions(tree))
    return PythonText(definitions, _digest(_WithoutFunctions().visit(tree)))


def _definitions(scope: ast.AST, above: str = "") -> Iterator[TextDefinition]:
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, _SCOPES):
            yield from _definitions(node, above)
            continue
        name = f"{above}{node.name}"
        if isinstance(node, ast.ClassDef):
            yield from _definitions(node, f"{name}.")
            continue
        line = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        yield TextDefinition(name, line, node.end_lineno or line, _digest(node))
        yield from _definitions(node, f"{name}.<locals>.")


class _WithoutFunctions(ast.NodeTransformer):
    """Leaves what runs when a file is imported."""

    def visit_FunctionDef(self, _: ast.FunctionDef) -> None:
        return None

    def visit_AsyncFunctionDef(self, _: ast.AsyncFunctionDef) -> None:
        return None


def _digest(node: ast.AST) -> str:
    return hashlib.sha256(ast.dump(node).encode()).hexdigest()[:16]

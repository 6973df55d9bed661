"""Knows which parts of a file's text are benchmarks: functions, or tests of another tool."""

from __future__ import annotations

import ast

from .functions import PREFIX
from .names import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any


class FileText:
    """The text of a file with `bench_*` functions.

    Attributes:
        others: real paths of files that hold benchmarks too, and nothing of this file's.
        also: real paths of files that are imported for this file, though it does not say so.
    """

    others: Collection[str] = ()
    also: Collection[str] = ()

    def is_benchmark(self, name: str) -> bool:
        """Tell whether a name at the top of the file is a benchmark's."""
        return name.startswith(PREFIX)

    def apart(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Return the statements of the file, with every benchmark on its own."""
        return statements


class SuiteText(FileText):
    """The text of a file of a suite, as of pytest or asv.

    Args:
        names: of its benchmarks: `test_x`, or `TestX.test_x` in a class.
        settings: names of settings in a class that are compared by value.
    """

    def __init__(
        self,
        names: Collection[str],
        others: Collection[str] = (),
        also: Collection[str] = (),
        settings: Collection[str] = (),
    ) -> None:
        self.names = names
        self.others = others
        self.also = also
        self.settings = settings

    def is_benchmark(self, name: str) -> bool:
        return name in self.names

    def apart(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Take the benchmarks out of their classes, and their parameters out of both.

        A benchmark `x` in the class `C` becomes a function `C.x` that uses `C`. Parameters become
        an attribute `params`. So what one benchmark does, another one in its class does not.
        """
        found: list[ast.stmt] = []
        for node in statements:
            inner = self.taken_out(node) if isinstance(node, ast.ClassDef) else []
            found.append(node)
            for each in (*inner, node):
                if each is not node:
                    found.append(each)
                if isinstance(each, FUNCTIONS) and self.is_benchmark(each.name):
                    found += parameters_of(each)
        return found

    def taken_out(self, node: ast.ClassDef) -> list[ast.stmt]:
        """Remove the benchmarks from a class, unless other code in it calls them; return them."""
        mentioned = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
        found: list[ast.stmt] = []
        kept: list[ast.stmt] = []
        for each in node.body:
            is_function = isinstance(each, FUNCTIONS)
            name = f"{node.name}.{getattr(each, 'name', '')}"
            if is_function and self.is_benchmark(name) and name.partition(".")[2] not in mentioned:
                of_class = ast.Expr(value=ast.Name(id=node.name, ctx=ast.Load()))
                each.name = name  # type: ignore[attr-defined]
                each.body.insert(0, fixed(of_class, each))  # type: ignore[attr-defined]
                found.append(each)
            elif not sets_only(each, self.settings):
                kept.append(each)
        node.body = kept or [fixed(ast.Pass(), node)]
        return found


def parameters_of(function: Any) -> list[ast.stmt]:
    """Move `parametrize` decorators of a test to its attribute `params`."""
    given = [each for each in function.decorator_list if is_parametrize(each)]
    function.decorator_list = [each for each in function.decorator_list if each not in given]
    if not given:
        return []
    owner = ast.Name(id=function.name, ctx=ast.Load())
    target = ast.Attribute(value=owner, attr="params", ctx=ast.Store())
    value = ast.Tuple(elts=given, ctx=ast.Load())
    return [fixed(ast.Assign(targets=[target], value=value), function)]


def is_parametrize(node: ast.expr) -> bool:
    made = node.func if isinstance(node, ast.Call) else None
    return isinstance(made, ast.Attribute) and made.attr == "parametrize"


def sets_only(node: ast.stmt, names: Collection[str]) -> bool:
    targets: Iterable[ast.expr] = node.targets if isinstance(node, ast.Assign) else ()
    found = [each.id if isinstance(each, ast.Name) else "" for each in targets]
    return bool(found) and all(name in names for name in found)


def fixed(node: Any, place: ast.AST) -> Any:
    return ast.fix_missing_locations(ast.copy_location(node, place))

"""Leaves out of a module's text what is no work, such as docstrings that nobody reads."""

from __future__ import annotations

import ast

from .names import FUNCTIONS, arguments_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DOCUMENTED = (*FUNCTIONS, ast.ClassDef)
# A file that uses one of these names may read docstrings.
READ_DOCSTRINGS = frozenset(("__doc__", "getdoc", "doctest"))
# A file that uses one of these names may read annotations.
READ_ANNOTATIONS = frozenset(
    ("__annotations__", "get_annotations", "get_type_hints", "getfullargspec", "signature")
)
# An annotation that contains one of these does something.
EXECUTED: Any = (ast.Call, getattr(ast, "NamedExpr", ()))  # 3.7, which gets a message, lacks it


def told_apart(tree: ast.Module) -> list[ast.stmt]:
    """Return a module's statements: each import on its own, without what is no work.

    So if one benchmark needs one more name of a module, the others still do the same work.
    Docstrings and annotations are work only if they may be read.
    """
    names = {getattr(n, "attr", getattr(n, "id", getattr(n, "name", ""))) for n in ast.walk(tree)}
    inner = () if names & READ_DOCSTRINGS else ast.walk(tree)
    for node in inner:
        if isinstance(node, DOCUMENTED) and docstring(node) is not None:
            node.body[:1] = [] if node.body[1:] else [ast.Pass()]
    if not names & READ_ANNOTATIONS:
        strip_annotations(tree)
    found: list[ast.stmt] = []
    text = docstring(tree)
    if text is not None:
        target = ast.Name(id="__doc__", ctx=ast.Store())
        found.append(ast.copy_location(ast.Assign(targets=[target], value=text), tree.body[0]))
    for node in tree.body:
        if isinstance(node, ast.Import):
            alone: list[ast.stmt] = [ast.Import(names=[alias]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            alone = [
                ast.ImportFrom(module=node.module, names=[alias], level=node.level)
                for alias in node.names
            ]
        else:
            alone = [node]
        found += [ast.copy_location(each, node) for each in alone]
    return found


def strip_annotations(tree: ast.Module) -> None:
    """Remove annotations that do nothing, of functions that nobody can ask for them.

    These are functions that the module only calls, or gives to a benchmark as an attribute, and
    methods of plain classes that it only calls. A decorator may read annotations.
    """
    functions = [each for each in ast.walk(tree) if isinstance(each, FUNCTIONS)]
    ignored = {id(n) for each in functions for a in annotations_of(each) for n in ast.walk(a)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Call):
            ignored.add(id(each.func))
        elif isinstance(each, ast.Assign) and all(map(is_attribute_of_benchmark, each.targets)):
            ignored.update(id(n) for target in each.targets for n in ast.walk(target))
            ignored.add(id(each.value))
    handed_on = {
        getattr(each, "id", getattr(each, "attr", ""))
        for each in ast.walk(tree)
        if isinstance(getattr(each, "ctx", None), ast.Load) and id(each) not in ignored
    }
    kept: set[int] = set()
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef) and (
            owner.bases or owner.keywords or owner.decorator_list or owner.name in handed_on
        ):
            kept.update(id(each) for each in ast.walk(owner))
    for each in functions:
        if id(each) in kept or each.decorator_list or each.name in handed_on:
            continue
        if not any(isinstance(n, EXECUTED) for a in annotations_of(each) for n in ast.walk(a)):
            each.returns = None
            for argument in arguments_of(each):
                argument.annotation = None


def annotations_of(function: Any) -> list[ast.expr]:
    found = [function.returns, *(each.annotation for each in arguments_of(function))]
    return [each for each in found if each is not None]


def is_attribute_of_benchmark(node: ast.AST) -> bool:
    owner = node.value if isinstance(node, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id.startswith("bench_")


def docstring(node: Any) -> ast.expr | None:
    """Return the docstring of a module, a class or a function: its first statement."""
    first = node.body[0] if node.body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return None
    return first.value if isinstance(first.value.value, str) else None


def is_inert(node: ast.stmt) -> bool:
    """Tell whether a statement does nothing, like a docstring."""
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def is_main(node: ast.stmt) -> bool:
    """Tell whether a statement runs only in a program: `if __name__ == "__main__"`."""
    return (
        isinstance(node, ast.If)
        and not node.orelse
        and ast.dump(node.test) == ast.dump(ast.parse('__name__ == "__main__"').body[0].value)  # type: ignore[attr-defined]
    )

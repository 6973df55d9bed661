"""Leaves out of a module's text what is no work, such as docstrings that nobody reads."""

from __future__ import annotations

import ast

from .names import FUNCTIONS, annotations_of, arguments_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A file that uses one of these names may read docstrings.
READ_DOCSTRINGS = frozenset(("__doc__", "getdoc", "doctest", "getsource", "pydoc"))
# A file that uses one of these names may read annotations.
READ_ANNOTATIONS = frozenset(
    ("__annotations__", "get_annotations", "get_type_hints", "getfullargspec", "signature")
)
# An annotation that contains one of these does something.
EXECUTED: Any = (ast.Call, getattr(ast, "NamedExpr", ()))  # 3.7, which gets a message, lacks it


def told_apart(tree: ast.Module) -> list[ast.stmt]:
    """Return a module's statements: each import on its own.

    So if one benchmark needs one more name of a module, the others still do the same work.
    """
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
                for alias in sorted(node.names, key=lambda alias: alias.name)
            ]
        else:
            alone = [node]
        found += [ast.copy_location(each, node) for each in alone if not is_inert(each)]
    return found


def names_of(tree: ast.Module) -> set[str]:
    return {getattr(n, "attr", getattr(n, "id", getattr(n, "name", ""))) for n in ast.walk(tree)}


def strip(tree: ast.Module) -> None:
    """Remove docstrings and annotations that nobody can read, because they are no work.

    These are the ones of functions that the module only calls, or gives to a benchmark as an
    attribute, and that are in no class. A decorator may read them, and so may whoever gets an
    object of the class.
    """
    names = names_of(tree)
    read = handed_on(tree) | {
        each.name for each in ast.walk(tree) if isinstance(each, FUNCTIONS) and each.decorator_list
    }
    in_class = {
        id(inner)
        for each in ast.walk(tree)
        if isinstance(each, ast.ClassDef)
        for inner in ast.walk(each)
    }
    for each in ast.walk(tree):
        if not isinstance(each, FUNCTIONS) or id(each) in in_class or each.name in read:
            continue
        if not names & READ_DOCSTRINGS and docstring(each) is not None:
            each.body[:1] = [] if each.body[1:] else [ast.Pass()]
        executed = (isinstance(n, EXECUTED) for a in annotations_of(each) for n in ast.walk(a))
        if not names & READ_ANNOTATIONS and not any(executed):
            each.returns = None
            for argument in arguments_of(each):
                argument.annotation = None


def handed_on(tree: ast.Module) -> set[str]:
    """Return the names that are not only called or given to a benchmark as an attribute."""
    ignored: set[int] = set()
    for each in ast.walk(tree):
        if isinstance(each, FUNCTIONS):
            ignored.update(id(n) for a in annotations_of(each) for n in ast.walk(a))
        elif isinstance(each, ast.Call):
            ignored.add(id(each.func))
        elif isinstance(each, ast.Assign) and all(map(is_attribute_of_benchmark, each.targets)):
            ignored.update(id(n) for target in each.targets for n in ast.walk(target))
            ignored.add(id(each.value))
    return {
        getattr(each, "id", getattr(each, "attr", ""))
        for each in ast.walk(tree)
        if isinstance(getattr(each, "ctx", None), ast.Load) and id(each) not in ignored
    }


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

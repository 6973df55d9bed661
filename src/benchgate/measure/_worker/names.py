"""Finds the names that code binds, and those of its module that it reads, as Python scopes them."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Old Pythons have no `match`.
CAPTURES: Any = (
    ast.ExceptHandler,
    *(getattr(ast, kind, ()) for kind in ("MatchAs", "MatchStar", "MatchMapping")),
)


def bound(node: ast.AST) -> list[str]:
    """Return the names that a node binds."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return [node.name]
    if isinstance(node, IMPORTS):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return [node.id]
    if isinstance(node, CAPTURES):
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        return [name] if name else []
    return []


def bound_by(nodes: Collection[ast.AST]) -> set[str]:
    """Return the names that nodes bind in their scope: not what a comprehension loops over."""
    loops = (each.target for each in nodes if isinstance(each, ast.comprehension))
    inner = {id(each) for target in loops for each in ast.walk(target)}
    return {name for each in nodes if id(each) not in inner for name in bound(each)}


def declared_global(nodes: Iterable[ast.AST]) -> set[str]:
    return {name for each in nodes if isinstance(each, ast.Global) for name in each.names}


def at_definition(function: Any) -> list[ast.AST]:
    """Return what runs when a function is defined: decorators, default values and annotations."""
    args = function.args
    found = [*getattr(function, "decorator_list", ()), *args.defaults, *args.kw_defaults]
    return [each for each in found if each is not None] + annotations_of(function)


def arguments_of(function: Any) -> list[ast.arg]:
    args = function.args
    every = (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg)
    return [each for each in every if each is not None]


def annotations_of(function: Any) -> list[ast.expr]:
    arguments = (each.annotation for each in arguments_of(function))
    found = [getattr(function, "returns", None), *arguments]
    return [each for each in found if each is not None]


def bases(node: ast.ClassDef) -> list[ast.expr]:
    return [*node.bases, *(keyword.value for keyword in node.keywords)]


def free_names(node: Any, but: set[int]) -> set[str]:
    """Return the module's names that a node reads, now or later, or sets through `global`.

    Args:
        but: ids of nodes that do not count.
    """
    return read_names(node, but) | declared_global(ast.walk(node))


def read_names(node: Any, but: set[int]) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) and id(node) not in but else set()
    if isinstance(node, (*FUNCTIONS, ast.Lambda)):
        body = node.body if isinstance(node.body, list) else [node.body]
        outside = [*at_definition(node), *getattr(node, "type_params", ())]
        return read_by(outside, but) | (read_by(body, but) - local_names(node, body))
    inner = read_by(ast.iter_child_nodes(node), but)
    if isinstance(node, COMPREHENSIONS):
        loops = {
            name for one in node.generators for each in ast.walk(one.target) for name in bound(each)
        }
        return (inner - loops) | read_names(node.generators[0].iter, but)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return inner | {node.target.id}
    return inner


def read_by(nodes: Iterable[ast.AST], but: set[int]) -> set[str]:
    found: set[str] = set()
    for each in nodes:
        found |= read_names(each, but)
    return found


def local_names(function: Any, body: Iterable[ast.AST]) -> set[str]:
    """Return the local names of a function."""
    inner = [node for each in body for node in own_nodes(each)]
    arguments = {each.arg for each in arguments_of(function)}
    return (bound_by(inner) | arguments) - declared_global(inner)


def own_nodes(node: ast.AST) -> list[ast.AST]:
    """Return the nodes of a function that are not in a function or class inside it."""
    found: list[ast.AST] = []
    pending = [node]
    while pending:
        each = pending.pop()
        found.append(each)
        if not isinstance(each, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            pending += ast.iter_child_nodes(each)
    return found

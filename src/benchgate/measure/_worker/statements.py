"""Finds what the statements of a module bind, use and alter, as far as the text shows it."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
# Through these, code reaches names that its text does not show.
UNSEEN = frozenset(("globals", "vars", "locals", "setattr", "delattr", "exec", "eval"))
UNSEEN_ATTRIBUTES = frozenset(("modules", "__dict__", "__globals__", "_getframe", "import_module"))
# What these return cannot be altered.
FROZEN_CALLS = frozenset(
    ("range", "str", "bytes", "int", "float", "complex", "bool", "frozenset", "len", "sum", "abs")
)
FROZEN_METHODS = frozenset(
    ("join", "encode", "decode", "format", "replace", "read", "read_text", "read_bytes", "hex")
)
# Attributes of a benchmark that are not work, or that are compared by value.
NO_WORK = frozenset(("unit", "parallel", "data", "number"))


class Statement:
    """A statement at the top of a module.

    Attributes:
        text: its code, without comments and layout.
        binds: names that it binds.
        alters: names of objects that it changes by an assignment.
        uses: names that it needs, at once or later.
        mentions: the names among them that it needs at once.
        calls: names of functions that it calls at once.
        acts: whether it does more at once than bind names.
        is_unseen: whether it may reach any name of the module without showing which.
        is_definition: whether it defines a function or a class.
        is_frozen: whether the objects that it binds cannot be altered.
    """

    def __init__(self, node: ast.stmt) -> None:
        self.node = node
        self.line = node.lineno
        self.text = ast.dump(node)
        executed = list(executed_nodes(node))
        of_class = isinstance(node, ast.ClassDef)  # what its body binds are its attributes
        binding = [node] if of_class else executed
        self.binds = {name for each in binding for name in bound(each)}
        targets = [target for each in executed for target in altered(each)]
        roots = {id(target) for target in targets}
        self.alters = {target.id for target in targets}
        self.uses = free_names(node, roots)
        names = {
            each.id for each in executed if isinstance(each, ast.Name) and id(each) not in roots
        }
        self.mentions = self.uses & names
        called = (each.func for each in executed if isinstance(each, ast.Call))
        self.calls = {func.id for func in called if isinstance(func, ast.Name)}
        self.is_definition = isinstance(node, (*FUNCTIONS, ast.ClassDef))
        self.is_import = isinstance(node, IMPORTS)
        decorated = bool(getattr(node, "decorator_list", ()))
        works = any(isinstance(each, (ast.Call, ast.Await, ast.Delete)) for each in executed)
        self.acts = works or decorated or self.is_import or bool(self.alters)
        self.is_unseen = any(is_unseen(each) for each in executed)
        self.hides = any(is_unseen(each) for each in ast.walk(node))
        self.is_frozen = isinstance(node, ast.Assign) and is_frozen(node.value)

    def attributes_of(self, name: str) -> set[str]:
        """Return the attributes that it sets on a name, if it does nothing else; else none."""
        node = self.node
        targets = node.targets if isinstance(node, ast.Assign) else []
        found = set()
        for target in targets:
            if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
                return set()
            if target.value.id == name:
                found.add(target.attr)
        return found


def executed_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Return the nodes that run when the module is imported: not the bodies of functions."""
    yield node
    inner: Iterable[ast.AST]
    if isinstance(node, FUNCTIONS):
        inner = [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]
    elif isinstance(node, ast.Lambda):
        inner = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    else:
        inner = ast.iter_child_nodes(node)
    for each in inner:
        yield from executed_nodes(each)


def bound(node: ast.AST) -> list[str]:
    """Return the names that a node binds."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return [node.name]
    if isinstance(node, IMPORTS):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return [node.id]
    if isinstance(node, ast.ExceptHandler) and node.name:
        return [node.name]
    return []


def altered(node: ast.AST) -> list[ast.Name]:
    """Return the names whose objects an assignment changes: for `a.b[c] = d`, that is `a`."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return [node.target]
    if not isinstance(node, (ast.Attribute, ast.Subscript)) or isinstance(node.ctx, ast.Load):
        return []
    root: ast.AST = node
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    return [root] if isinstance(root, ast.Name) else []


def free_names(node: ast.AST, but: set[int]) -> set[str]:
    """Return the module's names that a node reads, now or later, or sets through `global`.

    Args:
        but: ids of nodes that do not count.
    """
    inner: set[str] = set()
    for each in ast.iter_child_nodes(node):
        inner |= free_names(each, but)
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) and id(node) not in but else set()
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return inner | {node.target.id}
    if isinstance(node, ast.Global):
        return set(node.names)
    if isinstance(node, (*FUNCTIONS, ast.Lambda)):
        return inner - local_names(node)
    return inner


def local_names(function: ast.AST) -> set[str]:
    """Return the local names of a function."""
    found: set[str] = set()
    shared: set[str] = set()
    body = getattr(function, "body", [])
    pending: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while pending:
        node = pending.pop()
        found.update(bound(node))
        if isinstance(node, ast.Global):
            shared.update(node.names)
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            pending += ast.iter_child_nodes(node)
    arguments = getattr(function, "args", None)
    if arguments:
        found.update(each.arg for each in ast.walk(arguments) if isinstance(each, ast.arg))
    return found - shared


def is_unseen(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return any(alias.name == "*" for alias in node.names)
    if isinstance(node, ast.Attribute):
        return node.attr in UNSEEN_ATTRIBUTES
    return isinstance(node, ast.Name) and node.id in UNSEEN


def is_frozen(node: ast.AST) -> bool:
    """Tell whether an expression certainly gives an object that cannot be altered."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return node.func.attr in FROZEN_METHODS
        return isinstance(node.func, ast.Name) and node.func.id in FROZEN_CALLS
    if isinstance(node, ast.BinOp):
        return is_frozen(node.left) and is_frozen(node.right)
    if isinstance(node, ast.Tuple):
        return all(map(is_frozen, node.elts))
    return isinstance(node, (ast.Constant, ast.JoinedStr, ast.Compare))

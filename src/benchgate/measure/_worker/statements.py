"""Finds what the statements of a module bind, use and alter, as far as the text shows it."""

from __future__ import annotations

import ast

from .names import (
    FUNCTIONS,
    IMPORTS,
    at_definition,
    bases,
    bound,
    bound_by,
    declared_global,
    free_names,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Their bodies run when they are called.
LATER = (*FUNCTIONS, ast.Lambda)
CHANGES = (ast.Await, ast.Delete)
# Through these, code reaches names that its text does not show.
UNSEEN = frozenset(
    ("globals", "vars", "locals", "setattr", "delattr", "exec", "eval", "__import__")
)
UNSEEN_ATTRIBUTES = frozenset(
    (
        *("modules", "__dict__", "__globals__", "_getframe", "import_module"),
        *("currentframe", "f_globals", "getmodule"),
    )
)
# What these return cannot be altered.
FROZEN_CALLS = frozenset(
    ("range", "str", "bytes", "int", "float", "complex", "bool", "frozenset", "len", "abs")
)
FROZEN_METHODS = frozenset(("encode", "decode", "format", "read", "read_text", "read_bytes", "hex"))
# Attributes of a benchmark that are not work, or that are compared by value.
NO_WORK = frozenset(("unit", "parallel", "data", "number"))

LASTING_TYPES = ("dict", "list", "set", "sorted", "tuple")
LASTING = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp)


class Statement:
    """A statement at the top of a module.

    Attributes:
        text: its code, without comments and layout.
        whole: the same with docstrings and annotations, if it is not plain; else "".
        binds: names that it binds.
        alters: names of objects that it changes by an assignment.
        uses: names that it needs, at once or later.
        mentions: the names among them that it needs at once.
        calls: functions that it calls at once.
        called: names of these, if they are names.
        decorators: those that it applies at once.
        runs: its decorators and calls.
        defining: those of them that get, or prepare, a definition.
        bases: classes that it derives others from, and metaclasses.
        imports: imports that run at once, in it or in its blocks.
        all_imports: these, and those in functions.
        changes: whether it assigns to parts of an object, or deletes something, at once.
        acts: whether it imports, calls, decorates or changes something at once.
        is_unseen: whether it may reach any name of the module without showing which.
        is_definition: whether it defines a function or a class.
        is_frozen: whether the objects that it binds cannot be altered.
        is_lasting: whether reading the objects that it binds does not use them up.
        calls_methods: whether it calls methods, which may alter their objects, at once.
        handed_on: names that it uses, and not only to read their attributes.
    """

    def __init__(self, node: ast.stmt, whole: str) -> None:
        self.node = node
        self.line = node.lineno
        self.text = ast.dump(node)
        self.whole = whole
        executed = list(executed_nodes(node))
        self.binds = binds_of(node)
        targets = [target for each in executed for target in altered(each)]
        roots = {id(target) for target in targets}
        self.alters = {target.id for target in targets}
        self.uses = free_names(node, roots)
        names = {
            each.id for each in executed if isinstance(each, ast.Name) and id(each) not in roots
        }
        self.mentions = self.uses & names
        self.calls = [each.func for each in executed if isinstance(each, ast.Call)]
        self.called = {func.id for func in self.calls if isinstance(func, ast.Name)}
        self.is_definition = isinstance(node, (*FUNCTIONS, ast.ClassDef))
        self.is_import = isinstance(node, IMPORTS)
        self.decorators = [each for one in executed for each in getattr(one, "decorator_list", ())]
        self.runs = self.decorators + self.calls
        self.defining = self.runs if isinstance(node, FUNCTIONS) else self.decorators
        self.bases = [b for each in executed if isinstance(each, ast.ClassDef) for b in bases(each)]
        self.imports = [each for each in executed if isinstance(each, IMPORTS)]
        self.all_imports = [each for each in ast.walk(node) if isinstance(each, IMPORTS)]
        self.changes = bool(self.alters) or any(isinstance(each, CHANGES) for each in executed)
        self.acts = self.changes or self.is_import or bool(self.runs)
        self.is_unseen = any(is_unseen(each) for each in executed)
        self.hides = any(is_unseen(each) for each in ast.walk(node))
        self.is_frozen = isinstance(node, ast.Assign) and is_frozen(node.value)
        self.is_lasting = is_lasting(getattr(node, "value", None))
        self.calls_methods = any(isinstance(each, ast.Attribute) for each in self.calls)
        owners = {id(each.value) for each in ast.walk(node) if isinstance(each, ast.Attribute)}
        self.handed_on = {
            each.id
            for each in ast.walk(node)
            if isinstance(each, ast.Name) and id(each) not in owners
        }

    def sets(self, name: str, attribute: str) -> bool:
        """Tell whether it sets this attribute of a name, and does nothing else."""
        return self.attributes_of(name) == {attribute}

    def attributes_of(self, name: str) -> set[str]:
        """Return the attributes that it sets on a name, if it does nothing else; else none."""
        node = self.node
        is_alone = self.alters == {name} and not self.binds and name not in self.mentions
        targets = node.targets if isinstance(node, ast.Assign) and is_alone else []
        found = set()
        for target in targets:
            if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
                return set()
            found.add(target.attr)
        return found


def executed_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Return the nodes that run when the module is imported: not the bodies of functions."""
    yield node
    inner = at_definition(node) if isinstance(node, LATER) else ast.iter_child_nodes(node)
    for each in inner:
        yield from executed_nodes(each)


def binders_of(nodes: Iterable[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """Return the statements that bind each name of a module."""
    found: dict[str, list[ast.stmt]] = {}
    for each in nodes:
        for name in binds_of(each):
            found.setdefault(name, []).append(each)
    return found


def inner_names(nodes: Iterable[ast.stmt]) -> set[str]:
    """Return the names that classes and comprehensions bind inside of themselves, on import."""
    return {
        name
        for each in nodes
        if not isinstance(each, FUNCTIONS)
        for inner in executed_nodes(each)
        for name in bound(inner)
        if inner is not each
    } - set(binders_of(nodes))


def binds_of(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds: what the body of a class binds are attributes."""
    executed = list(executed_nodes(node))
    outside = class_head(node) if isinstance(node, ast.ClassDef) else executed
    return bound_by(outside) | declared_global(executed)


def class_head(node: ast.ClassDef) -> list[ast.AST]:
    """Return the nodes of a class statement outside of its body."""
    outside = (*node.decorator_list, *bases(node))
    return [node, *(inner for each in outside for inner in executed_nodes(each))]


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


def is_unseen(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return any(alias.name == "*" for alias in node.names)
    if isinstance(node, ast.Attribute):
        return node.attr in UNSEEN_ATTRIBUTES
    return isinstance(node, ast.Name) and node.id in UNSEEN


def is_lasting(value: object) -> bool:
    """Tell whether an expression gives an object that reading does not use up."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in LASTING_TYPES
    return isinstance(value, LASTING)


def is_frozen(node: ast.AST) -> bool:
    """Tell whether an expression certainly gives an object that cannot be altered."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            of_text = isinstance(node.func.value, (ast.Constant, ast.JoinedStr))
            return of_text or node.func.attr in FROZEN_METHODS
        return isinstance(node.func, ast.Name) and node.func.id in FROZEN_CALLS
    if isinstance(node, ast.BinOp):
        return is_frozen(node.left) and is_frozen(node.right)
    if isinstance(node, ast.Tuple):
        return all(map(is_frozen, node.elts))
    return isinstance(node, (ast.Constant, ast.JoinedStr, ast.Compare))

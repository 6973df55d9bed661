"""What differs between two texts of a Python file: the file as a whole, or only some functions.

Comments, docstrings, blocks for type checkers, and annotations that are not evaluated differ in
nothing that runs.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
# Decorators that do nothing but wrap, so a function that nobody calls can have them.
_PLAIN_DECORATORS = frozenset(
    {
        *("staticmethod", "classmethod", "property", "cached_property", "cache", "lru_cache"),
        *("override", "final", "overload", "contextmanager", "asynccontextmanager", "setter"),
    }
)
# Decorators that do nothing with the methods of a class.
_PLAIN_CLASS_DECORATORS = frozenset(
    {"dataclass", "total_ordering", "final", "runtime_checkable", "unique", "define", "frozen"}
)
_DOC, _ANNOTATIONS, _CODE = "__doc__", "__annotations__", "co_code"
_CHECKING = "TYPE_CHECKING"
_MARK = "def "
# What may do anything as the default of an argument.
_ACTS = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


@dataclass(frozen=True, slots=True)
class ReachedFunction:
    """A function that is in no other function.

    Attributes:
        first, last: its lines, decorators included.
        digest: of its body, with all functions in it.
        owner: the class that it is in; "" for none.
        is_plain: whether it can be added or removed without an effect on code that does not look
            for its name.
    """

    name: str
    first: int
    last: int
    digest: str
    owner: str = ""
    is_plain: bool = True


@dataclass(frozen=True, slots=True)
class PythonFile:
    """A text of a Python file.

    Attributes:
        functions: by the name, with a number if there are several of one name.
        top: what runs when it is imported, with a mark in the place of each function.
        heads: by function, what runs when it is defined: its decorators, defaults and name.
        annotations: by function, those that are not evaluated, though code may read them.
        docs: the docstrings that were left out.
    """

    functions: dict[str, ReachedFunction]
    top: ast.AST
    heads: dict[str, str]
    annotations: dict[str, str]
    docs: tuple[str, ...]

    @classmethod
    def read(cls, text: bytes) -> PythonFile:
        """Parse a text.

        Raises:
            ValueError: it is no Python.
        """
        try:
            tree = ast.parse(text)
            is_lazy = any(
                isinstance(node, ast.ImportFrom)
                and node.module == "__future__"
                and any(one.name == "annotations" for one in node.names)
                for node in tree.body
            )
            reader = _Reader(
                is_lazy=is_lazy, keeps_docs=_DOC.encode() in text, checks=_checks_types(tree)
            )
            top = reader.visit(tree)
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise ValueError(str(error)) from error
        return cls(reader.functions, top, reader.heads, reader.annotations, tuple(reader.docs))

    def top_with(self, keys: Collection[str]) -> str:
        """What runs when it is imported, with marks in the places of these functions only.

        Raises:
            ValueError: it is nested too deeply.
        """
        try:
            return ast.dump(_Unmarked(keys).visit(copy.deepcopy(self.top)))
        except RecursionError as error:
            raise ValueError(str(error)) from error


@dataclass(frozen=True, slots=True)
class PythonEdit:
    """How a Python file differs between base and head.

    Attributes:
        at_top: whether it differs outside of its functions, so whoever imports it is affected.
        functions: of base and head, what ran if it is edited, added or removed.
        only: of base and head, the functions that the other side has and this one has not.
        names: of base and head, the functions that only that side has.
        unlike: what else differs, for code that reads it: `__doc__`, `__annotations__`, `co_code`.
    """

    at_top: bool
    functions: tuple[dict[str, ReachedFunction], dict[str, ReachedFunction]]
    only: tuple[tuple[ReachedFunction, ...], tuple[ReachedFunction, ...]] = ((), ())
    names: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    unlike: tuple[str, ...] = ()

    @classmethod
    def between(cls, base: bytes, head: bytes) -> PythonEdit:
        """Compare two texts; what is no Python differs as a whole."""
        try:
            one, other = PythonFile.read(base), PythonFile.read(head)
            common = one.functions.keys() & other.functions.keys()
            tops = one.top_with(common), other.top_with(common)
        except ValueError:
            return cls(at_top=True, functions=({}, {}))
        edited = {k for k in common if one.functions[k].digest != other.functions[k].digest}
        removed = {k: f for k, f in one.functions.items() if k not in common}
        added = {k: f for k, f in other.functions.items() if k not in common}
        alone = (*removed.values(), *added.values())
        at_top = (
            tops[0] != tops[1]
            or any(one.heads[key] != other.heads[key] for key in common)
            or not all(each.is_plain for each in alone)
            # The second function of a name replaces the first.
            or any("#" in key for key in (*removed, *added))
        )
        return cls(
            at_top,
            ({**_only(one, edited), **removed}, {**_only(other, edited), **added}),
            (tuple(added.values()), tuple(removed.values())),
            (frozenset(removed), frozenset(added)),
            tuple(
                name
                for name, is_unlike in (
                    (_DOC, one.docs != other.docs),
                    (_ANNOTATIONS, any(one.annotations[k] != other.annotations[k] for k in common)),
                    (_CODE, bool(edited)),
                )
                if is_unlike
            ),
        )

    def ran(self, side: int, line: int) -> tuple[str, str] | None:
        """Which function that differs a line of a side is in, and how it differs; None for none.

        Args:
            side: 0 for the base, 1 for the head.
        """
        for key, one in self.functions[side].items():
            if one.first <= line <= one.last:
                alone = ("removed", "added")[side]
                return key, alone if key in self.names[side] else "edited"
        return None


def _only(file: PythonFile, keys: set[str]) -> dict[str, ReachedFunction]:
    return {key: file.functions[key] for key in keys}


class _Reader(ast.NodeTransformer):
    """Takes the functions out of a tree."""

    def __init__(self, *, is_lazy: bool, keeps_docs: bool, checks: bool) -> None:
        self.functions: dict[str, ReachedFunction] = {}
        self.heads: dict[str, str] = {}
        self.annotations: dict[str, str] = {}
        self.docs: list[str] = []
        self._is_lazy = is_lazy
        self._keeps_docs = keeps_docs
        self._checks = checks
        self._above: list[str] = []
        self._are_plain = [True]

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self._forget_doc(node)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._forget_doc(node)
        self._above.append(node.name)
        self._are_plain.append(
            all(_names(one) & _PLAIN_CLASS_DECORATORS for one in node.decorator_list)
        )
        self.generic_visit(node)
        self._are_plain.pop()
        self._above.pop()
        return node

    def visit_If(self, node: ast.If) -> Any:  # noqa: ANN401 - as the class above has it
        test = node.test
        name = test.id if isinstance(test, ast.Name) else getattr(test, "attr", "")
        if name != _CHECKING or self._checks:
            return self.generic_visit(node)
        return [self.visit(one) for one in node.orelse] or None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._take(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._take(node)

    def _take(self, node: _Function) -> ast.AST:
        owner = ".".join(self._above)
        key = base = f"{owner}.{node.name}" if owner else node.name
        number = 1
        while key in self.functions:
            number += 1
            key = f"{base}#{number}"
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        is_plain = _is_plain(node, is_lazy=self._is_lazy) and all(self._are_plain)
        body = _Body(keeps_docs=self._keeps_docs)
        self._forget_doc(node)
        kind = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
        kind += "generator " if _yields(node) else ""
        statements = ast.Module([body.visit(each) for each in node.body], [])
        digest = hashlib.sha256(ast.dump(statements).encode()).hexdigest()[:16]
        node.body = [ast.Pass()]
        self.annotations[key] = ""
        if self._is_lazy:
            self.annotations[key] = _without_annotations(node)
        self.heads[key] = kind + ast.dump(node)
        last = node.end_lineno or first
        self.functions[key] = ReachedFunction(node.name, first, last, digest, owner, is_plain)
        return ast.Expr(ast.Name(_MARK + key))

    def _forget_doc(self, node: ast.Module | ast.ClassDef | _Function) -> None:
        if not self._keeps_docs:
            self.docs.append(ast.get_docstring(node, clean=False) or "")
            _without_doc(node)


class _Unmarked(ast.NodeTransformer):
    """Takes the marks of functions out of a tree, but for some."""

    def __init__(self, kept: Collection[str]) -> None:
        self._kept = kept

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        is_mark = name.startswith(_MARK)
        return None if is_mark and name.removeprefix(_MARK) not in self._kept else node


class _Body(ast.NodeTransformer):
    """Takes what never runs out of the body of a function."""

    def __init__(self, *, keeps_docs: bool) -> None:
        self._keeps_docs = keeps_docs

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if isinstance(node.target, ast.Name):  # those of local variables are never evaluated
            node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._inner(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._inner(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        # The annotations of a class are evaluated wherever it is.
        return node

    def _inner(self, node: _Function) -> ast.AST:
        if not self._keeps_docs:
            _without_doc(node)
        return self.generic_visit(node)


def _without_doc(node: ast.Module | ast.ClassDef | _Function) -> None:
    if ast.get_docstring(node, clean=False) is not None:
        node.body = node.body[1:] or [ast.Pass()]


def _without_annotations(node: _Function) -> str:
    """Leave annotations out, and return what they were."""
    found = [ast.dump(node.returns) if node.returns else ""]
    node.returns = None
    for one in ast.walk(node.args):
        if isinstance(one, ast.arg):
            found.append(ast.dump(one.annotation) if one.annotation else "")
            one.annotation = None
    return repr(found)


def _yields(node: _Function) -> bool:
    """Whether a function is a generator."""
    waiting: list[ast.AST] = [*node.body]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(one, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(one)
    return False


def _checks_types(tree: ast.Module) -> bool:
    """Whether a file says by itself that what is for type checkers runs."""
    return any(
        isinstance(node, (ast.Assign, ast.AnnAssign))
        and any(
            isinstance(one, ast.Name) and one.id == _CHECKING
            for one in (node.targets if isinstance(node, ast.Assign) else [node.target])
        )
        and not (isinstance(node.value, ast.Constant) and not node.value.value)
        for node in ast.walk(tree)
    )


def _is_plain(node: _Function, *, is_lazy: bool) -> bool:
    if node.name.startswith("__") and node.name.endswith("__"):
        return False
    if not all(_names(one) & _PLAIN_DECORATORS for one in node.decorator_list):
        return False
    evaluated: list[ast.AST] = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    if not is_lazy:
        annotated = [one for one in ast.walk(node.args) if isinstance(one, ast.arg)]
        evaluated += filter(None, [node.returns, *(one.annotation for one in annotated)])
    return not any(isinstance(one, _ACTS) for each in evaluated for one in ast.walk(each))


def _names(decorator: ast.expr) -> set[str]:
    """The name of a decorator, which may be called, and an attribute of a module."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return set(_last(called))


def _last(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr

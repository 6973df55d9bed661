"""Finds the statements that only define something.

To run them runs no code of the project, and none of the file itself. Whatever is not certain to be
like that is not plain, so a reader of the verdict is told if it changes.
"""

from __future__ import annotations

import ast

from .expressions import Expressions
from .harmless import dotted
from .names import FUNCTIONS, annotations_of, bound, bound_by
from .statements import altered as altered_by
from .statements import binds_of, executed_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any

    from .expressions import Scope
    from .harmless import Harmless

# Other names of this form, such as __builtins__, change how a module runs.
READ_BY_OTHERS = frozenset(("__all__", "__doc__"))
BUILTIN_WRAPPERS = ("classmethod", "property", "staticmethod")
# Decorators that only wrap or mark what they get.
WRAPPERS = frozenset(
    (
        *("abc.abstractmethod", "contextlib.asynccontextmanager", "contextlib.contextmanager"),
        *("functools.cache", "functools.cached_property", "functools.lru_cache"),
        *("pytest.fixture", "typing.final", "typing.overload"),
    )
)
OF_CLASSES = frozenset(("dataclasses.dataclass", "typing.final", "typing.runtime_checkable"))
# These make a class of what a body without functions says.
RECORDS = frozenset(("enum.Enum", "enum.IntEnum", "typing.NamedTuple", "typing.TypedDict"))


class PlainStatements:
    """Tells which statements of a module are plain.

    Args:
        statements: of the module, each import on its own.
        binders: those that bind each name.
        harmless: knows decorators, and what is Python's own.
        is_benchmark: tells which names are benchmarks.

    Attributes:
        others: the statements that are not plain.
    """

    def __init__(
        self,
        statements: Sequence[ast.stmt],
        binders: Mapping[str, list[ast.stmt]],
        harmless: Harmless,
        is_benchmark: Callable[[str], bool],
    ) -> None:
        self.binders = binders
        self.harmless = harmless
        self.is_benchmark = is_benchmark
        self.lazy = any(delays_annotations(each) for each in statements)
        self.sets_flag = any(map(sets_flag, statements))
        assigned = {
            name.id for one in statements for each in ast.walk(one) for name in altered_by(each)
        }
        altered: set[str] = set()
        while True:
            self.expressions = Expressions(binders, harmless, altered, assigned)
            self.classes: dict[int, bool] = {}
            self.others = [each for each in statements if not self.is_plain(each)]
            # Other code may fill the objects that it reaches with anything.
            read = self.reached(self.others)
            if read <= altered:
                break
            altered |= read

    def reached(self, statements: Iterable[ast.stmt]) -> set[str]:
        """Return the names that statements read, and those that what they bind reads in turn."""
        found: set[str] = set()
        pending = list(statements)
        while pending:
            new = names_read(pending.pop()) - found
            found |= new
            pending += (each for name in new for each in self.binders.get(name, ()))
        return found

    def is_plain(self, node: ast.stmt) -> bool:
        """Tell whether a statement at the top of the module only defines something."""
        names = binds_of(node)
        if any(name.startswith("__") and name not in READ_BY_OTHERS for name in names):
            return False
        if isinstance(node, FUNCTIONS):
            return self.is_plain_function(node, {})
        if any(map(self.is_benchmark, names)) and not isinstance(node, ast.ClassDef):
            return False
        if isinstance(node, ast.ClassDef):
            return self.is_plain_class(node)
        return self.harmless.is_standard(node) or self.is_plain_block(node)

    def is_plain_anywhere(self, node: ast.stmt, scope: Scope) -> bool:
        """Tell it of a statement that may be in a class too, whose names are the scope then."""
        known = self.expressions
        if isinstance(node, ast.Assign):
            return all(self.is_plain_target(one, node.value, scope) for one in node.targets)
        if isinstance(node, ast.AnnAssign):
            value = node.value or ast.Constant(value=None)
            # A decorator may look at the annotations of a class.
            is_quiet = known.is_type(node.annotation) or (self.lazy and not scope)
            return is_quiet and self.is_plain_target(node.target, value, scope)
        if isinstance(node, ast.AugAssign):
            name = node.target.id if isinstance(node.target, ast.Name) else ""
            return known.holds_data(name, scope) and known.are_data(node.value, scope)
        if isinstance(node, ast.Expr):
            return known.are_quiet(node.value, scope)
        return isinstance(node, ast.Pass)

    def is_plain_target(self, target: ast.expr, value: ast.expr, scope: Scope) -> bool:
        known = self.expressions
        if isinstance(target, ast.Name):
            # A class tells the objects in it their names, and an object may end with its last one.
            is_new = not scope and len(self.binders.get(target.id, ())) == 1
            return known.are_data(value, scope) or (is_new and self.is_collection(value))
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            owner = target.value.id
            is_benchmark = self.is_benchmark(owner) and self.is_defined_here(owner)
            return is_benchmark and not scope and self.is_collection(value)
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        return known.are_data(value, scope) and all(isinstance(each, ast.Name) for each in names)

    def is_collection(self, value: ast.expr) -> bool:
        """Tell it of a value of data, functions and classes of the file: benchgate looks inside."""
        known = self.expressions
        if isinstance(value, ast.Dict):
            keys = all(key is not None and known.are_data(key, {}) for key in value.keys)
            return keys and all(map(self.is_collection, value.values))
        if isinstance(value, (ast.List, ast.Tuple)):
            return all(map(self.is_collection, value.elts))
        if isinstance(value, ast.Lambda):
            return known.are_quiet(value, {})
        is_own = isinstance(value, ast.Name) and self.is_defined_here(value.id)
        return is_own or known.are_data(value, {})

    def is_defined_here(self, name: str) -> bool:
        """Tell whether a name is certainly a function, or a class without bases, of the module."""
        found = self.binders.get(name, ())
        return bool(found) and all(
            isinstance(each, (*FUNCTIONS, ast.ClassDef))
            and not each.decorator_list
            and not (isinstance(each, ast.ClassDef) and (each.bases or each.keywords))
            for each in found
        )

    def is_plain_block(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.If):
            return self.is_plain_choice(node)
        if isinstance(node, ast.For):
            return self.is_plain_loop(node)
        return self.is_plain_anywhere(node, {})

    def is_plain_choice(self, node: ast.If) -> bool:
        """Tell it of an `if`: the block under `TYPE_CHECKING` never runs."""
        name = dotted(node.test)
        found = self.binders.get(name, ())
        never = not self.sets_flag and (
            self.harmless.is_of_python(node.test, "typing.TYPE_CHECKING".__eq__)
            or (name == "TYPE_CHECKING" and bool(found) and all(map(is_false, found)))
        )
        runs = node.orelse if never else [*node.body, *node.orelse]
        is_quiet = never or self.expressions.are_data(node.test, {})
        return is_quiet and all(map(self.is_plain, runs))

    def is_plain_loop(self, node: ast.For) -> bool:
        targets = list(ast.walk(node.target))
        scope = {name: True for each in targets for name in bound(each)}
        is_simple = all(isinstance(n, (ast.Name, ast.Tuple, ast.expr_context)) for n in targets)
        return (
            is_simple
            and self.expressions.are_data(node.iter, {})
            and all(
                isinstance(each, ast.Expr) and self.expressions.are_data(each.value, scope)
                for each in (*node.body, *node.orelse)
            )
        )

    def is_plain_function(self, node: Any, scope: Scope) -> bool:
        annotations = () if self.lazy else annotations_of(node)
        at_once = (*node.args.defaults, *filter(None, node.args.kw_defaults), *annotations)
        return (
            all(self.is_plain_decorator(each, WRAPPERS, scope) for each in node.decorator_list)
            and all(
                self.expressions.are_quiet(each, scope) or self.expressions.is_type(each)
                for each in at_once
            )
            and not getattr(node, "type_params", ())
        )

    def is_plain_decorator(self, node: ast.expr, known: Collection[str], scope: Scope) -> bool:
        maker = node.func if isinstance(node, ast.Call) else node
        name = dotted(maker)
        if name.partition(".")[0] in scope:
            return False
        of_class = bool(scope) and name in BUILTIN_WRAPPERS and self.harmless.is_builtin(name)
        marks = self.harmless.is_of_python(
            maker, lambda full: full in known or full.startswith("pytest.mark.")
        )
        return (of_class or marks) and all(
            self.expressions.are_data(each, {}) for each in arguments_in(node)
        )

    def is_plain_class(self, node: ast.ClassDef, above: frozenset[str] = frozenset()) -> bool:
        if id(node) not in self.classes:
            self.classes[id(node)] = False  # also if it derives from itself
            self.classes[id(node)] = self.is_new_plain_class(node, above)
        return self.classes[id(node)]

    def is_new_plain_class(self, node: ast.ClassDef, above: frozenset[str]) -> bool:
        names = bound_by([inner for each in node.body for inner in executed_nodes(each)])
        scope = dict.fromkeys((node.name, *names), False)
        is_record = any(
            self.harmless.is_of_python(each, RECORDS.__contains__) for each in node.bases
        )
        return (
            not node.keywords
            and not (is_record and any(isinstance(each, FUNCTIONS) for each in node.body))
            and all(self.is_plain_base(each, above | {node.name}) for each in node.bases)
            and all(self.is_plain_decorator(each, OF_CLASSES, {}) for each in node.decorator_list)
            and not getattr(node, "type_params", ())
            and all(
                self.is_plain_function(each, scope)
                if isinstance(each, FUNCTIONS)
                else self.is_plain_anywhere(each, scope)
                for each in node.body
            )
        )

    def is_record(self, base: ast.expr) -> bool:
        return self.harmless.is_of_python(base, RECORDS.__contains__)

    def is_plain_base(self, node: ast.expr, above: frozenset[str]) -> bool:
        """Tell it of a base class: an exception, or a plain class that anybody may derive from."""
        if self.is_record(node):
            return True
        if not isinstance(node, ast.Name) or node.id in above:
            return False
        found = self.binders.get(node.id, ())
        if not found:
            return self.harmless.is_exception(node.id) or node.id == "object"
        return all(
            isinstance(each, ast.ClassDef)
            and not any("__init_subclass__" in bound(inner) for inner in ast.walk(each))
            and self.is_plain_class(each, above)
            for each in found
        )


def delays_annotations(node: ast.AST) -> bool:
    """Tell whether a statement lets Python evaluate no annotations."""
    return (
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
    )


def sets_flag(node: ast.AST) -> bool:
    """Tell whether code changes `TYPE_CHECKING` of another module."""
    return any(
        isinstance(each, ast.Attribute)
        and each.attr == "TYPE_CHECKING"
        and not isinstance(each.ctx, ast.Load)
        for each in ast.walk(node)
    )


def arguments_in(decorator: ast.expr) -> list[ast.expr]:
    if not isinstance(decorator, ast.Call):
        return []
    return [*decorator.args, *(each.value for each in decorator.keywords)]


def names_read(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def is_false(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Assign) else None
    return isinstance(value, ast.Constant) and value.value is False

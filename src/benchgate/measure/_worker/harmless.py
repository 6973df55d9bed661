"""Knows which decorators, base classes and calls only make something, and alter nothing else."""

from __future__ import annotations

import ast
import builtins
import sys

from .names import bases, bound
from .statements import FROZEN_CALLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

# These types call what they are given.
CALLING_TYPES = frozenset(("map", "filter", "type"))
# Names of the standard library, and of pytest, that make something and do not call what they are
# given.
MAKERS = {
    "abc": "ABC ABCMeta abstractmethod",
    "collections": "ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque "
    "namedtuple",
    "contextlib": "AbstractAsyncContextManager AbstractContextManager asynccontextmanager "
    "contextmanager",
    "dataclasses": "dataclass field",
    "enum": "Enum Flag IntEnum IntFlag StrEnum auto unique",
    "functools": "cache cached_property lru_cache singledispatch singledispatchmethod "
    "total_ordering wraps",
    "pytest": "fixture param raises",
    "typing": "Generic NamedTuple NewType ParamSpec Protocol TypedDict TypeVar final overload "
    "runtime_checkable",
}
PROPERTY_PARTS = frozenset(("setter", "getter", "deleter"))
# Python before 3.10 does not know the names of all its modules.
STANDARD = frozenset(getattr(sys, "stdlib_module_names", (*MAKERS, "time", "sys"))) - {
    "__future__",  # changes what the file means
    "__main__",
}
HARMLESS = frozenset(f"{module}.{name}" for module in MAKERS for name in MAKERS[module].split())


class Harmless:
    """Knows what in a module only makes something.

    Args:
        binders: the statements that bind each name of the module.
        inner: names that classes and comprehensions bind inside of themselves.
        replaces: tells whether another module is imported in place of one of Python's own.
    """

    def __init__(
        self,
        binders: Mapping[str, list[ast.stmt]],
        inner: Collection[str],
        replaces: Callable[[str], bool],
    ) -> None:
        self.binders = binders
        self.inner = inner
        self.replaces = replaces
        self.bases: dict[str, bool] = {}

    def origins(self, node: ast.AST) -> list[str]:
        """Return where a name, or an attribute of it, comes from: in each import that binds it."""
        name = dotted(node)
        root = name.partition(".")[0]
        return [origin(each) + name[len(root) :] for each in self.binders.get(root, ())]

    def is_of_python(self, node: ast.AST, known: Callable[[str], bool]) -> bool:
        """Tell whether a name certainly stands for one that is known in a module of Python.

        Args:
            known: gets the full name, as `collections.deque`.
        """
        found = self.origins(node)
        return bool(found) and all(
            known(each) and not self.replaces(each.partition(".")[0]) for each in found
        )

    def is_call(self, node: ast.AST) -> bool:
        """Tell whether a call of what an expression gives is known to alter nothing."""
        name = dotted(node)
        root = name.partition(".")[0]
        if root in self.inner:
            return False
        if root in self.binders:
            return self.is_of_python(node, is_maker)
        is_known = self.is_builtin_type(name) and name not in CALLING_TYPES
        return is_known or (name in FROZEN_CALLS and self.is_builtin(name))

    def is_decorator(self, node: ast.AST) -> bool:
        """Tell whether a decorator, such as `f`, `f()` or `f[T]`, alters nothing."""
        owner, _, part = dotted(node).rpartition(".")
        is_property = part in PROPERTY_PARTS and owner in self.inner
        return is_property or self.is_maker(node)

    def is_maker(self, node: ast.AST) -> bool:
        """Tell whether a class or a decorator, such as `f`, `f()` or `f[T]`, alters nothing."""
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        return isinstance(node, ast.Constant) or self.is_call(node)

    def is_base(self, node: ast.AST) -> bool:
        """Tell whether deriving a class from another one is known to alter nothing."""
        name = node.id if isinstance(node, ast.Name) else ""
        if name in self.bases:
            return self.bases[name]
        found = self.binders.get(name, ())
        classes = [each for each in found if isinstance(each, ast.ClassDef)]
        if not classes or len(classes) < len(found):
            return self.is_maker(node)
        self.bases[name] = True  # a class may derive from another one of the same name
        self.bases[name] = not any(map(hooks_into_deriving, classes)) and all(
            self.is_base(base) for each in classes for base in bases(each)
        )
        return self.bases[name]

    def is_standard(self, node: ast.stmt) -> bool:
        """Tell whether a statement imports a module of Python itself."""
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = ["*" if alias.name == "*" else str(node.module) for alias in node.names]
        else:
            return False
        tops = [name.partition(".")[0] for name in names]
        return all(top in STANDARD and not self.replaces(top) for top in tops)

    def is_builtin(self, name: str) -> bool:
        """Tell whether a name is Python's own, which the module does not bind."""
        is_free = name not in self.binders and name not in self.inner and "*" not in self.binders
        return is_free and hasattr(builtins, name)

    def is_builtin_type(self, name: str) -> bool:
        return self.is_builtin(name) and isinstance(getattr(builtins, name), type)

    def is_exception(self, name: str) -> bool:
        return self.is_builtin_type(name) and issubclass(getattr(builtins, name), BaseException)


def hooks_into_deriving(node: ast.ClassDef) -> bool:
    return any("__init_subclass__" in bound(inner) for inner in ast.walk(node))


def dotted(node: ast.AST) -> str:
    """Return the text of a name and its attributes, as `a.b.c`; "" for anything else."""
    if isinstance(node, ast.Attribute):
        below = dotted(node.value)
        return below and f"{below}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def origin(node: ast.stmt) -> str:
    """Return where the name that an import binds comes from; "" for another statement."""
    if isinstance(node, ast.Import):
        alias = node.names[0]
        return alias.name if alias.asname else alias.name.partition(".")[0]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return f"{node.module}.{node.names[0].name}"
    return ""


def is_maker(name: str) -> bool:
    return name in HARMLESS or name.startswith(("collections.abc.", "pytest.mark."))


def is_of_makers(name: str) -> bool:
    """Tell whether a name is one of the modules that have makers, or of such a module."""
    return name in MAKERS or name.rpartition(".")[0] in MAKERS or name.startswith("collections.abc")

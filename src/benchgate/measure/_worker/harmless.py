"""Knows which decorators, base classes and calls only make something, and alter nothing else."""

from __future__ import annotations

import ast
import builtins

from .names import bases
from .statements import FROZEN_CALLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .statements import Statement

    Binders = Mapping[str, list[Statement]]

# These types call what they are given.
CALLING_TYPES = frozenset(("map", "filter", "type"))
# Names of the standard library that make something and do not call what they are given.
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
    "typing": "Generic NamedTuple NewType ParamSpec Protocol TypedDict TypeVar final overload "
    "runtime_checkable",
}
HARMLESS = frozenset(f"{module}.{name}" for module in MAKERS for name in MAKERS[module].split())


def is_harmless(node: ast.AST, binders: Binders) -> bool:
    """Tell whether a call of what an expression gives is known to alter nothing."""
    name = dotted(node)
    root, _, rest = name.partition(".")
    if root in binders:
        return all(is_maker(origin(each) + name[len(root) :]) for each in binders[root])
    # A name that the module does not bind may be a property in a class, or is Python's own.
    return rest in {"setter", "getter", "deleter"} or ("*" not in binders and is_builtin(name))


def is_harmless_maker(node: ast.AST, binders: Binders) -> bool:
    """Tell whether a decorator or a base class, such as `f`, `f()` or `f[T]`, alters nothing."""
    if isinstance(node, ast.Subscript):
        node = node.value
    elif isinstance(node, ast.Call):
        node = node.func
    return isinstance(node, ast.Constant) or is_harmless(node, binders)


def is_harmless_base(node: ast.AST, binders: Binders, above: frozenset[str] = frozenset()) -> bool:
    """Tell whether deriving a class from another one is known to alter nothing."""
    name = node.id if isinstance(node, ast.Name) else ""
    if name in above:
        return True
    found = [each.node for each in binders.get(name, ())]
    classes = [each for each in found if isinstance(each, ast.ClassDef)]
    if not classes or len(classes) < len(found):
        return is_harmless_maker(node, binders)
    return not any(
        isinstance(inner, ast.FunctionDef) and inner.name == "__init_subclass__"
        for each in classes
        for inner in ast.walk(each)
    ) and all(
        is_harmless_base(base, binders, above | {name}) for each in classes for base in bases(each)
    )


def dotted(node: ast.AST) -> str:
    """Return the text of a name and its attributes, as `a.b.c`; "" for anything else."""
    if isinstance(node, ast.Attribute):
        below = dotted(node.value)
        return below and f"{below}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def origin(statement: Statement) -> str:
    """Return where the name that an import binds comes from; "" for another statement."""
    node = statement.node
    if isinstance(node, ast.Import):
        alias = node.names[0]
        return alias.name if alias.asname else alias.name.partition(".")[0]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return f"{node.module}.{node.names[0].name}"
    return ""


def is_maker(name: str) -> bool:
    return name in HARMLESS or name.startswith("collections.abc.")


def is_of_makers(name: str) -> bool:
    """Tell whether a name is one of the modules that have makers, or of such a module."""
    return name in MAKERS or name.rpartition(".")[0] in MAKERS or name.startswith("collections.abc")


def is_builtin(name: str) -> bool:
    is_type = isinstance(getattr(builtins, name, None), type) and name not in CALLING_TYPES
    return is_type or name in FROZEN_CALLS

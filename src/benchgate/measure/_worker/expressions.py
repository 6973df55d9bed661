"""Finds the expressions that run no code of others, because all they handle is built-in data."""

from __future__ import annotations

import ast

from .harmless import STANDARD, dotted
from .names import COMPREHENSIONS, bound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from .harmless import Harmless

    # Names of a scope inside the module, and whether they hold data.
    Scope = Mapping[str, bool]

# Functions and types of Python that call nothing but methods of what they are given.
BUILTINS = frozenset(
    (
        *("abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "chr", "complex"),
        *("dict", "divmod", "enumerate", "float", "frozenset", "hex", "int", "len", "list", "max"),
        *("min", "oct", "ord", "pow", "range", "repr", "reversed", "round", "set", "slice"),
        *("sorted", "str", "sum", "tuple", "zip"),
    )
)
OPERATIONS: Any = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice),
    *(ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Starred, ast.JoinedStr, ast.FormattedValue),
    getattr(ast, "Index", ()),  # Python 3.8 has it below a subscript
)
# Modules whose functions make something of what they are given, and alter nothing else.
PURE_MODULES = frozenset(
    (
        *(
            "base64",
            "binascii",
            "cmath",
            "datetime",
            "decimal",
            "fractions",
            "hashlib",
            "itertools",
        ),
        *("math", "operator", "os.path", "re", "statistics", "string"),
        *("struct", "textwrap", "unicodedata", "uuid"),
    )
)
PURE_NAMES = frozenset(
    (
        *("array.array", "collections.Counter", "collections.OrderedDict", "collections.deque"),
        *("copy.copy", "copy.deepcopy", "datetime.datetime", "io.BytesIO", "io.StringIO"),
        *("json.dumps", "json.loads", "pathlib.Path", "pathlib.PurePath"),
        *("pathlib.PurePosixPath", "random.Random", "sys.maxsize", "sys.platform"),
        *("sys.version_info", "types.SimpleNamespace"),
    )
)
# Methods of what they make, and functions, that alter more than their object.
ALTERING = frozenset(
    (
        *("BasicContext", "DefaultContext", "ExtendedContext", "chmod", "getcontext"),
        *("hardlink_to", "lchmod", "link_to", "localcontext", "mkdir", "open", "purge", "rename"),
        *("rmdir", "setcontext", "symlink_to", "touch", "unlink", "write_bytes", "write_text"),
    )
)
OWN_NAMES = ("__file__", "__name__")
CODECS = frozenset(("ascii", "latin-1", "utf-8", "utf8"))
NO_VALUES = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


class Expressions:
    """Tells what the expressions of a module do.

    Args:
        binders: the statements of the module that bind each name.
        harmless: knows which names are Python's own.
        altered: names whose objects may have been filled with anything.
        assigned: names of objects that get attributes.
    """

    def __init__(
        self,
        binders: Mapping[str, list[ast.stmt]],
        harmless: Harmless,
        altered: Collection[str],
        assigned: Collection[str],
    ) -> None:
        self.binders = binders
        self.harmless = harmless
        self.assigned = assigned
        self.data = dict.fromkeys(altered, False)

    def are_quiet(self, node: ast.expr, scope: Scope) -> bool:
        """Tell whether to evaluate an expression runs no code of others."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return all(self.are_quiet(each, scope) for each in node.elts)
        if isinstance(node, ast.Dict):
            # A key is asked for its hash.
            keys = all(key is not None and self.are_data(key, scope) for key in node.keys)
            return keys and all(self.are_quiet(each, scope) for each in node.values)
        if isinstance(node, ast.Lambda):
            defaults = (*node.args.defaults, *filter(None, node.args.kw_defaults))
            return all(self.are_quiet(each, scope) for each in defaults)
        return isinstance(node, ast.Name) or self.is_type(node) or self.are_data(node, scope)

    def is_type(self, node: ast.AST) -> bool:
        """Tell whether an expression is a type of Python, such as `list[int] | None`."""
        if isinstance(node, ast.Subscript):
            return self.is_type(node.value) and self.is_type(
                getattr(node.slice, "value", node.slice)
            )
        if isinstance(node, ast.BinOp):
            both = self.is_type(node.left) and self.is_type(node.right)
            return both and isinstance(node.op, ast.BitOr)
        if isinstance(node, ast.Tuple):
            return all(map(self.is_type, node.elts))
        if isinstance(node, ast.Constant):
            return node.value in (None, ...) or isinstance(node.value, str)
        is_builtin = isinstance(node, ast.Name) and self.harmless.is_builtin_type(node.id)
        return is_builtin or self.harmless.is_of_python(node, is_typing)

    def are_data(self, node: ast.AST, scope: Scope) -> bool:
        """Tell whether an expression certainly gives built-in data, and runs no code of others."""
        if isinstance(node, (ast.Constant, *NO_VALUES)):
            return True
        if isinstance(node, ast.Name):
            return self.holds_data(node.id, scope) or self._is_pure(node, scope)
        if isinstance(node, ast.Attribute):
            is_own = not node.attr.startswith("_") and self.are_data(node.value, scope)
            return is_own or self._is_pure(node, scope)
        if isinstance(node, OPERATIONS):
            return all(self.are_data(each, scope) for each in ast.iter_child_nodes(node))
        if isinstance(node, COMPREHENSIONS):
            return self._comprehend_data(node, scope)
        return isinstance(node, ast.Call) and self._gives_data(node, scope)

    def _is_pure(self, node: ast.AST, scope: Scope) -> bool:
        """Tell whether a name is one of Python's that alters nothing but what it is given."""
        root = dotted(node).partition(".")[0]
        return not (root in scope or root in self.assigned) and self.harmless.is_of_python(
            node, is_pure
        )

    def _gives_data(self, node: ast.Call, scope: Scope) -> bool:
        """Tell whether a call gets data and gives data."""
        given = (*node.args, *(each.value for each in node.keywords))
        if not all(self.are_data(each, scope) for each in given):
            return False
        function = node.func
        if not isinstance(function, ast.Attribute):
            name = function.id if isinstance(function, ast.Name) else ""
            is_builtin = name in BUILTINS and name not in scope and self.harmless.is_builtin(name)
            if name in {"str", "bytes", "bytearray"} and len(given) > 1:
                return False  # with a codec, which the project may have registered
            return is_builtin or self._is_pure(function, scope)
        if function.attr in {"encode", "decode"}:
            names = [each.value for each in given if isinstance(each, ast.Constant)]
            return (
                len(names) == len(given)
                and CODECS.issuperset(names)
                and self.are_data(function.value, scope)
            )
        if any(self.harmless.origins(function.value)):  # others know the object, too
            return self._is_pure(function, scope)
        return function.attr not in ALTERING and self.are_data(function, scope)

    def _comprehend_data(self, node: Any, scope: Scope) -> bool:
        inside = dict(scope)
        for each in node.generators:
            targets = list(ast.walk(each.target))
            sets = any(isinstance(one, (ast.Attribute, ast.Subscript)) for one in targets)
            if each.is_async or sets or not self.are_data(each.iter, inside):
                return False
            inside.update((name, True) for one in targets for name in bound(one))
            if not all(self.are_data(one, inside) for one in each.ifs):
                return False
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        return all(self.are_data(each, inside) for each in parts)

    def holds_data(self, name: str, scope: Scope) -> bool:
        """Tell whether a name certainly stands for built-in data."""
        if name in scope:
            return scope[name]
        if name not in self.data and name in OWN_NAMES:
            self.data[name] = name not in self.binders
        if name not in self.data:
            self.data[name] = False  # also if the name is bound by way of itself
            found = self.binders.get(name, ())
            self.data[name] = bool(found) and all(
                isinstance(each, (ast.Assign, ast.AnnAssign, ast.AugAssign))
                and each.value is not None
                and self.are_data(each.value, {})
                for each in found
            )
        return self.data[name]


def is_pure(name: str) -> bool:
    """Tell it of the full name of a function or constant of a module, or of a date's method."""
    if name in PURE_NAMES:
        return True
    module, _, last = name.rpartition(".")
    is_other = last in ALTERING or last in STANDARD or last.startswith("_")
    return not is_other and (module in PURE_MODULES or module.startswith("datetime."))


def is_typing(name: str) -> bool:
    return name.startswith(("typing.", "collections.abc."))

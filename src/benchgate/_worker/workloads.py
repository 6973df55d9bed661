"""Describes benchmarks: what their work is, so that only results of the same work are compared.

Its work is the source of its function, what that names in its file, the statements of the file that
run something when it is imported, and the benchmarks' own modules that are imported, as whole
files. An assignment to names counts only for those that name one of them, whatever it calls. In
doubt, any other statement counts.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib.machinery import PathFinder

from .failures import Fault, file_of
from .functions import PREFIX, check_function, code_of
from .standard import STANDARD_LIBRARY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

    from .functions import Benchmark


ON_IMPORT = "what runs when {} is imported"
# Attributes of a benchmark that are compared by value, or are no work.
SETTINGS = ("params", "number", "unit", "parallel", "data")
WORD = re.compile(r"[^\W\d]\w*")
MAIN = ast.dump(ast.parse('__name__ == "__main__"', mode="eval").body)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
# Statements that run only what is in them.
PLAIN = (*DEFINITIONS, *IMPORTS, *ASSIGNMENTS, ast.Expr, ast.Pass, ast.If, ast.Try)
# What only defines something: builtins, and modules with all that they have.
HARMLESS = {
    *("bytes", "dict", "float", "frozenset", "int", "len", "list", "max", "min", "range", "set"),
    *("sorted", "str", "sum", "tuple", "classmethod", "property", "staticmethod"),
    *("abc", "collections", "contextlib", "dataclasses", "enum", "functools", "pytest", "re"),
    "typing",
}


class Statement:
    """A statement at the top of a file: what it names, and what it sets."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.text = ast.dump(node)
        self.names = names_in(node)
        bound = list(bound_by(node))
        self.binds = {name for name, _ in bound}
        # Of these names; "" stands for a name itself.
        self.attributes = {attribute for _, attribute in bound}


class Workloads:
    """Finds the work of each benchmark of a file.

    Args:
        path: the benchmark file.
        helpers: folder whose modules belong to the benchmarks; None if there is none.
        folders: where modules are looked for, in this order.
        names: what the text calls the benchmarks and their classes: `test_x`, `TestX.test_x`,
            `TestX`; None if they are all functions `bench_*`.
        settings: see SETTINGS.
        others: real paths of files that hold benchmarks too, and nothing of this file's.
        also: real paths of files that are imported for this file, though it does not say so.
        program: takes the benchmarks out of a file that is run, not imported.

    Raises:
        SyntaxError, ValueError: the file is not Python.
    """

    def __init__(
        self,
        path: str,
        helpers: str | None,
        folders: list[str],
        *,
        names: Collection[str] | None = None,
        settings: Collection[str] = SETTINGS,
        others: Collection[str] = (),
        also: Collection[str] = (),
        program: ast.NodeTransformer | None = None,
    ) -> None:
        self.path = os.path.realpath(path)
        self.top = os.path.join(os.path.realpath(helpers or os.path.dirname(path)), "")
        self.has_helpers = helpers is not None
        self.folders = folders
        self.names = names
        self.settings = frozenset(settings)
        self.others = others
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
        # By path the digest of each module that belongs to the work.
        self.modules: dict[str, str] = {}
        self.add_modules([*also, *self.imports_of(tree, self.path)])
        self.statements = [Statement(node) for node in self.taken_apart(tree, program)]
        self.by_name: dict[str, list[Statement]] = {}
        harmless = set(HARMLESS)
        for each in self.statements:
            for name in each.binds:
                # Others of its class call a method as `self.method`.
                for key in (name, "".join(name.partition(".")[1:])):
                    self.by_name.setdefault(key, []).append(each)
            if isinstance(each.node, IMPORTS):
                module = getattr(each.node, "module", None) or each.node.names[0].name
                harmless |= each.binds if module.partition(".")[0] in HARMLESS else set()
        self.acting = {
            each
            for each in self.statements
            if (any(each.attributes) or "*" in each.binds or runs_code(each.node, harmless))
            and not (each.binds and all(map(self.is_benchmark, each.binds)))
        }

    def parts(self, name: str, *, with_params: bool, uses: Collection[str] = ()) -> dict[str, str]:
        """Return the parts of a benchmark's work: digests by a name that people understand.

        Args:
            name: of the function; that of a method begins with its class.
            with_params: whether its values of `params` are known by their definition alone.
            uses: other names that it uses.
        """
        own = {name, name.partition(".")[0]}
        used = self.used({*own, *uses}, self.settings.difference(["params"] if with_params else []))
        texts: dict[str, list[str]] = {}
        for each in filter(used.__contains__, self.statements):
            label = ", ".join(sorted(each.binds))
            if own & each.binds and any(each.attributes):
                label = f"its {', '.join(sorted(each.attributes))}"
            elif name in each.binds:
                label = "its function"
            elif each in self.acting and not isinstance(each.node, DEFINITIONS):
                label = ON_IMPORT.format(os.path.basename(self.path))
            # It may be renamed.
            texts.setdefault(label, []).append(each.text.replace(repr(name), "'\0'"))
        found = {label: digest("\0".join(each)) for label, each in texts.items()}
        return {**found, **{os.path.relpath(e, self.top): each for e, each in self.modules.items()}}

    def used(self, names: Iterable[str], left_out: frozenset[str]) -> set[Statement]:
        """Return what acts, what defines these names, and what all these name in turn."""
        found, seen = set(self.acting), set()
        queue = [*names, *(name for each in found for name in each.names)]
        while queue:
            name = queue.pop()
            for each in () if name in seen else self.by_name.get(name, ()):
                if each not in found and not each.attributes <= left_out:
                    found.add(each)
                    queue += each.names
            seen.add(name)
        return found

    def defines(self, name: str) -> bool:
        """Tell whether the text of the file shows the function of this name."""
        return any(isinstance(each.node, FUNCTIONS) for each in self.by_name.get(name, ()))

    def is_benchmark(self, name: str) -> bool:
        """Tell whether this is the name of a benchmark, or of a class of benchmarks."""
        return name.startswith(PREFIX) if self.names is None else name in self.names

    def taken_apart(self, tree: ast.Module, program: ast.NodeTransformer | None) -> Iterator[Any]:
        """Return statements without docstrings, each with one benchmark or import at most."""
        for each in ast.walk(tree):
            if isinstance(each, DEFINITIONS) and ast.get_docstring(each, clean=False) is not None:
                del each.body[0]
        if program:
            program.visit(tree)
        for node in tree.body:
            if isinstance(node, IMPORTS):
                yield from (type(node)(**{**vars(node), "names": [each]}) for each in node.names)
            elif program or not (isinstance(node, ast.If) and ast.dump(node.test) == MAIN):
                yield from self.without_benchmarks(node)

    def without_benchmarks(self, node: Any) -> Iterator[ast.stmt]:
        """Take the benchmarks and settings out of a class, and the parameters out of a test."""
        if isinstance(node, DEFINITIONS) and self.is_benchmark(node.name):
            for given in [e for e in node.decorator_list if ".parametrize" in names_in(e)]:
                node.decorator_list.remove(given)
                yield attribute_set(node.name, "params", given)
            each: Any
            for each in list(node.body) if isinstance(node, ast.ClassDef) else ():
                inner = f"{node.name}.{getattr(each, 'name', '')}"
                setting = getattr(each.targets[0], "id", "") if isinstance(each, ast.Assign) else ""
                if self.is_benchmark(inner):
                    each.name = inner
                    yield from self.without_benchmarks(each)
                elif setting in self.settings:
                    yield attribute_set(node.name, setting, each.value)
                else:
                    continue
                node.body.remove(each)
        yield node

    # The benchmarks' own modules

    def add_imported(self, paths: Iterable[str]) -> None:
        """Let the benchmarks' own of the modules at these real paths belong to the work."""
        self.add_modules({*filter(self.is_helper, paths)} - {self.path, *self.others})

    def is_helper(self, path: str) -> bool:
        return self.has_helpers and path.startswith(self.top)

    def add_modules(self, paths: Iterable[str]) -> None:
        """Let modules belong to the work, and the benchmarks' own that these import."""
        queue = list(paths)
        while queue:
            path = queue.pop()
            if path not in self.modules:
                content = b""
                with suppress(OSError), open(path, "rb") as file:
                    content = file.read()
                self.modules[path] = digest(content.decode("latin-1"))
                # This Python cannot read every file.
                with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                    queue += self.imports_of(ast.parse(content), path)

    def imports_of(self, tree: ast.AST, path: str) -> Iterator[str]:
        """Return the benchmarks' own modules that code of a file imports, with their packages."""
        for each in ast.walk(tree):
            if isinstance(each, IMPORTS):
                module, level = getattr(each, "module", ""), getattr(each, "level", 0)
                start = f"{module}." if module else ""
                above = os.path.join(os.path.dirname(path), *[os.pardir] * (level - 1))
                folders = [above] if level else self.folders
                for alias in each.names:
                    yield from filter(self.is_helper, find(start + alias.name, folders))


def runs_code(node: ast.stmt, harmless: Collection[str]) -> bool:
    """Tell whether a statement does more than define something with what is harmless."""
    queue: list[Any] = [node]
    while queue:
        each = queue.pop()
        called = [each] if isinstance(each, ast.Call) else getattr(each, "decorator_list", ())
        is_plain = isinstance(each, PLAIN) or not isinstance(each, ast.stmt)
        if not is_plain or not all(root_of(one) in harmless for one in called):
            return True
        has_body = isinstance(each, (*FUNCTIONS, ast.Lambda))  # it runs later
        if not isinstance(each, ASSIGNMENTS):
            queue += ast.iter_child_nodes(each.args if has_body else each)
    return False


def names_in(tree: ast.AST) -> set[str]:
    """Return the names that code uses, also in texts, and the attributes after a dot."""
    found: set[str] = set()
    for each in ast.walk(tree):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute):
            found.add(f".{each.attr}")
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            found.update(WORD.findall(each.value))
    return found


def bound_by(node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Return the names that a statement sets, each with the attribute that it sets of it, or ""."""
    queue: list[Any] = [node]
    while queue:
        each = queue.pop()
        if isinstance(each, DEFINITIONS):
            yield each.name, ""
        elif isinstance(each, ast.alias):
            yield (each.asname or each.name).partition(".")[0], ""
        elif isinstance(getattr(each, "ctx", None), ast.Store) and root_of(each):
            yield root_of(each), getattr(each, "attr", "" if isinstance(each, ast.Name) else "[]")
        elif not isinstance(each, (ast.Lambda, ast.comprehension)):
            queue += ast.iter_child_nodes(each)


def root_of(node: Any) -> str:
    """Return the name that an expression such as `a.b(...)[...]` begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return getattr(node, "id", "")


def attribute_set(owner: str, name: str, value: ast.expr) -> ast.stmt:
    target = ast.Attribute(ast.Name(owner, ast.Load()), name, ast.Store())
    return ast.Assign([target], value)


def find(name: str, folders: Collection[str]) -> Iterator[str]:
    """Return the real paths of a module and its packages, as Python would find them."""
    places: Iterable[str] = folders
    for part in name.split("."):
        spec = PathFinder.find_spec(part, [*places])
        if spec is None:
            return
        if spec.has_location and spec.origin:
            yield os.path.realpath(spec.origin)
        places = spec.submodule_search_locations or ()


def digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


PLAIN_VALUES = (bool, int, float, str)
# Enough for any text that Python itself compiles.
DEPTH = 10_000


class Describer:
    """Describes the benchmarks of a file.

    It reads the file's text before the file's code can change what is found.

    Args:
        text: what is known of the file's text, as `Workloads` takes it.
    """

    check = staticmethod(check_function)
    digest = staticmethod(digest)

    def __init__(self, request: dict[str, Any], **text: Any) -> None:
        self._file = file = request["file"]
        self._root = request["root"]
        folders = [os.path.dirname(file), *request["path"], *request["path_after"]]
        # Importing the file reports what is wrong with its text.
        with deep_recursion(), suppress(OSError, SyntaxError, ValueError):
            try:
                self._workloads = Workloads(file, request["helpers"], folders, **text)
            except RecursionError:
                raise Fault("benchgate cannot read its text: it is nested too deeply") from None

    def describe(self, benchmarks: Iterable[Benchmark]) -> list[dict[str, Any]]:
        """Describe the benchmarks of the file, which has been imported now."""
        with deep_recursion():
            self._workloads.add_imported(map(file_of, list(sys.modules)))
            return [self._describe(each) for each in benchmarks]

    def _describe(self, benchmark: Benchmark) -> dict[str, Any]:
        function = benchmark.function
        return {
            "id": benchmark.id,
            "file": self._file,
            "parts": self._parts(benchmark),
            "location": location_of(function, self._root),
            "parallel": getattr(function, "parallel", False),
            "unit": getattr(function, "unit", None),
            "data": getattr(function, "data", None) or [],
            "measures": "time",
            "of_unit": "",
            "timeout_s": None,
            "notes": [],
        }

    def _parts(self, benchmark: Benchmark) -> dict[str, str]:
        """Identify the work: its code in the file, and the values that it is called with."""
        name, function, kwargs = benchmark.name, benchmark.function, benchmark.kwargs
        # An instance of a derived class may hold another value than it shows.
        are_plain = all(v is None or type(v) in PLAIN_VALUES for v in kwargs.values())
        texts = {"its number": repr(getattr(function, "number", None))}
        parts = self._workloads.parts(name, with_params=not are_plain, uses=benchmark.uses)
        if kwargs:
            given = {**benchmark.labels, **kwargs} if are_plain else benchmark.labels
            texts["its params"] = repr(sorted(given.items())) + parts.pop("its params", "")
        if not self._workloads.defines(name):
            with STANDARD_LIBRARY:
                texts["its code"] = source_of(function)
        return {**parts, **{label: digest(text) for label, text in texts.items()}}


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Allow to read deeply nested texts, and large numbers in them."""
    limit = sys.getrecursionlimit()
    digits = getattr(sys, "get_int_max_str_digits", int)()
    set_digits = getattr(sys, "set_int_max_str_digits", id)
    sys.setrecursionlimit(max(limit, DEPTH))
    set_digits(0)
    try:
        yield
    finally:
        set_digits(digits)
        sys.setrecursionlimit(limit)


def unwrap(function: Any) -> Any:
    """Return the function below its decorators, whose source is the work."""
    while True:
        below = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
        if below is None:
            return function
        function = below


def location_of(function: Any, root: str) -> str | None:
    """Return `path:line` of a function in the tree; None if it comes from elsewhere."""
    code = code_of(unwrap(function))
    if code is None:
        return None
    path = os.path.relpath(os.path.realpath(code.co_filename), os.path.realpath(root))
    return None if path.startswith("..") else f"{path}:{code.co_firstlineno}"


def source_of(function: Any) -> str:
    """Return a function's source; "" if it has none."""
    import inspect  # noqa: PLC0415 - seldom needed

    try:
        return inspect.getsource(unwrap(function))
    except (OSError, TypeError):
        return ""

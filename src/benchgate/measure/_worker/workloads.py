"""Says what a benchmark's work is, so that its results are compared only with those of the same.

Its work is its function, what that names in its file, everything that acts when the file is
imported, and the benchmarks' own modules that are imported, as whole files. Definitions that it
does not name are no part of it, nor are other benchmarks. In doubt, something is part of it.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
from contextlib import suppress
from hashlib import sha256
from importlib.machinery import PathFinder

from .functions import PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

OWN_FUNCTION = "its function"
ON_IMPORT = "what runs when {} is imported"
# Attributes of a benchmark that are compared by value, or are no work.
SETTINGS = ("params", "number", "unit", "parallel", "data")
WORD = re.compile(r"[^\W\d]\w*")
# Who names one of these, or a name that its class makes private, may use every name of the file.
ANY_NAME = re.compile(r"globals|locals|vars|dir|eval|exec|\.?modules|\.__globals__|__\w+(?<!__)")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
MAIN = ast.dump(ast.parse('__name__ == "__main__"', mode="eval").body)
# What these make of constants, they make without running other code.
MAKERS = frozenset(
    (
        *("bool", "bytes", "complex", "dict", "float", "frozenset", "int", "len", "list", "max"),
        *("min", "object", "range", "repr", "round", "set", "sorted", "str", "sum", "tuple"),
        *(name for name in vars(builtins) if name.endswith(("Error", "Exception", "Warning"))),
    )
)
# These may import a codec.
CODING = ("encode", "decode")
WRAPPERS = frozenset(("classmethod", "property", "staticmethod"))
# Modules whose functions, decorators and base classes do the same.
HARMLESS = frozenset(
    (
        *("abc", "collections", "contextlib", "dataclasses", "datetime", "enum", "functools"),
        *("json", "math", "pytest", "re", "string", "typing"),
    )
)
OPERATORS = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)
CONSTANT = (ast.Constant, ast.Name, ast.Tuple, ast.BinOp, ast.UnaryOp, *OPERATORS)
NAMING = (*CONSTANT, ast.Attribute, ast.List, ast.Subscript, getattr(ast, "Index", ast.Slice))
MAKING = (
    *(*NAMING, ast.Slice, ast.Set, ast.Dict, ast.BoolOp, ast.Compare, ast.IfExp, ast.JoinedStr),
    *(ast.FormattedValue, ast.ListComp, ast.SetComp, ast.DictComp, ast.comprehension),
    *(ast.Starred, ast.Call, ast.keyword),
)


class Text:
    """What is known of a file beside its text.

    Args:
        names: what the text calls the benchmarks and their classes: `test_x`, `TestX.test_x`,
            `TestX`; None if they are all functions `bench_*`.
        settings: see SETTINGS.
        others: real paths of files that hold benchmarks too, and nothing of this file's.
        also: real paths of files that are imported for this file, though it does not say so.
        program: takes the benchmarks out of a file that is run, not imported.
    """

    def __init__(
        self,
        names: Collection[str] | None = None,
        *,
        settings: Collection[str] = SETTINGS,
        others: Collection[str] = (),
        also: Collection[str] = (),
        program: ast.NodeTransformer | None = None,
    ) -> None:
        self.names = frozenset(names or ())
        self.is_suite = names is not None
        self.settings = settings
        self.others = others
        self.also = also
        self.program = program


class Statement:
    """A statement at the top of a file.

    Attributes:
        binds: the names that it defines.
        owner, attribute: of `owner.attribute = ...`; else "".
        acts: whether it may do more than define something when it runs.
        files: the benchmarks' own modules that it imports, with what these import.
    """

    acts = True

    def __init__(self, node: Any) -> None:
        self.node = node
        self.text = ast.dump(node)
        self.names = names_in(node)
        self.binds: set[str] = set()
        self.owner = self.attribute = ""
        self.files: set[str] = set()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            self.binds = {node.name}
        elif isinstance(node, IMPORTS):
            self.binds = set(names_set_by(node.names[0]))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = targets_of(node)
            inner = (each for target in targets for each in ast.walk(target))
            self.binds = {
                name for each in inner if isinstance(each, ast.Name) for name in names_set_by(each)
            }
            is_set = isinstance(node, ast.Assign) and isinstance(targets[0], ast.Attribute)
            if is_set and len(targets) == 1:
                self.owner, self.attribute = getattr(targets[0].value, "id", ""), targets[0].attr
        elif is_inert(node):
            self.binds = {"__doc__"}


class Workloads:
    """Finds the work of each benchmark of a file.

    Args:
        path: the benchmark file.
        helpers: folder whose modules belong to the benchmarks; None if there is none.
        folders: where modules are looked for, in this order.

    Raises:
        SyntaxError, ValueError: the file is not Python.
    """

    def __init__(self, path: str, helpers: str | None, folders: list[str], text: Text) -> None:
        self.path = os.path.realpath(path)
        self.folder = os.path.join(os.path.realpath(helpers), "") if helpers else ""
        self.folders = folders
        self.text = text
        # By path the digest of a module, and the modules that it imports.
        self.modules: dict[str, tuple[str, set[str]]] = {}
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
        self.mentioned = names_in(tree)
        self.settings = {each for each in text.settings if f".{each}" not in self.mentioned}
        # By name how often it may be set.
        self.times: dict[str, int] = {}
        for each in of_module(tree):
            for name in names_set_by(each):
                self.times[name] = self.times.get(name, 0) + 1
        is_named = "__file__" in self.mentioned or "__name__" in self.times
        self.may_be_run = is_named or text.program is not None
        self.statements = [Statement(node) for node in self.taken_apart(tree)]
        # By name the statements that bind it, or set an attribute of it.
        self.by_name: dict[str, list[int]] = {}
        for index, one in enumerate(self.statements):
            one.files = self.with_imports(self.imports_of(one.node, self.path))
            for name in one.binds | {one.owner}:
                self.by_name.setdefault(name, []).append(index)
        self.find_harmless()
        for one in self.statements:
            one.acts = self.does_act(one)
        acting = {index for index, one in enumerate(self.statements) if one.acts}
        names = {name for index in acting for name in self.statements[index].names}
        self.always = self.used(names, acting, self.settings)
        self.imported = self.with_imports(text.also).union(
            *(one.files for one in self.statements if isinstance(one.node, IMPORTS))
        )

    def parts(self, name: str, *, with_params: bool, uses: Collection[str] = ()) -> dict[str, str]:
        """Return the parts of a benchmark's work: digests by a name that people understand.

        Args:
            name: of the function; that of a method begins with its class.
            with_params: whether its values of `params` are known by their definition alone.
            uses: other names that it uses.
        """
        owner = name.partition(".")[0]
        left_out = self.settings - ({"params"} if with_params else set())
        chosen = sorted(self.used({name, owner, *uses}, self.always, left_out))
        on_import = ON_IMPORT.format(os.path.basename(self.path))
        texts: dict[str, list[str]] = {on_import: []} if self.always else {}
        files = set(self.imported)
        for each in (self.statements[index] for index in chosen):
            files |= each.files
            text = each.text.replace(repr(name), "'\0'")  # it may be renamed
            label = OWN_FUNCTION if name in each.binds else ", ".join(sorted(each.binds))
            if each.owner in {name, owner} and each.owner:
                label = f"its {each.attribute}"
            if label:
                texts.setdefault(label, []).append(text)
            # The order of what acts counts, and of what it may act on.
            is_imported = isinstance(each.node, IMPORTS)
            if self.always and (each.acts or is_imported or self.is_repeated(each)):
                texts[on_import].append(label or text)
        found = {label: digest("\0".join(each)) for label, each in texts.items()}
        top = self.folder or os.path.dirname(self.path)
        return {**found, **{os.path.relpath(each, top): self.modules[each][0] for each in files}}

    def used(self, names: Iterable[str], chosen: set[int], left_out: set[str]) -> set[int]:
        """Return chosen statements, those that define what is named, and what these name in turn.

        Args:
            left_out: attributes that do not count.
        """
        found, queue, seen = set(chosen), list(names), {""}
        while queue:
            name = queue.pop()
            if name not in seen:
                seen.add(name)
                queue += self.by_name if ANY_NAME.fullmatch(name) else ()
                for index in self.by_name.get(name, ()):
                    each = self.statements[index]
                    if index not in found and each.attribute not in left_out:
                        found.add(index)
                        queue += each.names
        return found

    def defines(self, name: str) -> bool:
        """Tell whether the text of the file shows the function of this name."""
        nodes = (self.statements[index].node for index in self.by_name.get(name, ()))
        return self.text.program is not None or any(isinstance(each, FUNCTIONS) for each in nodes)

    def is_repeated(self, one: Statement) -> bool:
        """Tell whether other statements define the same names."""
        return any(
            sum(name in self.statements[index].binds for index in self.by_name[name]) > 1
            for name in one.binds
        )

    # Its statements

    def taken_apart(self, tree: ast.Module) -> Iterator[ast.stmt]:
        """Return statements without docstrings, each with one benchmark or import at most."""
        if not self.mentioned & {"__doc__", ".__doc__"}:
            for each in ast.walk(tree):
                if isinstance(each, (*FUNCTIONS, ast.ClassDef)) and ast.get_docstring(each):
                    del each.body[0]
        if self.text.program:
            self.text.program.visit(tree)
        for node in tree.body:
            is_main = isinstance(node, ast.If) and not node.orelse and ast.dump(node.test) == MAIN
            if isinstance(node, ast.Import):
                yield from (ast.Import([each]) for each in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from (ast.ImportFrom(node.module, [a], node.level) for a in node.names)
            elif not is_main or self.may_be_run:
                yield from self.without_benchmarks(node)

    def without_benchmarks(self, node: Any) -> Iterator[ast.stmt]:
        """Take the benchmarks and settings out of a class, and the parameters out of a test."""
        if isinstance(node, ast.ClassDef) and self.text.is_suite:
            kept = []
            each: Any
            for each in node.body:
                inner = f"{node.name}.{getattr(each, 'name', '')}"
                setting = getattr(targets_of(each)[0], "id", "")
                if inner in self.text.names and f".{each.name}" not in self.mentioned:
                    each.name = inner
                    yield from self.without_benchmarks(each)
                elif setting in self.settings and isinstance(each, ast.Assign):
                    yield attribute_set(node.name, setting, each.value)
                else:
                    kept.append(each)
            node.body = kept
        elif isinstance(node, FUNCTIONS) and node.name in self.text.names:
            given = [each for each in node.decorator_list if ".parametrize" in names_in(each)]
            node.decorator_list = [each for each in node.decorator_list if each not in given]
            if given:
                yield attribute_set(node.name, "params", ast.Tuple(given, ast.Load()))
        yield node

    # What acts

    def find_harmless(self) -> None:
        """Find the names that stand for constants, or for what Python itself has."""
        self.trusted: set[str] = set()
        self.known: set[str] = set()
        self.reads_annotations = True
        if "*" in self.times:  # what a star imports may replace all of them
            return
        self.known.update({*MAKERS, *WRAPPERS} - self.times.keys())
        for each in self.statements:
            node = each.node
            once = {name for name in each.binds if self.times.get(name) == 1}
            if isinstance(node, IMPORTS):
                module = getattr(node, "module", node.names[0].name) or ""
                top = "" if getattr(node, "level", 0) else module.partition(".")[0]
                if top == "__future__" and "annotations" in each.binds:
                    self.reads_annotations = False
                elif top in HARMLESS and (top == "pytest" or not any(find(top, self.folders))):
                    self.trusted |= once
                    self.known |= once
            elif isinstance(node, ast.Assign) and self.makes(node.value, CONSTANT):
                self.known |= once

    def makes(self, node: Any, kinds: Any = MAKING, *, any_name: bool = False) -> bool:
        """Tell whether evaluating an expression only makes a value of constants."""
        every = list(ast.walk(node))
        loops = (each.target for each in every if isinstance(each, ast.comprehension))
        own = {name for target in loops for each in ast.walk(target) for name in names_set_by(each)}
        known = self.known | (own - self.by_name.keys())
        return all(
            isinstance(each, kinds)
            and (any_name or not isinstance(each, ast.Name) or each.id in known)
            and (not isinstance(each, ast.Attribute) or root_of(each) in self.known)
            and getattr(each, "attr", "") not in CODING
            for each in every
        )

    def holds(self, node: Any) -> bool:
        """Tell whether evaluating an expression at most puts other values into a new one."""
        if isinstance(node, (ast.List, ast.Tuple)):
            return all(map(self.holds, node.elts))
        if isinstance(node, ast.Dict):
            are_made = all(key is not None and self.makes(key) for key in node.keys)
            return are_made and all(map(self.holds, node.values))
        if isinstance(node, ast.Lambda):
            return all(map(self.holds, defaults_of(node)))
        return isinstance(node, ast.Name) or self.makes(node)

    def does_act(self, each: Statement) -> bool:
        """Tell whether a statement of the file may do more than define something."""
        if each.owner in self.text.names:
            return False  # what a suite sets concerns this benchmark alone
        if each.owner.startswith(PREFIX) and self.defines(each.owner):
            return not self.holds(each.node.value)
        is_hook = isinstance(each.node, FUNCTIONS) and each.node.name.startswith("__")
        return is_hook or self.runs_code(each.node)

    def runs_code(self, node: Any) -> bool:
        """Tell whether a statement, also one of a class, may run code that is not its own."""
        # The same holds for what marks a benchmark of a suite, or for the base of its class.
        is_benchmark = getattr(node, "name", "") in self.text.names
        wrappers = () if is_benchmark else getattr(node, "decorator_list", ())
        allowed = self.trusted | WRAPPERS
        if not all(root_of(each) in allowed and self.makes(each) for each in wrappers):
            return True
        if isinstance(node, IMPORTS):
            return node.names[0].name == "*" or getattr(node, "module", "") == "__future__"
        if isinstance(node, FUNCTIONS):
            found = [getattr(each, "annotation", None) for each in ast.walk(node.args)]
            annotations = filter(None, [*found, node.returns] if self.reads_annotations else ())
            are_named = all(self.makes(each, NAMING, any_name=True) for each in annotations)
            return not (are_named and all(map(self.holds, defaults_of(node))))
        if isinstance(node, ast.ClassDef):
            bases = () if is_benchmark else (*node.bases, *(each.value for each in node.keywords))
            return not all(map(self.makes, bases)) or any(map(self.runs_code, node.body))
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            inner = (each for target in targets_of(node) for each in ast.walk(target))
            values = filter(None, [node.value, getattr(node, "annotation", None)])
            are_names = all(isinstance(each, CONSTANT) for each in inner)
            check = self.holds if isinstance(node.value, ast.Lambda) else self.makes
            return not (are_names and all(map(check, values)))
        return not is_inert(node)

    # The benchmarks' own modules

    def add_imported(self, paths: Iterable[str]) -> None:
        """Let those of the modules that were imported belong to every benchmark of the file.

        Args:
            paths: real paths of all of them.
        """
        own = filter(self.is_helper, paths)
        self.imported |= self.with_imports({*own} - {self.path, *self.text.others})

    def is_helper(self, path: str) -> bool:
        return bool(self.folder) and path.startswith(self.folder)

    def imports_of(self, tree: ast.AST, path: str) -> set[str]:
        """Return the benchmarks' own modules that code of a file imports, with their packages."""
        found: set[str] = set()
        for each in ast.walk(tree):
            if isinstance(each, IMPORTS):
                module, level = getattr(each, "module", ""), getattr(each, "level", 0)
                start = f"{module}." if module else ""
                above = os.path.join(os.path.dirname(path), *[os.pardir] * (level - 1))
                for alias in each.names:
                    found.update(find(start + alias.name, [above] if level else self.folders))
        return set(filter(self.is_helper, found))

    def with_imports(self, paths: Iterable[str]) -> set[str]:
        """Return modules and what these import; remember their contents."""
        found: set[str] = set()
        queue = list(paths)
        while queue:
            path = queue.pop()
            if path not in self.modules:
                content = b""
                with suppress(OSError), open(path, "rb") as file:
                    content = file.read()
                self.modules[path] = digest(content.decode("latin-1")), set()
                # This Python cannot read every file.
                with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                    self.modules[path][1].update(self.imports_of(ast.parse(content), path))
            if path not in found:
                found.add(path)
                queue += self.modules[path][1]
        return found


def names_in(tree: ast.AST) -> set[str]:
    """Return the names that code uses, also in texts, and the attributes after a dot."""
    found: set[str] = set()
    for each in ast.walk(tree):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load):
            found.add(f".{each.attr}")
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            words = WORD.findall(each.value)
            found.update(word for word in words if not ANY_NAME.fullmatch(word))
    return found


def names_set_by(node: Any) -> Iterator[str]:
    """Return the names that a node binds, or whose attributes it sets."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        if not isinstance(node.ctx, ast.Load):
            yield root_of(node)
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
    else:
        named = (getattr(node, field, None) for field in ("name", "rest"))
        yield from (each for each in named if isinstance(each, str))


def of_module(tree: ast.Module) -> Iterator[Any]:
    """Return the nodes that may set names of the module: not what is local to a function."""
    queue: list[Any] = [tree]
    while queue:
        each = queue.pop()
        yield each
        is_local = isinstance(each, FUNCTIONS) and not any(
            isinstance(inner, ast.Global) for inner in ast.walk(each)
        )
        queue += [each.args] if is_local else ast.iter_child_nodes(each)


def root_of(node: Any) -> str:
    """Return the name that an expression such as `a.b(...)[...]` begins with, or a type's name."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return type(node.value).__name__ if isinstance(node, ast.Constant) else getattr(node, "id", "")


def targets_of(node: Any) -> list[Any]:
    return getattr(node, "targets", None) or [getattr(node, "target", None)]


def defaults_of(function: Any) -> list[ast.expr]:
    return [*function.args.defaults, *filter(None, function.args.kw_defaults)]


def is_inert(node: ast.stmt) -> bool:
    """Tell whether a statement does nothing, like a docstring."""
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def attribute_set(owner: str, name: str, value: ast.expr) -> ast.stmt:
    target = ast.Attribute(ast.Name(owner, ast.Load()), name, ast.Store())
    return ast.Assign([target], value)


def find(name: str, folders: Collection[str]) -> Iterator[str]:
    """Return the real paths of a module and its packages, as Python would find them."""
    places: Iterable[str] | None = folders
    for part in name.split("."):
        spec = PathFinder.find_spec(part, [*places]) if places is not None else None
        if spec is None:
            return
        if spec.has_location and spec.origin:
            yield os.path.realpath(spec.origin)
        places = spec.submodule_search_locations


def digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]

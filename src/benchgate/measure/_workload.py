"""Finds the code that belongs to a benchmark's work: the statements that it uses by name.

A benchmark's definition is its function, what the function uses, and statements that change what
it uses, but not the other benchmarks of its file. So adding a benchmark changes no other. Modules
in the same folder count like the file itself. The project's own modules do not count, because
they are what is measured.

The worker loads this file before it imports the user's code, which could change the findings.
Standard library only, CPython >= 3.8.
"""

from __future__ import annotations

import ast
import os
from hashlib import sha256
from importlib.machinery import EXTENSION_SUFFIXES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from benchgate.measure._statements import Statement

OWN_FUNCTION = "its function"
ON_IMPORT = "what runs when {} is imported"
DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# A file that uses one of these names may read docstrings.
READ_DOCSTRINGS = frozenset(("__doc__", "getdoc", "doctest"))


class Module:
    """The text of a module, statement by statement.

    Args:
        make: makes a Statement.
    """

    def __init__(self, path: str, make: Any) -> None:
        self.name = os.path.basename(path)
        self.folder = os.path.dirname(path)
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
        self.statements: list[Statement] = [
            make(node) for node in told_apart(tree) if not is_inert(node)
        ]
        if not any("__name__" in each.binds for each in self.statements):
            self.statements = [each for each in self.statements if not is_main(each.node)]
        self.reached: dict[str, set[str]] = {}
        binders: dict[str, list[Statement]] = {}
        for each in self.statements:
            for name in each.binds:
                binders.setdefault(name, []).append(each)
        self.binders = binders
        # Names of objects that a call may alter.
        self.data = {
            name
            for name, found in binders.items()
            if not all(s.is_definition or s.is_import or s.is_frozen for s in found)
        }
        self.benchmarks = {name for name in binders if name.startswith("bench_")}
        self.touches = {id(each): self.touched(each) for each in self.statements}
        self.sees = {id(each) for each in self.statements if self.is_unseen(each)}
        used: dict[str, set[int]] = {}
        for each in self.statements:
            for name in each.uses | each.alters:
                used.setdefault(name, set()).add(id(each))
        # Statements that do something, but not for a name that is used elsewhere.
        self.effects = [
            each
            for each in self.statements
            if each.acts and not each.is_definition and not each.binds & self.benchmarks
            if not any(used.get(name, set()) - {id(each)} for name in each.binds)
            if getattr(each.node, "module", "") != "__future__"
        ]

    def reach(self, name: str) -> set[str]:
        """Return a name, and all names that its bindings need, directly or indirectly."""
        found = self.reached.get(name)
        if found is None:
            found = self.reached[name] = {name}
            pending = [name]
            while pending:
                for each in self.binders.get(pending.pop(), ()):
                    new = each.uses - found
                    found |= new
                    pending += new
        return found

    def touched(self, each: Statement) -> set[str]:
        """Return the names whose objects a statement may alter at once."""
        found = set(each.alters)
        for name in each.alters:
            found |= self.reach(name) & self.data  # through another name for the same object
        if not each.acts or each.is_import:
            return found
        for name in each.mentions:
            # A benchmark that is only passed on is not called, so what it uses is not altered.
            handed_on = name in self.benchmarks and name not in each.calls
            found |= {name} if handed_on else self.reach(name) & (self.data | self.benchmarks)
        return found

    def is_unseen(self, each: Statement) -> bool:
        """Tell whether a statement may reach, when it runs, any name of the module."""
        if each.is_unseen:
            return True
        reached = {n for name in each.mentions for n in self.reach(name)} if each.acts else set()
        return any(s.hides for name in reached for s in self.binders.get(name, ()))

    def effects_on(self, own: str) -> set[int]:
        """Return the statements with effects that the module's names do not show."""
        others = (self.benchmarks | self.data) - {own}
        return {
            id(s) for s in self.effects if own in s.mentions or not (s.mentions | s.alters) & others
        }

    def work_of(
        self, names: Iterable[str], own: str = "", known: Collection[str] = ()
    ) -> list[Statement]:
        """Return the statements that belong to the work of some names.

        Args:
            own: the benchmark; others belong to its work only if its functions use them.
            known: attributes of the benchmark that do not count.
        """
        wanted = set(names)
        without = set()
        for each in self.statements:
            attributes = each.attributes_of(own)
            if attributes and attributes <= set(known):
                without.add(id(each))
        included = (self.effects_on(own) | self.sees) - without
        for each in self.statements:
            if id(each) in included:
                wanted |= self.needs(each, own)
        sees_all = False
        grown = True
        while grown:
            grown = False
            for each in self.statements:
                is_free = sees_all and not each.binds & self.benchmarks
                if id(each) in included | without or not (
                    is_free or each.binds & wanted or self.touches[id(each)] & wanted
                ):
                    continue
                grown = True
                included.add(id(each))
                wanted |= self.needs(each, own)
                sees_all = sees_all or (each.hides and each.is_definition)
        return [each for each in self.statements if id(each) in included]

    def needs(self, each: Statement, own: str) -> set[str]:
        """Return the names that a statement uses; merely naming a benchmark does not count."""
        return each.uses if each.is_definition else each.uses - (self.benchmarks - {own})


def told_apart(tree: ast.Module) -> list[ast.stmt]:
    """Return a module's statements: each import on its own, docstrings only if they are read.

    So if one benchmark needs one more name of a module, the others still do the same work.
    """
    names = {getattr(n, "attr", getattr(n, "id", getattr(n, "name", ""))) for n in ast.walk(tree)}
    inner = () if names & READ_DOCSTRINGS else ast.walk(tree)
    for node in inner:
        if isinstance(node, DOCUMENTED) and docstring(node) is not None:
            node.body[:1] = [] if node.body[1:] else [ast.Pass()]
    found: list[ast.stmt] = []
    text = docstring(tree)
    if text is not None:
        target = ast.Name(id="__doc__", ctx=ast.Store())
        found.append(ast.copy_location(ast.Assign(targets=[target], value=text), tree.body[0]))
    for node in tree.body:
        if isinstance(node, ast.Import):
            alone: list[ast.stmt] = [ast.Import(names=[alias]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            alone = [
                ast.ImportFrom(module=node.module, names=[alias], level=node.level)
                for alias in node.names
            ]
        else:
            alone = [node]
        found += [ast.copy_location(each, node) for each in alone]
    return found


def docstring(node: Any) -> ast.expr | None:
    """Return the docstring of a module, a class or a function: its first statement."""
    first = node.body[0] if node.body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return None
    return first.value if isinstance(first.value.value, str) else None


def is_inert(node: ast.stmt) -> bool:
    """Tell whether a statement does nothing, like a docstring."""
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def is_main(node: ast.stmt) -> bool:
    """Tell whether a statement runs only in a program: `if __name__ == "__main__"`."""
    return (
        isinstance(node, ast.If)
        and not node.orelse
        and ast.dump(node.test) == ast.dump(ast.parse('__name__ == "__main__"').body[0].value)  # type: ignore[attr-defined]
    )


class Workloads:
    """Finds the work of each benchmark of a file.

    Args:
        path: the benchmark file.
        helpers: folder whose modules belong to the benchmarks; None if there is none.
        folders: where modules are looked for, in this order.
        statements: the module `_statements`.

    Raises:
        SyntaxError, ValueError: the file is not Python.
    """

    def __init__(self, path: str, helpers: str | None, folders: list[str], statements: Any) -> None:
        self.make = statements.Statement
        self.no_work = statements.NO_WORK
        self.helpers = os.path.join(os.path.realpath(helpers), "") if helpers else None
        self.folders = folders
        self.modules: dict[str, Module] = {}
        self.file = self.module(path)
        self.known = {
            (name, with_params): self.read_parts(name, with_params=with_params)
            for name in self.file.benchmarks
            for with_params in (False, True)
        }

    def module(self, path: str) -> Module:
        if path not in self.modules:
            self.modules[path] = Module(path, self.make)
        return self.modules[path]

    def parts(self, name: str, *, with_params: bool) -> dict[str, str]:
        """Return the parts of a benchmark's work: digests by a name that people understand.

        Args:
            name: of the function; one that the text does not show is read only now.
            with_params: whether its values of `params` are known by their definition alone.
        """
        known = self.known.get((name, with_params))
        return self.read_parts(name, with_params=with_params) if known is None else known

    def read_parts(self, name: str, *, with_params: bool) -> dict[str, str]:
        known = self.no_work if with_params else {*self.no_work, "params"}
        included = self.file.work_of({name}, name, known)
        texts: dict[str, list[str]] = {}
        for each in included:
            text = self.text_of(self.file, each).replace(repr(name), "'bench_'")
            texts.setdefault(self.label(self.file, each, name), []).append(text)
        self.follow(self.file, included, texts, set())
        return {label: digest("\0".join(found)) for label, found in texts.items()}

    def text_of(self, module: Module, each: Statement) -> str:
        """Return a statement's text, independent of where the folder of the benchmarks is."""
        node = each.node
        if isinstance(node, ast.ImportFrom):
            for path, _ in self.imported(module, node, []):
                where = os.path.relpath(path, self.helpers)
                return f"from {where} import {', '.join(map(ast.dump, node.names))}"
        return each.text

    def defines(self, name: str) -> bool:
        """Tell whether the text of the file shows the function of this name."""
        found = self.file.binders.get(name, ())
        return bool(found) and all(each.is_definition for each in found)

    def others(self, name: str) -> dict[str, int]:
        """Return the lines that also run on import and belong to no particular benchmark."""
        included = self.file.work_of({name}, name)
        foreign = self.file.benchmarks - {name}
        return {
            digest(each.text): each.line
            for each in self.file.statements
            if each.acts and each not in included and not each.attributes_of(name)
            if not (each.binds | each.alters | each.mentions) & foreign
        }

    @staticmethod
    def digest(text: str) -> str:
        return digest(text)

    def label(self, module: Module, each: Statement, own: str = "") -> str:
        where = "" if module is self.file else f" of {module.name}"
        attributes = each.attributes_of(own)
        if attributes:
            return " and ".join(f"its {attribute}" for attribute in sorted(attributes))
        if own in each.binds:
            return OWN_FUNCTION
        names = sorted(each.binds or each.alters)
        return f"{', '.join(names)}{where}" if names else ON_IMPORT.format(module.name)

    def follow(
        self,
        module: Module,
        included: list[Statement],
        texts: dict[str, list[str]],
        seen: set[tuple[str, str | int]],
    ) -> None:
        """Add what is imported from modules that belong to the benchmarks."""
        for each in included:
            for node in ast.walk(each.node):
                both = (*self.imported(module, node, included), *self.packages(module, node))
                for path, wanted in both:
                    found = self.module(path)
                    names = wanted
                    if not wanted <= found.binders.keys():
                        names = found.binders.keys() - {"__doc__"}
                    new = {name for name in names if (path, name) not in seen}
                    if not new and (path, "") in seen:
                        continue
                    seen.update((path, name) for name in (*new, ""))
                    needed = found.work_of(new)
                    for one in needed:
                        if (path, id(one)) not in seen:
                            text = self.text_of(found, one)
                            texts.setdefault(self.label(found, one), []).append(text)
                            seen.add((path, id(one)))
                    self.follow(found, needed, texts, seen)

    def imported(
        self, module: Module, node: ast.AST, included: list[Statement]
    ) -> list[tuple[str, set[str]]]:
        """Return the benchmarks' own files that a node imports, and the imported names."""
        found = []
        if isinstance(node, ast.Import):
            for alias in node.names:
                path = self.find(module, alias.name)
                if path:
                    found.append((path, attributes_read(included, alias.asname or alias.name)))
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            for alias in node.names:
                inner = self.find(
                    module, f"{start}.{alias.name}" if node.module else start + alias.name
                )
                path = self.find(module, start) if node.module else None
                if inner:
                    found.append((inner, attributes_read(included, alias.asname or alias.name)))
                elif path:
                    found.append((path, {alias.name}))
        return found

    def packages(self, module: Module, node: ast.AST) -> list[tuple[str, set[str]]]:
        """Return the packages whose `__init__.py` runs before what a node imports, completely.

        Completely, because `__init__.py` may alter any module of the package.
        """
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["." * node.level + (node.module or "")]
        found = []
        for name in names:
            bare = name.lstrip(".")
            dots, parts = name[: len(name) - len(bare)], bare.split(".")
            for count in range(len(parts)):
                ahead = dots + ".".join(parts[:count])
                path = self.find(module, ahead) if ahead else None
                if path:
                    found.append((path, {"*"}))
        return found

    def find(self, module: Module, name: str) -> str | None:
        """Find the file of a module that belongs to the benchmarks."""
        if not self.helpers:
            return None
        relative = name.lstrip(".")
        level = len(name) - len(relative)
        folders = self.folders
        if level:
            folders = [os.path.join(module.folder, *[os.pardir] * (level - 1))]
        for folder in folders:
            start = os.path.join(folder, *relative.split("."))
            # In the order in which Python looks: a package first, then compiled code.
            for path in (os.path.join(start, "__init__"), start):
                if any(os.path.isfile(path + suffix) for suffix in EXTENSION_SUFFIXES):
                    return None
                if os.path.isfile(f"{path}.py"):
                    real = os.path.realpath(f"{path}.py")
                    return real if real.startswith(self.helpers) else None
        return None


def attributes_read(included: list[Statement], name: str) -> set[str]:
    """Return the attributes of a module that statements read; {"*"} if they do more with it."""
    depth = name.count(".")
    root = name.partition(".")[0]
    found: set[str] = set()
    for each in included:
        if getattr(each, "is_import", False):
            continue
        reads = [n for n in ast.walk(each.node) if isinstance(n, ast.Attribute)]
        inner = [n.attr for n in reads if isinstance(n.value, ast.Name) and n.value.id == root]
        names = [n for n in ast.walk(each.node) if isinstance(n, ast.Name) and n.id == root]
        if depth or len(inner) < len(names):
            return {"*"}
        found.update(inner)
    return found


def digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]

"""The statements of a module, and which of them belong to the work of some of its names."""

from __future__ import annotations

import ast
import os

from .statements import Statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# A file that uses one of these names may read docstrings.
READ_DOCSTRINGS = frozenset(("__doc__", "getdoc", "doctest"))


class Module:
    """The text of a module, statement by statement."""

    def __init__(self, path: str) -> None:
        self.name = os.path.basename(path)
        self.folder = os.path.dirname(path)
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
        self.statements = [Statement(node) for node in told_apart(tree) if not is_inert(node)]
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

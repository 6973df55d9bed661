"""Finds what else in the benchmarks' files may change what a benchmark measures.

The work of a benchmark is found by names, and names do not show everything: a statement may change
the project, or run a function that does. So a reader is told of every difference in the files,
except in statements that certainly have nothing to do with the benchmark: they only define
something, and nothing that may concern the benchmark mentions a name of theirs.
"""

from __future__ import annotations

import ast
import re

from .names import COMPREHENSIONS, FUNCTIONS, bases
from .statements import NO_WORK, executed_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .module_text import Module
    from .statements import Statement

WORD = re.compile(r"\w+")
# Code of one of these kinds may change an object that it only mentions, or use it up.
CHANGING = (
    *(ast.Call, ast.For, ast.Starred, ast.AugAssign, ast.Delete, ast.In, ast.NotIn),
    *COMPREHENSIONS,
)


class Bystanders:
    """Finds the statements that may concern a benchmark.

    Args:
        modules: the file, and the other files of the benchmarks that it imports.

    Attributes:
        entries: all statements, in the order in which they run.
        always: indices of those that may concern every benchmark.
    """

    def __init__(self, modules: Sequence[Module]) -> None:
        self.entries = [(module, each) for module in modules for each in module.every]
        self.mentioned = [mentioned(each) for _, each in self.entries]
        self.binders: dict[str, list[int]] = {}
        self.inside = self.contents(modules)
        self.setters: dict[str, list[int]] = {}
        self.touchers: dict[str, list[int]] = {}
        for index, (_, each) in enumerate(self.entries):
            for name in each.binds:
                self.binders.setdefault(name, []).append(index)
            for name in each.alters:
                self.setters.setdefault(name, []).append(index)
            for name in touched(each):
                self.touchers.setdefault(name, []).append(index)
        # What a star imports may be any name.
        stars = any("*" in each.binds for _, each in self.entries)
        roots = [i for i, (_, each) in enumerate(self.entries) if each.whole or stars]
        self.always = self.closure(roots, set())

    def contents(self, modules: Sequence[Module]) -> dict[str, list[int]]:
        """Return the statements of each module that is imported as a whole, by its name here."""
        by_stem: dict[str, list[int]] = {}
        for index, (module, _) in enumerate(self.entries):
            by_stem.setdefault(module.name.rpartition(".")[0], []).append(index)
        found: dict[str, list[int]] = {}
        for module in modules:
            for each in module.every:
                for node in each.imports:
                    for alias in node.names:
                        stem = alias.name.rpartition(".")[2]
                        name = alias.asname or alias.name.partition(".")[0]
                        found.setdefault(name, []).extend(by_stem.get(stem, ()))
        return found

    def of(self, name: str) -> list[int]:
        """Return the indices of what may concern a benchmark, and not every benchmark."""
        return sorted(self.closure(self.binders.get(name, ()), self.always))

    def closure(self, start: Iterable[int], known: set[int]) -> set[int]:
        """Return statements, and those that may have to do with them, without known ones."""
        found: set[int] = set()
        pending = list(start)
        while pending:
            index = pending.pop()
            if index in found or index in known:
                continue
            found.add(index)
            _, each = self.entries[index]
            if each.hides:  # it may reach any name
                pending += range(len(self.entries))
            for name in each.handed_on:
                pending += self.inside.get(name, ())
            for name in self.mentioned[index]:
                pending += self.binders.get(name, ())
            for name in each.binds:
                pending += self.setters.get(name, ())
            if not (each.is_frozen or each.is_import or isinstance(each.node, FUNCTIONS)):
                touchers = (t for name in each.binds for t in self.touchers.get(name, ()))
                pending += (
                    t for t in touchers if not each.is_lasting or self.entries[t][1].calls_methods
                )
        return found


def mentioned(statement: Statement) -> set[str]:
    """Return all words in a statement that may be names, also in its texts."""
    found: set[str] = set()
    for node in ast.walk(statement.node):
        if isinstance(node, ast.Constant):
            value = node.value
            text = value.decode("latin-1") if isinstance(value, bytes) else value
            found.update(WORD.findall(text) if isinstance(text, str) else ())
        elif isinstance(node, ast.alias):
            found.update(node.name.split("."))
        else:
            names = (getattr(node, field, None) for field in ("id", "attr", "arg", "name"))
            found.update(name for name in names if isinstance(name, str))
    for node in ast.walk(statement.node):
        if isinstance(node, ast.ClassDef):  # in it, `__x` means `_Class__x`
            found |= {f"_{node.name.lstrip('_')}{name}" for name in found if name[:2] == "__"}
    return found


def touched(statement: Statement) -> set[str]:
    """Return the names whose objects a plain statement may change when it runs."""
    node = statement.node
    executed = list(executed_nodes(node))
    found: set[str] = set()
    if any(isinstance(each, CHANGING) or unpacks(each) for each in executed):
        found |= {each.id for each in executed if isinstance(each, ast.Name)} - statement.binds
    if isinstance(node, ast.ClassDef):  # a class knows those that derive from it
        found |= {n.id for base in bases(node) for n in ast.walk(base) if isinstance(n, ast.Name)}
    return found


def unpacks(node: ast.AST) -> bool:
    return isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store)


def concerns(statement: Statement, name: str) -> bool:
    """Tell whether a statement does more than set attributes of a benchmark that are no work."""
    attributes = statement.attributes_of(name)
    acts = any(isinstance(each, CHANGING) for each in executed_nodes(statement.node))
    return acts or not attributes or not attributes <= {*NO_WORK, "params"}

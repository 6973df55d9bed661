"""The statements of a module, and which of them belong to the work of some of its names."""

from __future__ import annotations

import ast
import os
from operator import attrgetter

from .harmless import Harmless, is_of_makers, origin
from .plain import PlainStatements
from .statements import Statement, binders_of, inner_names, is_unseen
from .stripping import is_main, strip, told_apart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from .file_text import FileText


class Module:
    """The text of a module, statement by statement.

    Args:
        place: its path for people.
        replaces: tells whether another module is imported in place of one of Python's own.
        text: knows which of its names are benchmarks.
        is_helper: whether it is not the benchmark file.
    """

    def __init__(
        self,
        path: str,
        place: str,
        replaces: Callable[[str], bool],
        text: FileText,
        *,
        is_helper: bool = False,
    ) -> None:
        self.name = os.path.basename(path)
        self.place = place
        self.folder = os.path.dirname(path)
        found = parsed(path, is_helper=is_helper)
        # This Python may never import what it cannot read; if that changes, it is told.
        self.is_read = found is not None
        tree = found or ast.Module(body=[], type_ignores=[])
        nodes = told_apart(tree)
        if not is_helper:
            nodes = text.apart(nodes)
        bound = binders_of(nodes)
        programs = [] if "__name__" in bound else list(filter(is_main, nodes))
        every, nodes = nodes, [each for each in nodes if each not in programs]
        self.harmless = Harmless(bound, inner_names(nodes), replaces)
        plain = PlainStatements(nodes, bound, self.harmless, text.is_benchmark)
        others = [*plain.others, *programs]
        # A statement that is not plain is read as a whole, with what is no work.
        wholes = {id(each): ast.dump(each) for each in others}
        # What other modules do with the functions of a helper is not known.
        if not is_helper and not any(map(is_unseen, ast.walk(tree))):
            strip(tree)
        self.every = [Statement(each, wholes.get(id(each), "")) for each in every]
        self.statements = [each for each in self.every if each.node not in programs]
        self.reached: dict[str, set[str]] = {}
        self.binders = binders = by_name(self.statements, attrgetter("binds"))
        # Names of objects that a call may alter.
        self.data = {
            name
            for name, found in binders.items()
            if not all(s.is_definition or s.is_import or s.is_frozen for s in found)
        }
        # Those among them that are not used up by reading them.
        self.lasting = {name for name in self.data if all(s.is_lasting for s in binders[name])}
        # Names of modules, and of what is in them, that code at import may alter.
        self.imports = {
            name
            for name, found in binders.items()
            if all(s.is_import for s in found)
            and not all(is_of_makers(origin(s.node)) for s in found)
        }
        self.unknown = {id(each): self.unknown_in(each) for each in self.statements}
        self.benchmarks = set(filter(text.is_benchmark, binders))
        self.others = self.benchmarks | self.data
        self.positions = {id(each): index for index, each in enumerate(self.statements)}
        self.touchers = by_name(self.statements, self.touched)
        self.sees = {id(each) for each in self.statements if self.is_unseen(each)}
        self.effects = self.without_purpose()

    def without_purpose(self) -> list[Statement]:
        """Return the statements that do something, but not for a name that is used elsewhere."""
        used: dict[str, set[int]] = {}
        for each in self.statements:
            for name in each.uses | each.alters:
                used.setdefault(name, set()).add(id(each))
        return [
            each
            for each in self.statements
            if self.acts(each) and not each.is_import and not each.binds & self.benchmarks
            if not any(used.get(name, set()) - {id(each)} for name in each.binds)
        ]

    def unknown_in(self, each: Statement) -> list[ast.expr]:
        """Return what a statement runs at once and is not known to alter nothing."""
        harmless = self.harmless
        found = [one for one in each.calls if not harmless.is_call(one)]
        found += [one for one in each.decorators if not harmless.is_decorator(one)]
        return found + [one for one in each.bases if not harmless.is_base(one)]

    def acts(self, each: Statement) -> bool:
        """Tell whether a statement may alter something else than the objects that it names."""
        imports = each.is_import or (each.is_definition and bool(each.imports))
        # Such as `with project.fast: ...`, or an operator of the project.
        implies = bool(each.whole) and not (each.runs or each.bases or each.imports)
        calls = bool(each.whole) and bool(self.unknown[id(each)])
        return each.changes or imports or implies or calls

    def subjects(self, each: Statement) -> set[str]:
        """Return the names that show whom a statement concerns: for a definition, who gets it."""
        if not each.is_definition:
            return each.mentions | each.alters
        makers = (one.func if isinstance(one, ast.Call) else one for one in self.unknown[id(each)])
        return each.alters | {name for one in makers for name in names_in(one)}

    def export(self, names: set[str]) -> None:
        """Note names that other modules use: what makes their objects is work of those alone.

        A decorator may do more than make an object, so it stays an effect.
        """
        self.effects = [
            each
            for each in self.effects
            if not each.binds & names or any(o in self.unknown[id(each)] for o in each.defining)
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
        if not each.whole and any(each.attributes_of(name) for name in found & self.benchmarks):
            return found
        for name in each.alters:  # through another name for the same object
            objects = self.data if name in self.benchmarks else self.others
            found |= self.reach(name) & objects
        if each.is_import or not (each.acts or self.unknown[id(each)]):
            return found
        # Functions of Python leave lists and the like as they are.
        only_reads = not each.whole and not each.calls_methods
        for name in each.mentions - (self.lasting if only_reads else set()):
            # A benchmark that is only passed on is not called, so what it uses is not altered.
            handed_on = name in self.benchmarks and name not in each.called
            found |= {name} if handed_on else self.reach(name) & self.others
        unknown = self.unknown[id(each)]
        for one in each.defining:
            if one in unknown:
                found |= self.altered_by(one)
        return found

    def altered_by(self, maker: ast.expr) -> set[str]:
        """Return the names, beyond data, whose objects a decorator may alter: it may register."""
        names = names_in(maker)
        method = maker.func if isinstance(maker, ast.Call) else maker
        own = names if isinstance(method, ast.Attribute) else set()
        return own.union(*(self.reach(name) & self.imports for name in names))

    def is_unseen(self, each: Statement) -> bool:
        """Tell whether a statement may reach, when it runs, any name of the module."""
        if each.is_unseen or not (each.acts or self.unknown[id(each)]):
            return each.is_unseen
        reached = {n for name in each.mentions for n in self.reach(name)}
        return any(s.hides for name in reached for s in self.binders.get(name, ()))

    def effects_on(self, own: str) -> set[int]:
        """Return the statements with effects that the module's names do not show."""
        return {
            id(s)
            for s in self.effects
            if own in s.mentions or not (self.subjects(s) & self.others) - {own}
        }

    def work_of(
        self, names: Iterable[str], own: str = "", known: Collection[str] = ()
    ) -> list[Statement]:
        """Return the statements that belong to the work of some names.

        Args:
            own: the benchmark; others belong to its work only if its functions use them.
            known: attributes of the benchmark that do not count.
        """
        left_out = set()
        for each in self.touchers.get(own, ()):
            attributes = each.attributes_of(own)
            if attributes and attributes <= set(known):
                left_out.add(id(each))
        for_all = self.effects_on(own) | self.sees
        pending = self.in_order(for_all)
        wanted = set(names)
        unread = set(names)
        found: set[int] = set()
        while pending or unread:
            if not pending:
                name = unread.pop()
                pending = [*self.binders.get(name, ()), *self.touchers.get(name, ())]
                continue
            each = pending.pop()
            if id(each) in found or id(each) in left_out:
                continue
            found.add(id(each))
            needed = self.needs(each, own)
            unread |= needed - wanted
            wanted |= needed
            if each.hides and each.is_definition and id(each) not in for_all:
                pending += [one for one in self.statements if not one.binds & self.benchmarks]
        return self.in_order(found)

    def in_order(self, ids: set[int]) -> list[Statement]:
        """Return the statements of the module that are meant, in its order."""
        found = sorted(self.positions[id_] for id_ in ids if id_ in self.positions)
        return [self.statements[index] for index in found]

    def needs(self, each: Statement, own: str) -> set[str]:
        """Return the names that a statement uses; merely naming a benchmark does not count."""
        if each.is_definition:
            return each.uses
        return {name for name in each.uses if name == own or name not in self.benchmarks}


def parsed(path: str, *, is_helper: bool) -> ast.Module | None:
    """Return the tree of a file; None if it is a helper that this Python cannot read.

    Raises:
        SyntaxError, ValueError: it is the benchmark file, and not Python.
    """
    with open(path, "rb") as file:
        text = file.read()
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        if not is_helper:
            raise
        return None


def by_name(
    statements: Iterable[Statement], names_of: Callable[[Statement], Iterable[str]]
) -> dict[str, list[Statement]]:
    """Return the statements that have to do with each name."""
    found: dict[str, list[Statement]] = {}
    for each in statements:
        for name in names_of(each):
            found.setdefault(name, []).append(each)
    return found


def names_in(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}

"""Finds the code that belongs to a benchmark's work: the statements that it uses by name.

A benchmark's definition is its function, what the function uses, and statements that change what
it uses, but not the other benchmarks of its file. So adding a benchmark changes no other. Modules
in the same folder count like the file itself, and completely if they are imported by other code.
The project's own modules do not count, because they are what is measured.
"""

from __future__ import annotations

import ast
import os
from hashlib import sha256

from .bystanders import Bystanders, concerns
from .helpers import Helpers
from .module_text import Module, names_in
from .statements import NO_WORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from .file_text import FileText
    from .statements import Statement

OWN_FUNCTION = "its function"
IMPORTED = "{}, which is imported"
ON_IMPORT = "what runs when {} is imported"


class Workloads:
    """Finds the work of each benchmark of a file.

    Args:
        path: the benchmark file.
        helpers: folder whose modules belong to the benchmarks; None if there is none.
        folders: where modules are looked for, in this order.
        text: knows which names of the file are benchmarks.

    Raises:
        SyntaxError, ValueError: the file is not Python.
    """

    def __init__(
        self,
        path: str,
        helpers: str | None,
        folders: list[str],
        text: FileText,
    ) -> None:
        self.helpers = Helpers(helpers, folders, text.others)
        self.text = text
        self.modules: dict[str, Module] = {}
        self.path = path
        self.known_others: dict[str, list[tuple[int, str, str]]] = {}
        self.file = self.module(path)
        # By path the other files of the benchmarks that importing the file imports at once, with
        # the line that imports them.
        self.loaded: dict[str, int] = {}
        for each in self.file.statements:
            self.load(self.file, each, each.line)
        for also in self.text.also:
            self.load_file(also, 1)
        for module in [self.file, *map(self.module, self.loaded)]:
            self.note_exports(module)
        imported = [self.modules[each] for each in sorted(self.loaded)]
        self.bystanders = Bystanders([self.file, *imported])
        own = {os.path.realpath(path), *(each for each in self.loaded if self.module(each).is_read)}
        self.files = [
            (digest(f"{place}\0{content_of(each)}"), place)
            for each, place in self.helpers.files()
            if each not in own
        ]
        self.effects = {helper: self.module(helper).work_of(()) for helper in self.loaded}
        self.known = {
            (name, with_params): self.read_parts(name, with_params=with_params)
            for name in self.file.benchmarks
            for with_params in (False, True)
        }

    def module(self, path: str) -> Module:
        if path not in self.modules:
            place, is_helper = self.helpers.place_of(path), path != self.path
            self.modules[path] = Module(
                path, place, self.helpers.replaces, self.text, is_helper=is_helper
            )
        return self.modules[path]

    def load(self, module: Module, statement: Statement, line: int) -> None:
        """Find the modules that a statement imports at once, and what these import in turn."""
        for node in statement.imports:
            for path, _ in self.helpers.run_by(module, node, []):
                self.load_file(path, line)

    def load_file(self, path: str, line: int) -> None:
        if path not in self.loaded:
            self.loaded[path] = line
            helper = self.module(path)
            for each in helper.statements:
                self.load(helper, each, line)

    def note_exports(self, importer: Module) -> None:
        for each in importer.statements:
            for node in each.all_imports:
                for path, names in self.helpers.imported(importer, node, importer.statements):
                    self.module(path).export(names)

    def params(self, name: str, positions: dict[str, int]) -> WrittenParams | None:
        """Return the values of `params` as they are written; None if they are not, in one place.

        Args:
            positions: of the values in their lists.
        """
        found = [each for each in self.file.touchers.get(name, ()) if each.sets(name, "params")]
        value = found[0].node.value if len(found) == 1 else None  # type: ignore[attr-defined]
        if not isinstance(value, ast.Dict):
            return None
        elements = []
        for key, values in zip(value.keys, value.values):
            position = positions.get(getattr(key, "value", ""))
            if position is None or not isinstance(values, (ast.List, ast.Tuple)):
                return None
            if any(isinstance(each, ast.Starred) for each in values.elts):
                return None
            elements.append(values.elts[position])
        return WrittenParams(elements)

    def parts(
        self,
        name: str,
        *,
        with_params: bool,
        uses: Collection[str] = (),
        borrowed: Collection[tuple[str, str]] = (),
    ) -> dict[str, str]:
        """Return the parts of a benchmark's work: digests by a name that people understand.

        Args:
            name: of the function; one that the text does not show is read only now.
            with_params: whether its values of `params` are known by their definition alone.
            uses: other names that it uses.
            borrowed: names that it uses in other files, by path.
        """
        known = None if uses or borrowed else self.known.get((name, with_params))
        if known is not None:
            return dict(known)
        return self.read_parts(name, uses, borrowed, with_params=with_params)

    def read_parts(
        self,
        name: str,
        uses: Collection[str] = (),
        borrowed: Collection[tuple[str, str]] = (),
        *,
        with_params: bool,
    ) -> dict[str, str]:
        known = NO_WORK if with_params else {*NO_WORK, "params"}
        included = self.file.work_of({name, *uses}, name, known)
        texts: dict[str, list[str]] = {}
        for each in included:
            text = without(name, self.text_of(self.file, each))
            texts.setdefault(self.label(self.file, each, name), []).append(text)
        seen: set[tuple[str, str | int]] = set()
        self.follow(self.file, included, texts, seen)
        for path, other in sorted(borrowed):
            self.add(path, self.module(path).work_of({other}), texts, seen)
        for path in self.loaded:
            self.add(path, self.effects[path], texts, seen)
        return {label: digest("\0".join(found)) for label, found in texts.items()}

    def text_of(self, module: Module, each: Statement) -> str:
        """Return a statement's text, independent of where the folder of the benchmarks is."""
        node = each.node
        if isinstance(node, ast.ImportFrom):
            for path, _ in self.helpers.imported(module, node, []):
                where = os.path.relpath(path, self.helpers.folder)
                return f"from {where} import {', '.join(map(ast.dump, node.names))}"
        return each.text

    def defines(self, name: str) -> bool:
        """Tell whether the text of the file shows the function of this name."""
        found = self.file.binders.get(name, ())
        return bool(found) and all(each.is_definition for each in found)

    def common(self) -> list[tuple[int, str, str]]:
        """Return what may change what any benchmark measures.

        Returns:
            Its positions in the order in which it runs, digests, and places. Files come last that
            lie beside the file and that it does not import: something may import them when a
            benchmark runs.
        """
        found = [self.bystander(index, "") for index in sorted(self.bystanders.always)]
        count = len(self.bystanders.entries)
        return found + [(count, *each) for each in self.files]

    def others(self, name: str) -> list[tuple[int, str, str]]:
        """Return what else may change what one benchmark measures, in the same form."""
        if name not in self.known_others:
            self.known_others[name] = [
                self.bystander(index, name)
                for index in self.bystanders.of(name)
                if concerns(self.bystanders.entries[index][1], name)
            ]
        return self.known_others[name]

    def bystander(self, index: int, name: str) -> tuple[int, str, str]:
        module, each = self.bystanders.entries[index]
        text = without(name, each.whole or each.text) if name else each.whole or each.text
        place = f"line {each.line}" if module is self.file else module.place
        return index, digest(f"{module.place}\0{text}"), place

    def hidden(self, files: Iterable[str]) -> dict[str, str]:
        """Return parts for files of the benchmarks that the text does not import, but others did.

        They belong to every benchmark as a whole, because nobody knows who uses them.

        Args:
            files: real paths of all modules that were imported.
        """
        known = {os.path.realpath(path) for path in (self.path, *self.loaded, *self.text.others)}
        found = {}
        for path in sorted({*files} - known):
            if self.helpers.include(path):
                label = IMPORTED.format(os.path.relpath(path, self.helpers.folder))
                found[label] = digest(content_of(path))
        return found

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
            for node in each.all_imports:
                for path, wanted in self.helpers.run_by(module, node, included):
                    found = self.module(path)
                    names = wanted
                    if not wanted <= found.binders.keys():
                        names = found.binders.keys() - {"__doc__"}
                    new = {name for name in names if (path, name) not in seen}
                    if not new and (path, "") in seen:
                        continue
                    seen.update((path, name) for name in (*new, ""))
                    self.add(path, found.work_of(new), texts, seen)

    def add(
        self,
        path: str,
        needed: list[Statement],
        texts: dict[str, list[str]],
        seen: set[tuple[str, str | int]],
    ) -> None:
        """Add statements of a module, and what they need of others."""
        module = self.module(path)
        for one in needed:
            if (path, id(one)) not in seen:
                seen.add((path, id(one)))
                texts.setdefault(self.label(module, one), []).append(self.text_of(module, one))
        self.follow(module, needed, texts, seen)


class WrittenParams:
    """The values of a benchmark's `params`, as its file writes them."""

    def __init__(self, elements: Sequence[ast.expr]) -> None:
        self.text = " ".join(map(ast.dump, elements))
        self.names = {name for each in elements for name in names_in(each)}


def without(name: str, text: str) -> str:
    """Return a text without the name of its benchmark, which may be renamed."""
    return text.replace(repr(name), "'\0'")


def content_of(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("latin-1")
    except OSError:  # a module may claim to come from a file that does not exist
        return ""


def digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:16]

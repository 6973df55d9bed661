"""Finds the benchmarks' own modules that code imports, and what it uses of them."""

from __future__ import annotations

import ast
import os
from importlib.machinery import EXTENSION_SUFFIXES

# Folders whose files are not imported, or that Python itself writes.
NO_CODE = ("__pycache__", ".git", "node_modules")
MOST_FILES = 1000

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from .module_text import Module
    from .statements import Statement


class Helpers:
    """The modules that belong to the benchmarks.

    Args:
        helpers: folder where they are; None if there are none.
        folders: where modules are looked for, in this order.
        others: real paths of files with other benchmarks.
    """

    def __init__(
        self, helpers: str | None, folders: list[str], others: Collection[str] = ()
    ) -> None:
        self.folder = os.path.join(os.path.realpath(helpers), "") if helpers else ""
        self.folders = folders
        self.others = others
        self.known: dict[str, bool] = {}

    def replaces(self, name: str) -> bool:
        """Tell whether these folders have a module that is imported in place of one of Python's."""
        if name not in self.known:
            self.known[name] = any(
                os.path.exists(os.path.join(folder, name) + suffix)
                for folder in self.folders
                for suffix in ("", ".py", ".pyc", *EXTENSION_SUFFIXES)
            )
        return self.known[name]

    def include(self, path: str) -> bool:
        """Tell whether a file, given by its real path, is one of them."""
        return bool(self.folder) and path.startswith(self.folder)

    def place_of(self, path: str) -> str:
        """Return the path of a file in the folder; only its name if it is elsewhere."""
        real = os.path.realpath(path)
        return os.path.relpath(real, self.folder) if self.include(real) else os.path.basename(path)

    def files(self) -> list[tuple[str, str]]:
        """Return the code in the folder, but for files of benchmarks: real paths, and places."""
        found = []
        for folder, folders, names in os.walk(self.folder) if self.folder else ():
            folders[:] = sorted(each for each in folders if each not in NO_CODE)
            for name in sorted(names):
                path = os.path.realpath(os.path.join(folder, name))
                is_code = name.endswith((".py", ".pyc", *EXTENSION_SUFFIXES))
                is_other = path in self.others or (
                    name.startswith("bench_") and defines_benchmarks(path)
                )
                if is_code and not is_other:
                    found.append((path, os.path.relpath(os.path.join(folder, name), self.folder)))
            if len(found) > MOST_FILES:
                break
        return found[:MOST_FILES]

    def run_by(
        self, module: Module, node: ast.AST, included: list[Statement]
    ) -> list[tuple[str, set[str]]]:
        """Return the files that an import runs, and the names that are used of each."""
        return self.imported(module, node, included) + self.packages(module, node)

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

    def where(self, top: str) -> list[str]:
        """Return the folders to search: a module anywhere goes before a folder that is none."""
        files = [f"{top}{suffix}" for suffix in (".py", *EXTENSION_SUFFIXES)]
        files.append(os.path.join(top, "__init__.py"))
        for folder in self.folders:
            if any(os.path.isfile(os.path.join(folder, each)) for each in files):
                return [folder]
        return self.folders

    def find(self, module: Module, name: str) -> str | None:
        """Find the file of a module that belongs to the benchmarks."""
        if not self.folder:
            return None
        relative = name.lstrip(".")
        level = len(name) - len(relative)
        folders = self.where(relative.partition(".")[0])
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
                    return real if self.include(real) else None
        return None


def defines_benchmarks(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return b"def bench_" in file.read()
    except OSError:
        return False


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

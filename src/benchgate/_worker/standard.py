"""Keeps the standard library usable for this program when the user has modules of the same names.

The user's code may also replace modules, or empty `sys.path`. So whatever is imported after the
user's code is imported like this, and used like this if it imports more by itself:

    with STANDARD_LIBRARY:
        import tokenize
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import BuiltinImporter, FrozenImporter, PathFinder
from itertools import takewhile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from types import ModuleType

find = PathFinder.find_spec
# As sys.path spells it, because the origins of modules are spelled like that.
FOLDER = os.path.dirname(getattr(find("os"), "origin", None) or os.__file__)
FOLDERS = [FOLDER, os.path.join(FOLDER, "lib-dynload")]


class StandardLibrary:
    """Sets the user's modules aside in a `with` block, and this program's modules after it.

    Create it before the user's code is loaded.
    """

    def __init__(self) -> None:
        self.path = frozenset(sys.path)
        # Modules of this program, while the user's code has their names.
        self.hidden: dict[str, ModuleType] = {}
        # By name a module that was seen, and whether it replaces one of the standard library.
        self.seen: dict[str, tuple[ModuleType, bool]] = {}

    def hide(self, known: Collection[str], names: Collection[str] = ()) -> None:
        """Hide modules from the user's code, if the user has others of the same names.

        Args:
            known: names of the modules that stay.
            names: top-level names that the user's code is known to have.
        """
        new = sys.modules.keys() - known
        ahead = [*takewhile(lambda folder: folder not in self.path, sys.path)]
        taken = {name for name in new if "." not in name and find(name, ahead)}
        self.hidden = move_out(new, taken.union(names))

    def __enter__(self) -> None:
        self.users_path, sys.path = sys.path, [*FOLDERS, *sys.path]
        loaded = list(sys.modules.items())
        replaced = {name for name, one in loaded if "." not in name and self.replaces(name, one)}
        self.names = replaced.union(top_level(name) for name in self.hidden)
        self.users = move_out(list(sys.modules), self.names)
        self.known = frozenset(sys.modules)
        sys.modules.update(self.hidden)

    def replaces(self, name: str, module: ModuleType) -> bool:
        seen = self.seen.get(name)
        if seen is None or seen[0] is not module:
            seen = self.seen[name] = module, is_replaced(name)
        return seen[1]

    def __exit__(self, *_: object) -> None:
        sys.path = self.users_path
        self.hide(self.known, self.names)
        sys.modules.update(self.users)


def move_out(names: Collection[str], taken: Collection[str]) -> dict[str, ModuleType]:
    """Remove those of these modules whose top-level names are taken; return them."""
    return {name: sys.modules.pop(name) for name in names if top_level(name) in taken}


def top_level(name: str) -> str:
    return name.partition(".")[0]


def is_replaced(name: str) -> bool:
    """Tell whether a loaded module has the name of one in the standard library, but is another."""
    try:
        # Not getattr, which would load a lazy module.
        found = object.__getattribute__(sys.modules[name], "__spec__")
        loader, origin = found.loader, found.origin
    except (AttributeError, KeyError):
        loader = origin = None
    if loader in (BuiltinImporter, FrozenImporter):
        return False
    spec = find(name, FOLDERS)
    return spec.origin != origin if spec else name in sys.builtin_module_names


STANDARD_LIBRARY = StandardLibrary()

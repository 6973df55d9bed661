"""Finds out where the imported modules came from."""

from __future__ import annotations

import os
import sys

from .loading import prefixes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


class Origins:
    """Finds out where the modules of this process came from.

    Args:
        request: `forbidden` trees, which are not this arm's; `root` and other `own` folders,
            which are; `provided`, top-level names that the arm's tree has itself; `helpers` and
            `file`, which are the benchmarks', and not what they measure.
        loaded_by_python: names of the modules that Python itself has imported.
    """

    def __init__(self, request: dict[str, Any], loaded_by_python: frozenset[str]) -> None:
        own = [*request["own"], *([sys.prefix] if request["own_interpreter"] else [])]
        self.own = prefixes_of(own)
        self.root = prefixes_of([request["root"]])
        self.forbidden = prefixes_of(request["forbidden"])
        # An interpreter inside such a tree, e.g. in a virtual environment, is not part of it.
        python = prefixes_of((sys.prefix, sys.base_prefix))
        self.inner = tuple(p for p in python if p.startswith(self.forbidden))
        self.standard = prefixes_of([os.path.dirname(os.__file__)])
        self.benchmarks = prefixes_of([request["helpers"]] if request["helpers"] else [])
        self.file = os.path.realpath(request["file"])
        self.provided = frozenset(request["provided"])
        self.loaded_by_python = loaded_by_python
        self.seen: set[str] = set()
        self.packages: dict[str, str] = {}
        self.measured: dict[str, str] = {}
        self.has_own = False

    def leave_out(self, names: Iterable[str]) -> None:
        """Take modules that only a tool needs for no part of the work, but the tree's own."""
        tools = {name for name in names if name.partition(".")[0] not in self.provided}
        self.loaded_by_python |= tools

    def look(self) -> dict[str, Any]:
        """Look at the modules that were imported since the last look, without this program.

        Returns:
            `foreign`, of the forbidden trees, and `elsewhere`, of those that the arm's tree has
            itself: [name, file]. `packages`: the same of all that is installed, but for the
            standard library, and not only of late; `shared`: names of those that are not the
            arm's; `has_own`: whether any module is the arm's. `own`: [name, file] of the arm's
            modules that its tree provides.
        """
        new = sorted(sys.modules.keys() - self.seen - {"__main__"})
        self.seen.update(new)
        foreign, elsewhere = [], []
        for name in new:
            path = file_of(name)
            if not path:
                continue
            if path.startswith(self.forbidden) and not path.startswith(self.inner):
                foreign.append([name, path])
            is_own = path.startswith(self.own)
            if is_own and path != self.file and not path.startswith(self.benchmarks):
                self.has_own = True
            if is_own and name in self.provided:
                self.measured[name] = path
            if "." not in name and self.is_package(name, path):
                self.packages[name] = path
                if name in self.provided and not is_own:
                    elsewhere.append([name, path])
        return {
            "foreign": foreign,
            "elsewhere": elsewhere,
            "packages": sorted(self.packages.items()),
            "shared": sorted(
                n for n, path in self.packages.items() if not path.startswith(self.own)
            ),
            "has_own": self.has_own,
            "own": sorted(self.measured.items()),
        }

    def is_package(self, name: str, path: str) -> bool:
        """Tell whether a module is installed: it belongs neither to the tree nor to Python."""
        places = os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep
        is_elsewhere = not path.startswith(self.root + self.standard)
        is_installed = is_elsewhere or any(place in path for place in places)
        return is_installed and name not in self.loaded_by_python


def file_of(name: str) -> str:
    """Return the real path of a module's file; "" if it has none."""
    try:
        # Not getattr, which would load a lazy module.
        file = object.__getattribute__(sys.modules[name], "__file__")
    except (AttributeError, KeyError):
        return ""
    return os.path.realpath(file) if isinstance(file, str) else ""

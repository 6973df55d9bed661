"""Watches the places that both arms share: an interpreter, and what is imported from it.

One side can change there what the other runs: by accident, if a build installs into that
interpreter, or on purpose. Files are compared by size, time and place.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchgate.measure.trees.file_state import IMPORTABLE, entries_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_MOST_FILES = 20_000
_ALWAYS_RUN = ("sitecustomize", "usercustomize")
_PATHS = ".pth"

_Signature = tuple[int, int, int]


class SharedPlaces:
    """Remembers what workers say that they import from, and compares it later.

    Args:
        own: folders that belong to one side; see `Witness` for these.
    """

    def __init__(self, own: Iterable[Path]) -> None:
        self._own = tuple(f"{os.path.realpath(folder)}{os.sep}" for folder in own)
        self._files: dict[str, _Signature | None] = {}
        self._folders: dict[str, None] = {}

    def add(self, hello: Mapping[str, Any]) -> None:
        """Note what a worker may import, as far as it is not known yet.

        Args:
            hello: its first reply.
        """
        for folder in hello["folders"]:
            if self._is_shared(folder) and folder not in self._folders:
                self._folders[folder] = None
                self._note(_run_at_start(folder))
        packages = dict(hello["packages"])
        for name in hello["shared"]:
            file = packages.get(name, "")
            if file not in self._files and self._is_shared(file):
                self._note([file])
                package = Path(file)
                if package.stem == "__init__":
                    below = entries_below(package.parent)
                    self._note(e.path for e in below if e.name.endswith(IMPORTABLE))

    def changes(self) -> tuple[str, ...]:
        """Say which files were changed, removed or added since."""
        found = []
        for path, before in self._files.items():
            now = _signature(path)
            if now != before:
                what = "removed" if now is None else "changed"
                found.append(f"{path} was {what}, and both sides import it")
        for folder in self._folders:
            found += [
                f"{path} was added, and Python runs it when it starts, on both sides"
                for path in _run_at_start(folder)
                if path not in self._files
            ]
        return tuple(found)

    def _is_shared(self, path: str) -> bool:
        return bool(path) and not f"{os.path.realpath(path)}{os.sep}".startswith(self._own)

    def _note(self, paths: Iterable[str]) -> None:
        for path in paths:
            if len(self._files) >= _MOST_FILES:
                return
            if path not in self._files:
                self._files[path] = _signature(path)


def _run_at_start(folder: str) -> list[str]:
    """Find the files of a folder of `sys.path` that Python runs whenever it starts."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - strings, as workers give them
    except OSError:
        return []
    return [
        os.path.join(folder, name)  # noqa: PTH118 - as above
        for name in sorted(names)
        if name.endswith(_PATHS)
        or (
            name.partition(".")[0] in _ALWAYS_RUN and (name.endswith(IMPORTABLE) or "." not in name)
        )
    ]


def _signature(path: str) -> _Signature | None:
    try:
        seen = os.stat(path)  # noqa: PTH116 - thousands of strings in each round
    except OSError:
        return None
    return seen.st_size, seen.st_mtime_ns, seen.st_ino

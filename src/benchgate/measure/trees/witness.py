"""Remembers the files of one arm that must stay the same while its benchmarks run.

These are every file of the commit, in its state after `[build]`, and all code that is then in the
tree and in the arm's environment. Other files may appear, change and disappear.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.git.repository import Git
from benchgate.measure.trees.file_state import (
    CACHED_CODE,
    COMPILED,
    IMPORTABLE,
    MOST_READ_BYTES,
    FileState,
    entries_below,
    is_importable,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from benchgate.measure.arm import Arm

_ENV = "{env}/"
_PACKAGES = {"site-packages", "dist-packages"}
_MOST_READ_FILES = 10_000
_MOST_ASKED_OF_GIT = 20


class Witness:
    """Remembers the files of one arm, and compares them later.

    Args:
        checked_out: paths of the commit's files.

    Attributes:
        seen: state of the files that must not change, by path.
        touched: names of the commit's files that were written to but have the same content.
    """

    def __init__(self, arm: Arm, checked_out: Iterable[str]) -> None:
        self.arm = arm
        self.checked_out = frozenset(checked_out)
        self.seen: dict[str, FileState] = {}
        self.touched: dict[str, None] = {}
        self._root, self._env = (f"{folder}{os.sep}" for folder in (arm.root, arm.env))

    def remember(self) -> None:
        """Record the arm's files: after its `[build]`, before anything could change them."""
        self.seen.clear()
        code = (e.path for e in _entries(self.arm.root, self.arm.env) if _is_code(e))
        paths = {*self.checked_out, *code}
        found = [(path, seen) for path in paths if (seen := FileState.of(path))]
        left_bytes = MOST_READ_BYTES
        for index, (path, seen) in enumerate(sorted(found, key=lambda one: (one[1].size, one[0]))):
            left_bytes -= seen.size
            is_read = left_bytes >= 0 and index < _MOST_READ_FILES
            self.seen[path] = seen.read(path) if is_read else seen

    def look_again(self, moved: Iterable[str] | None = None) -> None:
        """Record the files of the tree again after benchgate has moved them.

        Args:
            moved: the files that were moved; None if it may be any.
        """
        for path in list(self.seen) if moved is None else moved:
            before = self.seen.get(path) if path.startswith(self._root) else None
            now = FileState.of(path) if before else None
            # If anything else differs, the file was changed; keep its old state so that this is
            # found.
            if before and now and now.looks_like(before, moved=True):
                self.seen[path] = now._replace(digest=before.digest)

    def expect(self, replaced: Collection[str]) -> None:
        """Record files that benchgate has replaced or removed; forget what they were compiled to.

        Args:
            replaced: paths.
        """
        if not replaced:
            return
        stems = {path.removesuffix(".py") for path in replaced if path.endswith(".py")}
        for path in [p for p in self.seen if p.endswith(COMPILED) and _source_stem(p) in stems]:
            del self.seen[path]
        for path in replaced:
            self.seen.pop(path, None)
            if (seen := FileState.of(path)) and not stat.S_ISDIR(seen.mode):
                self.seen[path] = seen.read(path)

    def changes_of_tree(self) -> list[str]:
        """Report changes in the tree, as far as times and places of files show them."""
        return list(self._changes(self.arm.root, read_all=False))

    def changes(self) -> list[str]:
        """Report changes in the tree and the environment, by the content of the files."""
        return list(self._changes(self.arm.root, self.arm.env, read_all=True))

    def name(self, path: str) -> str:
        """Return a file's name for a reader."""
        if path.startswith(self._env):
            return _ENV + path.removeprefix(self._env)
        return path.removeprefix(self._root)

    def path_of(self, name: str) -> str:
        """Return the file for a name from `name`."""
        if name.startswith(_ENV):
            return self._env + name.removeprefix(_ENV)
        return self._root + name

    def is_installed(self, path: str) -> bool:
        """Whether the file was installed into the arm's environment."""
        inside = path.removeprefix(self._env)
        return inside != path and not _PACKAGES.isdisjoint(Path(inside).parts)

    def _changes(self, *folders: Path, read_all: bool) -> Iterator[str]:
        inside = self._root if not read_all else ""
        for path, before in self.seen.items():
            if path.startswith(inside) and (what := self._change(path, before, read_all=read_all)):
                yield f"{_shown(self.name(path))} was {what}"
        added = []
        for entry in _entries(*folders):
            if self._is_added(entry):
                added.append(entry.path)
            if self._is_compiled(entry) and entry.path not in self.seen:
                seen = FileState.of(entry.path)
                if seen:
                    self.seen[entry.path] = seen.read(entry.path)
        for path in self._not_ignored(added):
            yield f"{_shown(self.name(path))} was added, and an import can find it"

    def _change(self, path: str, before: FileState, *, read_all: bool) -> str:
        """Say in one word what happened to a file; "" if nothing did."""
        now = FileState.of(path)
        if now is None:
            is_program = not path.endswith(IMPORTABLE) and path not in self.checked_out
            # A missing program is noticed when it is started.
            return "" if is_program or path.endswith(COMPILED) else "removed"
        if not read_all and now.looks_like(before):
            return ""
        if before.digest is not None:
            now = now.read(path)
        if not now.has_content_of(before):
            return "changed"
        if not now.looks_like(before) and path in self.checked_out:
            self.touched[_shown(self.name(path))] = None
        return ""

    def _is_added(self, entry: os.DirEntry[str]) -> bool:
        if entry.path in self.seen or not is_importable(entry):
            return False
        return entry.path.startswith(self._root) or self.is_installed(entry.path)

    def _is_compiled(self, entry: os.DirEntry[str]) -> bool:
        """Whether Python compiled it from code that must not change."""
        if not entry.name.endswith(COMPILED):
            return False
        return f"{_source_stem(entry.path)}.py" in self.seen

    def _not_ignored(self, added: list[str]) -> Iterator[str]:
        """Leave out files that git ignores in the tree: build folders and caches."""
        git = Git(self.arm.root)
        for path in added[:_MOST_ASKED_OF_GIT]:
            ignored = None
            if path.startswith(self._root):
                with suppress(UsageError):
                    ignored = git.ask("check-ignore", "--quiet", "--", path)
            if ignored is None:
                yield path


def _source_stem(compiled: str) -> str:
    """The path of the source that Python compiled, without its suffix; "" if that is unknown."""
    folder, name = os.path.split(compiled)
    place, cache = os.path.split(folder)
    return os.path.join(place, name.partition(".")[0]) if cache == CACHED_CODE else ""  # noqa: PTH118 - many strings


def _entries(*folders: Path) -> Iterator[os.DirEntry[str]]:
    """Go through what is below some folders; a list of it would be large in a large tree."""
    return (entry for folder in folders for entry in entries_below(folder))


def _shown(name: str) -> str:
    """Write a file's name on one line, whatever characters it has."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _is_code(entry: os.DirEntry[str]) -> bool:
    if is_importable(entry) or entry.name == "pyvenv.cfg":
        return True
    status = entry.stat(follow_symlinks=False)
    return stat.S_ISREG(status.st_mode) and bool(status.st_mode & stat.S_IXUSR)

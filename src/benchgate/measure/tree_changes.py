"""Detects changes of files that must stay the same while benchmarks run.

These are every file of the commit, in its state after `[build]`, and all code that is then in the
tree and in the arm's environment. Other files may appear, change and disappear.

Parts of a round that are measured at the same time share the tree of their side. A file that a
benchmark writes there, for itself alone, would then be written by two processes at once.

If both sides share an interpreter, one of them can change what the other runs: by accident, if a
build installs into that interpreter, or on purpose. Files are compared by size, time and place.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from benchgate.errors import UsageError
from benchgate.git.repository import Git

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from benchgate.measure.engine import Arm


CACHED_CODE = "__pycache__"
_WORKTREE = ".git"


def entries_below(top: Path | str) -> Iterator[os.DirEntry[str]]:
    """Yield everything below a folder, each folder before its content; do not follow links."""
    waiting = [os.fspath(top)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                found = list(entries)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:  # programs that use paths cannot find it either
                raise
            continue
        yield from found
        waiting += [entry.path for entry in found if entry.is_dir(follow_symlinks=False)]


def content_digest(root: Path) -> str:
    """64 hex digits that change if a name, a mode or the content of a file below changes."""
    text = json.dumps(list(content(root))).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()


def content(root: Path) -> Iterator[tuple[str, int, str]]:
    """Every file of a tree with its mode and a digest of its content, in order of the names."""
    for entry in sorted(entries_below(root), key=lambda entry: entry.path):
        if entry.name == _WORKTREE:
            continue
        mode = entry.stat(follow_symlinks=False).st_mode
        digest = ""
        if stat.S_ISLNK(mode):
            digest = os.readlink(entry.path)  # noqa: PTH115 - as text
        elif stat.S_ISREG(mode):
            with open(entry.path, "rb") as file:  # noqa: PTH123 - thousands of files
                digest = hashlib.file_digest(file, "blake2b").hexdigest()
        yield os.path.relpath(entry.path, root), mode, digest


IMPORTABLE = (".py", ".so", ".pth", ".pyd", ".dylib")
_COMPILED = ".pyc"
_COMPILED_HEADER_BYTES = 16  # time and size of the source: a `touch` does not change code
_ENV = "{env}/"
_PACKAGES = {"site-packages", "dist-packages"}
MOST_READ_BYTES = 2**30
_MOST_READ_FILES = 10_000
_MOST_ASKED_OF_GIT = 20


class FileState(NamedTuple):  # there are thousands of them, and each round compares all
    """The state of a file at one time.

    Attributes:
        digest: digest of its content; None if it was not read.
    """

    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    digest: bytes | None = None

    def looks_like(self, other: FileState, *, moved: bool = False) -> bool:
        """Whether the file appears unchanged without reading it.

        Args:
            moved: whether a change of its place on the disk is allowed.
        """
        compared = 3 if moved else 5
        return self[:compared] == other[:compared]

    @classmethod
    def of(cls, path: str) -> FileState | None:
        """Record a file without reading it; None if it does not exist."""
        try:
            now = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return cls(now.st_mode, now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino)

    def read(self, path: str) -> FileState:
        """Read the file and add the digest of its content."""
        return self._replace(digest=_digest(path, self.mode))

    def is_twin_of(self, other: FileState) -> bool:
        """Whether one regular file could replace both."""
        is_read = stat.S_ISREG(self.mode) and self.digest is not None
        return is_read and (self.mode, self.digest) == (other.mode, other.digest)

    def has_content_of(self, before: FileState) -> bool:
        """Whether both files are equal; compares size and time if one was not read."""
        if self.mode != before.mode:
            return False
        if self.digest is None or before.digest is None:
            return (self.size, self.mtime_ns) == (before.size, before.mtime_ns)
        return self.digest == before.digest


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
        for path in [p for p in self.seen if p.endswith(_COMPILED) and _source_stem(p) in stems]:
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
            return "" if is_program or path.endswith(_COMPILED) else "removed"
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
        if entry.path in self.seen or not _is_importable(entry):
            return False
        return entry.path.startswith(self._root) or self.is_installed(entry.path)

    def _is_compiled(self, entry: os.DirEntry[str]) -> bool:
        """Whether Python compiled it from code that must not change."""
        if not entry.name.endswith(_COMPILED):
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
    if _is_importable(entry) or entry.name == "pyvenv.cfg":
        return True
    status = entry.stat(follow_symlinks=False)
    return stat.S_ISREG(status.st_mode) and bool(status.st_mode & stat.S_IXUSR)


def _is_importable(entry: os.DirEntry[str]) -> bool:
    folder = os.path.dirname(entry.path)  # noqa: PTH120 - this runs for thousands of strings
    return (
        entry.name.endswith(IMPORTABLE)
        and os.path.basename(folder) != CACHED_CODE  # noqa: PTH119 - as above
        and not entry.is_dir(follow_symlinks=False)
    )


def _digest(path: str, mode: int) -> bytes | None:
    """Hash a file's content or a link's target; None if it cannot be read."""
    try:
        if stat.S_ISLNK(mode):
            return os.fsencode(Path(path).readlink())
        if not stat.S_ISREG(mode):
            return None
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            if path.endswith(_COMPILED):
                file.seek(_COMPILED_HEADER_BYTES)
            return hashlib.file_digest(file, "blake2b").digest()
    except OSError:
        return None


class _Folder(NamedTuple):
    """A folder; its time of change is that of the last file that came or went in it."""

    mtime_ns: int
    has_compiled_code: bool


TreeState: TypeAlias = "dict[str, int | _Folder]"
"""The files and folders of some trees by path, without what Python compiled.

A file is one number, made of its time of change and its size: there may be hundreds of thousands.
"""

_SIZE_BITS = 64


def read_state(roots: Iterable[Path]) -> TreeState:
    """Look at all files and folders below some folders, and at these."""
    state: TreeState = {}
    for root in roots:
        state |= _read_tree(os.fspath(root))
    return state


def _read_tree(root: str) -> TreeState:
    state: TreeState = {root: _Folder(os.stat(root).st_mtime_ns, has_compiled_code=False)}  # noqa: PTH116 - many strings
    for entry in entries_below(root):
        if f"{os.sep}{CACHED_CODE}{os.sep}" in entry.path:
            continue
        try:
            seen = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        if not entry.is_dir(follow_symlinks=False):
            state[entry.path] = seen.st_mtime_ns << _SIZE_BITS | seen.st_size
        elif entry.name != CACHED_CODE:
            state[entry.path] = _Folder(seen.st_mtime_ns, has_compiled_code=False)
        else:  # a folder comes before its content
            above = os.path.dirname(entry.path)  # noqa: PTH120 - as above
            folder = state.get(above)
            if isinstance(folder, _Folder):
                state[above] = _Folder(folder.mtime_ns, has_compiled_code=True)
    return state


def written_between(before: TreeState, after: TreeState) -> list[str]:
    """List what was written: files that are new or changed, or the folder of one that is gone.

    A folder in which only compiled code is new does not count.
    """
    found = [
        path
        for path, seen in after.items()
        if isinstance(seen, int) and _is_news(path, before, after)
    ]
    explained = {os.path.dirname(path) for path in found}  # noqa: PTH120 - many strings
    folders = (path for path, seen in after.items() if isinstance(seen, _Folder))
    return sorted(
        [*found, *(p for p in folders if p not in explained and _is_news(p, before, after))]
    )


def _is_news(path: str, before: TreeState, after: TreeState) -> bool:
    was, now = before.get(path), after[path]
    if isinstance(was, _Folder) and isinstance(now, _Folder):
        compiled = now.has_compiled_code and not was.has_compiled_code
        return not compiled and was != now
    return was != now


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

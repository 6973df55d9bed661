"""The state of files, and what is below a folder."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


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
COMPILED = ".pyc"
_COMPILED_HEADER_BYTES = 16  # time and size of the source: a `touch` does not change code
MOST_READ_BYTES = 2**30


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


def is_importable(entry: os.DirEntry[str]) -> bool:
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
            if path.endswith(COMPILED):
                file.seek(_COMPILED_HEADER_BYTES)
            return hashlib.file_digest(file, "blake2b").digest()
    except OSError:
        return None

"""Watches which files are opened below some folders.

It needs no special rights, and does not slow down processes that open nothing there. It reports
what was opened, but not by which process.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from collections import deque
from dataclasses import dataclass
from importlib.util import source_from_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


CACHED_CODE: Final = "__pycache__"
# Each watch takes about a kilobyte of the kernel's memory.
MOST_FOLDERS = 20_000

_IN_OPEN = 0x20
_IN_ONLYDIR = 0x01000000
_IN_Q_OVERFLOW = 0x4000
_IN_ISDIR = 0x40000000
_EVENT = struct.Struct("iIII")
_READ_BYTES = 1 << 16
# A folder that no longer exists, or that benchgate may not read.
_SKIPPED_ERRORS = (errno.ENOENT, errno.ENOTDIR, errno.EACCES)


class CannotWatchError(Exception):
    """Watching for opened files is impossible here; the message says why."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders to watch.

    Attributes:
        found: the folders, the topmost first.
        complete: whether these are all folders.
    """

    found: tuple[Path, ...]
    complete: bool


def folders_below(
    tops: Iterable[Path], skipped: frozenset[str], marks: Sequence[str] = ()
) -> Folders:
    """List folders and all folders below them, level by level, up to `MOST_FOLDERS`.

    Args:
        tops: the folders to start from; a folder that does not exist is left out.
        skipped: names of folders that are left out.
        marks: names of files; a folder that holds such a file is left out.
    """
    found: list[Path] = []
    waiting = deque(top for top in tops if top.is_dir())
    while waiting:
        if len(found) == MOST_FOLDERS:
            return Folders(tuple(found), complete=False)
        folder = waiting.popleft()
        try:
            with os.scandir(folder) as entries:
                inner = {e.name: e.is_dir(follow_symlinks=False) for e in entries}
        except OSError:
            continue
        if any(mark in inner for mark in marks):
            continue
        found.append(folder)
        waiting += [folder / name for name in sorted(inner) if inner[name] and name not in skipped]
    return Folders(tuple(found), complete=True)


class Watch:
    """Watches folders from construction to the end of the `with` block.

    Attributes:
        is_complete: false once so many files are opened that the OS does not report all of them.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        if sys.platform != "linux":
            raise CannotWatchError(f"{sys.platform} does not report which files are opened")
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise CannotWatchError(f"inotify: {os.strerror(ctypes.get_errno())}")
        self.is_complete = True
        self._folder_of: dict[int, Path] = {}
        for folder in folders:
            number = libc.inotify_add_watch(
                self._descriptor, os.fsencode(folder), ctypes.c_uint32(_IN_OPEN | _IN_ONLYDIR)
            )
            if number >= 0:
                self._folder_of[number] = folder
            elif ctypes.get_errno() not in _SKIPPED_ERRORS:
                problem = os.strerror(ctypes.get_errno())
                os.close(self._descriptor)
                raise CannotWatchError(
                    f"inotify: {problem} after {len(self._folder_of)} folders "
                    "(fs.inotify.max_user_watches is the limit)"
                )

    def opened(self) -> frozenset[Path]:
        """Return the files that were opened since the last call."""
        found: set[Path] = set()
        while True:
            try:
                events = os.read(self._descriptor, _READ_BYTES)
            except BlockingIOError:
                return frozenset(found)
            position = 0
            while position < len(events):
                number, mask, _, size = _EVENT.unpack_from(events, position)
                name = events[position + _EVENT.size :][:size].rstrip(b"\0")
                position += _EVENT.size + size
                self.is_complete &= not mask & _IN_Q_OVERFLOW
                if name and not mask & _IN_ISDIR and number in self._folder_of:
                    found.add(self._folder_of[number] / os.fsdecode(name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def source_of(path: Path) -> Path:
    """The real path of a file, or of the source that Python compiled it from."""
    if path.suffix == ".pyc" and path.parent.name == CACHED_CODE:
        try:
            path = Path(source_from_cache(str(path)))
        except ValueError:
            return path
    return Path(os.path.realpath(path))

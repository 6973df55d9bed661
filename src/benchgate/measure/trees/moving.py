"""Moves files and folders to new places on the disk, with the same content."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


_SPARE = ".benchgate-spare"
_DEEPEST = 200


def is_in_use(*folders: Path) -> bool:
    """Whether a process has its working folder or an open file in these folders; Linux only."""
    inside = tuple(f"{folder}{os.sep}" for folder in folders)
    for process in _listed("/proc"):
        if process.isdigit():
            held = (f"/proc/{process}/fd/{number}" for number in _listed(f"/proc/{process}/fd"))
            for link in (f"/proc/{process}/cwd", *held):
                # It belongs to another user, or has ended or closed the file.
                with suppress(OSError):
                    if f"{os.readlink(link)}{os.sep}".startswith(inside):  # noqa: PTH115 - thousands of links
                        return True
    return False


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - as above
    except OSError:
        return []


def share(kept: str, replaced: str) -> None:
    """Make two paths with equal content lead to one file.

    Raises:
        OSError: the file system does not support this.
    """
    spare = replaced + _SPARE
    os.link(kept, spare, follow_symlinks=False)
    os.rename(spare, replaced)  # noqa: PTH104 - beside os.link, on the same strings


def renew(path: str) -> None:
    """Replace a file by a fresh copy, with its times and permissions.

    Raises:
        OSError: the disk is full, or the file cannot be read.
    """
    spare = path + _SPARE
    try:
        shutil.copy2(path, spare, follow_symlinks=False)
        os.rename(spare, path)  # noqa: PTH104 - as above
    except OSError:
        if os.path.lexists(spare):
            os.unlink(spare)  # noqa: PTH108 - as above
        raise


def remake(root: Path, scratch: Path) -> None:
    """Recreate all folders of a tree at the same path, and move its files into them.

    Args:
        scratch: a path that does not exist yet, on the same file system.

    Raises:
        OSError: the file system does not support this; moved files are moved back.
    """
    try:
        _move(str(root), str(scratch))
        scratch.rename(root)
    except OSError:
        _move(str(scratch), str(root))
        raise


def _move(source: str, target: str, depth: int = 0) -> None:
    """Move a folder's content into a new folder, or back into a partly emptied one; remove it."""
    if depth > _DEEPEST:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), source)
    status = os.stat(source)  # noqa: PTH116 - this runs for every folder of a tree in every round
    with suppress(FileExistsError):
        os.mkdir(target)  # noqa: PTH102 - as above
    if not status.st_mode & stat.S_IWUSR:
        os.chmod(source, stat.S_IRWXU)  # noqa: PTH101 - as above
    with os.scandir(source) as entries:
        found = list(entries)
    for entry in found:
        path = os.path.join(target, entry.name)  # noqa: PTH118 - as above
        if entry.is_dir(follow_symlinks=False):
            _move(entry.path, path, depth + 1)
        else:
            os.rename(entry.path, path)  # noqa: PTH104 - as above
    os.chmod(target, stat.S_IMODE(status.st_mode))  # noqa: PTH101 - as above
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.rmdir(source)  # noqa: PTH106 - as above

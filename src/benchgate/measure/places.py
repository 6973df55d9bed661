"""Where files lie: on the disk, and in the memory that the OS keeps of them.

Reading the same bytes takes up to a tenth longer or shorter depending on the pages that hold them,
and writing depends on the folder's place on the disk. Both are chosen once, when a file or folder
is made. So what is equal in two trees becomes one file, and the rest is made anew.
"""

from __future__ import annotations

import os
import shutil
import stat
from typing import TYPE_CHECKING

from benchgate.measure.session_folder import remove_tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CACHED_CODE = "__pycache__"
_SPARE = ".benchgate-spare"


def entries_below(top: Path | str) -> Iterator[os.DirEntry[str]]:
    """Give everything below a folder, a folder before what is in it; links are not followed."""
    try:
        with os.scandir(top) as entries:
            found = list(entries)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for entry in found:
        yield entry
        if entry.is_dir(follow_symlinks=False):
            yield from entries_below(entry.path)


def share(kept: str, replaced: str) -> None:
    """Let two paths of equal content lead to one file.

    Raises:
        OSError: the file system cannot.
    """
    spare = replaced + _SPARE
    os.link(kept, spare, follow_symlinks=False)
    os.rename(spare, replaced)  # noqa: PTH104 - beside os.link, on the same strings


def renew(path: str) -> None:
    """Put a fresh copy into a file's place, with its times and permissions.

    Raises:
        OSError: there is no room, or it cannot be read.
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
    """Make all folders of a tree anew, at the same path; its files stay what they are.

    Args:
        scratch: a folder on the same file system.

    Raises:
        OSError: the file system cannot; the tree is as it was.
    """
    fresh, old = scratch / "fresh", scratch / "old"
    try:
        _mirror(str(root), str(fresh))
        root.rename(old)
    except OSError:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    fresh.rename(root)
    remove_tree(old)


def _mirror(source: str, target: str) -> None:
    """Make a folder that has the same files in it, and folders like those in it."""
    os.mkdir(target)  # noqa: PTH102 - this runs for every folder of a tree in every round
    with os.scandir(source) as entries:
        for entry in entries:
            path = os.path.join(target, entry.name)  # noqa: PTH118 - as above
            if entry.is_dir(follow_symlinks=False):
                _mirror(entry.path, path)
            else:
                os.link(entry.path, path, follow_symlinks=False)
    status = os.stat(source)  # noqa: PTH116 - as above
    os.chmod(target, stat.S_IMODE(status.st_mode))  # noqa: PTH101 - as above
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))

"""One folder per session, outside of the user's tree; the next session removes leftovers.

A folder is alive while its lock file is locked: the lock ends with the process, however that
ends. The folder also lists the git worktrees made in it, so that whoever removes it can have
the repositories forget them.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from benchgate.errors import UsageError
from benchgate.git.repository import Git

_PREFIX = "benchgate-"
_NAME = re.compile(_PREFIX + r"[a-z0-9_]{8}")  # as tempfile.mkdtemp makes it
_LOCK = "session.lock"
_WORKTREES = "session.worktrees"
_OWN_FILES = (_WORKTREES, _LOCK)
_REMOVAL_ATTEMPTS = 50
_REMOVAL_PAUSE_S = 0.1


class SessionFolder:
    """A folder of this process's own; its lock is held as long as the object is not removed."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def create(cls) -> Self:
        """Make a fresh folder in the system's folder for temporary files.

        Raises:
            OSError: there is no place for it.
        """
        parent = os.path.realpath(tempfile.gettempdir())
        while True:
            path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
            # A sweep may take the folder for a dead one until it is locked.
            lock = _try_lock(path / _LOCK, os.O_CREAT)
            if lock is not None:
                return cls(path, lock)

    @classmethod
    def claim(cls, path: Path) -> Self | None:
        """Take over the folder of a session that is dead; None when it is none, or alive."""
        with suppress(OSError):
            status = path.lstat()
            # What is said in the folder of another user could make us run their programs.
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                return None
            lock = _try_lock(path / _LOCK)
            if lock is not None:
                return cls(path, lock)
            if not (path / _LOCK).exists():
                path.rmdir()  # fails on all but what a kill leaves just before or after a session
        return None

    def announce_worktree(self, git: Git, tree: Path) -> None:
        """Write down, before it is made, that a tree in this folder belongs to a repository."""
        with (self.path / _WORKTREES).open("ab") as file:
            file.write(b"".join(os.fsencode(path) + b"\0" for path in (git.root, tree)))

    def remove(self) -> bool:
        """Remove everything, and free the lock; whether nothing is left."""
        try:
            for attempt in range(_REMOVAL_ATTEMPTS):
                # A git that outlived its session may still be writing: it fails, or ends, soon.
                time.sleep(_REMOVAL_PAUSE_S if attempt else 0)
                if self._remove_content() and self._forget_worktrees():
                    for name in _OWN_FILES:
                        (self.path / name).unlink(missing_ok=True)
                    self.path.rmdir()
                    return True
        except OSError:
            return False  # most likely files of another user, such as a container's
        finally:
            os.close(self._lock)
        return False

    def _remove_content(self) -> bool:
        for entry in self.path.iterdir():
            if entry.name not in _OWN_FILES:
                try:
                    _remove_tree(entry)
                except PermissionError:
                    raise
                except OSError:
                    return False
        return True

    def _forget_worktrees(self) -> bool:
        return all(forget_worktree(git, tree) for git, tree in self._worktrees())

    def _worktrees(self) -> list[tuple[Git, Path]]:
        try:
            words = (self.path / _WORKTREES).read_bytes().split(b"\0")
        except FileNotFoundError:
            return []
        paths = [Path(os.fsdecode(word)) for word in words]
        return [(Git(root), tree) for root, tree in zip(paths[::2], paths[1::2], strict=False)]


def session_folders() -> list[Path]:
    """Every folder where temporary files are that has the name of a session's."""
    with suppress(OSError):
        parent = Path(os.path.realpath(tempfile.gettempdir()))
        return [path for path in parent.iterdir() if _NAME.fullmatch(path.name)]
    return []


def session_folder_of(tree: Path) -> Path | None:
    """The session's folder that a tree lies, or lay, in; None when it is no session's."""
    return next((parent for parent in tree.parents if _NAME.fullmatch(parent.name)), None)


def forget_worktree(git: Git, tree: Path) -> bool:
    """Have a repository forget a worktree whose folder is gone; whether it is forgotten."""
    try:
        known = git.worktrees()
    except UsageError:
        return True  # the repository is gone as well
    if tree not in known:
        return True
    with suppress(UsageError):
        # Twice --force: git locks a worktree while it makes it.
        git.run("worktree", "remove", "--force", "--force", str(tree))
        return True
    return False


def _remove_tree(path: Path) -> None:
    """Remove a file or folder, also if builds have left folders that may not be written to."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    try:
        shutil.rmtree(path)
    except (OSError, RecursionError):
        _remove_level_by_level(path)


def _remove_level_by_level(top: Path) -> None:
    """Remove a folder however deep it is, and whatever its folders allow.

    What lies two levels down is moved up first, so that no path becomes too long, and nothing
    is open or called for each level.
    """
    token, moved = secrets.token_hex(8), itertools.count()
    top.chmod(stat.S_IRWXU)
    while folders := _remove_files(top):
        for folder in folders:
            for inner in _remove_files(folder):
                inner.rename(top / f"{token}-{next(moved)}")
            folder.rmdir()
    top.rmdir()


def _remove_files(folder: Path) -> list[Path]:
    """Remove what is no folder in it; give the folders, which may be written to from now on."""
    with os.scandir(folder) as entries:
        found = list(entries)
    inner = [Path(entry.path) for entry in found if entry.is_dir(follow_symlinks=False)]
    for path in inner:
        path.chmod(stat.S_IRWXU)
    for entry in found:
        if not entry.is_dir(follow_symlinks=False):
            Path(entry.path).unlink()
    return inner


def _try_lock(path: Path, flags: int = 0) -> int | None:
    """Open and lock a file; None when it is gone, or another process has locked it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | flags, 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return descriptor
    except BlockingIOError:
        pass
    os.close(descriptor)
    return None

"""One folder per session, outside of the user's tree; the next session removes leftovers.

A folder is in use while its lock file is locked. The lock ends with the process, however that
ends. The folder also lists the git worktrees in it, so that whoever removes it can also remove
them from the lists of their repositories.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import re
import secrets
import shutil
import signal
import stat
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from benchgate.errors import UsageError
from benchgate.git.repository import Git
from benchgate.measure.processes import helper_environment

if TYPE_CHECKING:
    from collections.abc import Iterable

_PREFIX = "benchgate-"
_NAME = re.compile(_PREFIX + r"[a-z0-9_]{8}")  # as tempfile.mkdtemp makes it
_LOCK = "session.lock"
_WORKTREES = "session.worktrees"
_OWN_FILES = (_WORKTREES, _LOCK)
_LEFT = b"left"  # in the lock file of a session that has ended
_REMOVAL_ATTEMPTS = 50
_REMOVAL_PAUSE_S = 0.1
_NICE = 19
# Its arguments are the folder, and where modules are found. The lock is its standard input.
_REMOVE = """
import sys
sys.path[:] = sys.argv[2:]
from benchgate.measure.session_folder import remove_left
remove_left(sys.argv[1])
"""


def no_room(reason: str) -> UsageError:
    """Make the error for trees that cannot be written where temporary files go."""
    return UsageError(
        f"cannot create the trees to measure in {tempfile.gettempdir()}: {reason}",
        hint="Free some space there, or set TMPDIR to a folder that has space.",
    )


class SessionFolder:
    """A folder that belongs to this process, which holds its lock until `remove`."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def create(cls, endings: Iterable[str] = ()) -> Self:
        """Create a new folder in the system's folder for temporary files.

        Args:
            endings: of the names to take; the first that no session has at the moment. Else, or if
                there is none, the name is random.

        Raises:
            OSError: the folder cannot be created.
        """
        parent = os.path.realpath(tempfile.gettempdir())
        for path in (Path(parent, f"{_PREFIX}{ending}") for ending in endings):
            with suppress(FileExistsError):
                _wait_until_removed(path)
                path.mkdir(mode=stat.S_IRWXU)
                lock = _try_lock(path / _LOCK, os.O_CREAT)
                if lock is not None:
                    return cls(path, lock)
        while True:
            path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
            # Until it is locked, another session may think that the folder is unused, and remove
            # it.
            lock = _try_lock(path / _LOCK, os.O_CREAT)
            if lock is not None:
                return cls(path, lock)

    @classmethod
    def claim(cls, path: Path) -> Self | None:
        """Take over the folder of a dead session; None if it is no such folder, or in use."""
        with suppress(OSError):
            status = path.lstat()
            # The content of another user's folder could make benchgate run that user's programs.
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                return None
            lock = _try_lock(path / _LOCK)
            if lock is not None:
                return cls(path, lock)
            if not (path / _LOCK).exists():
                path.rmdir()  # works only if a kill left it empty
        return None

    def announce_worktree(self, git: Git, tree: Path) -> None:
        """Record a repository's tree in this folder before the tree is created."""
        with (self.path / _WORKTREES).open("ab") as file:
            file.write(b"".join(os.fsencode(path) + b"\0" for path in (git.root, tree)))

    def remove(self) -> bool:
        """Remove everything and release the lock; return whether nothing is left.

        After an interruption, another process goes on.
        """
        try:
            is_removed = self._try_to_remove()
        except KeyboardInterrupt:
            self.leave()
            raise
        os.close(self._lock)
        return is_removed

    def leave(self) -> None:
        """Let another process remove everything: nobody waits for that after an interruption.

        That process inherits the lock, so that no session takes the folder for an abandoned one.
        """
        with suppress(OSError):
            os.write(self._lock, _LEFT)
        command = [sys.executable, "-I", "-c", _REMOVE, str(self.path), *filter(None, sys.path)]
        nowhere = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_RDWR, 0)
        actions = [(os.POSIX_SPAWN_DUP2, self._lock, 0), nowhere, (os.POSIX_SPAWN_DUP2, 1, 2)]
        try:  # not Popen, which would want to wait for its end
            os.posix_spawn(
                command[0], command, helper_environment(), file_actions=actions, setsid=True
            )
        except OSError:
            self._try_to_remove()
        finally:
            os.close(self._lock)

    def _try_to_remove(self) -> bool:
        try:
            for attempt in range(_REMOVAL_ATTEMPTS):
                # A git process that outlived its session may still be writing; it ends soon.
                time.sleep(_REMOVAL_PAUSE_S if attempt else 0)
                if self._remove_content() and all(
                    forget_worktree(git, tree) for git, tree in self._worktrees()
                ):
                    for name in _OWN_FILES:
                        (self.path / name).unlink(missing_ok=True)
                    self.path.rmdir()
                    return True
        except OSError:
            return False  # most likely files of another user, such as those of a container
        return False

    def _remove_content(self) -> bool:
        for entry in self.path.iterdir():
            if entry.name not in _OWN_FILES:
                try:
                    remove_tree(entry)
                except PermissionError:
                    raise
                except OSError:
                    return False
        return True

    def _worktrees(self) -> list[tuple[Git, Path]]:
        try:
            words = (self.path / _WORKTREES).read_bytes().split(b"\0")
        except FileNotFoundError:
            return []
        paths = [Path(os.fsdecode(word)) for word in words]
        return [(Git(root), tree) for root, tree in zip(paths[::2], paths[1::2], strict=False)]


def remove_left(folder: str) -> None:
    """Remove a folder that another process left to this one, with its lock as standard input."""
    os.chdir("/")
    os.nice(_NICE)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    SessionFolder(Path(folder), os.dup(0)).remove()


def session_folders() -> list[Path]:
    """Find all session folders in a folder of temporary files, by their names."""
    with suppress(OSError):
        parent = Path(os.path.realpath(tempfile.gettempdir()))
        return [path for path in parent.iterdir() if _NAME.fullmatch(path.name)]
    return []


def remove_abandoned(folders: Iterable[Path]) -> list[Path]:
    """Remove folders of killed sessions, with their worktrees; those in use are not touched.

    Returns:
        The folders that could not be removed.
    """
    claimed = [(folder, SessionFolder.claim(folder)) for folder in folders]
    return [folder for folder, abandoned in claimed if abandoned and not abandoned.remove()]


def session_folder_of(tree: Path) -> Path | None:
    """Find the session folder of an existing or removed tree; None if it has none."""
    return next((parent for parent in tree.parents if _NAME.fullmatch(parent.name)), None)


def forget_worktree(git: Git, tree: Path) -> bool:
    """Remove a deleted worktree from its repository's list; return whether that worked."""
    try:
        known = git.worktrees()
    except UsageError:
        return True  # the repository no longer exists either
    if tree not in known:
        return True
    with suppress(UsageError):
        # Twice --force: git locks a worktree while it creates it.
        git.run("worktree", "remove", "--force", "--force", str(tree))
        return True
    return False


def remove_tree(path: Path) -> None:
    """Remove a file or folder, even if builds have left read-only folders."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    try:
        shutil.rmtree(path)
    except (OSError, RecursionError):
        _remove_level_by_level(path)


def _remove_level_by_level(top: Path) -> None:
    """Remove a folder, however deep it is and whatever permissions its folders have.

    Content two levels down is first moved up, so that no path becomes too long, and no level needs
    an open file or a call of its own.
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
    """Remove everything but folders in a folder; return these, made writable."""
    with os.scandir(folder) as entries:
        found = list(entries)
    inner = [Path(entry.path) for entry in found if entry.is_dir(follow_symlinks=False)]
    for path in inner:
        path.chmod(stat.S_IRWXU)
    for entry in found:
        if not entry.is_dir(follow_symlinks=False):
            Path(entry.path).unlink()
    return inner


def _wait_until_removed(path: Path) -> None:
    """Wait for the process that removes a folder, if its session was interrupted."""
    with suppress(OSError):
        if path.lstat().st_uid == os.geteuid():
            with (path / _LOCK).open("rb") as lock:
                if lock.read() == _LEFT:
                    fcntl.flock(lock, fcntl.LOCK_SH)


def _try_lock(path: Path, flags: int = 0) -> int | None:
    """Open and lock a file; None if it no longer exists, or another process holds the lock."""
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

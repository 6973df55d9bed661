"""The user's folder of kept builds, which is bounded in size and age."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.measure.build_manifest import DamagedError
from benchgate.measure.kept_build import KeptBuild, NotKeptError, pack, read_about
from benchgate.own_folders import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import IO

    from benchgate.measure.build_manifest import About
    from benchgate.measure.engine import Arm
    from benchgate.measure.kept_build import State

MOST_BYTES: Final = 4 << 30
"""Size limit of all kept builds together; the least recently used go first."""

MOST_AGE_S: Final = 24 * 3600.0
"""Older builds are not used: what they downloaded may be out of date."""

_SUFFIX = ".build"
_UNFINISHED = ".unfinished"
_LOCK = ".lock"
_MOST_WRITING_S = 3600.0
_LEAST_FREE_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Entry:
    """One kept build.

    Attributes:
        about: None if the file is damaged.
        used_s: when it was used last, in seconds since 1970.
    """

    path: Path
    about: About | None
    size_bytes: int
    used_s: float


def builds_folder(environ: Mapping[str, str]) -> Path:
    """The folder of kept builds."""
    return cache_folder(environ) / "builds"


class BuildCache:
    """Kept builds by their key. Several sessions may use the folder at the same time.

    Args:
        folder: is created if needed.
        reads: whether kept builds are used; new ones replace them in any case.
    """

    def __init__(self, folder: Path, *, reads: bool = True) -> None:
        self.folder = folder
        self._reads = reads

    def find(self, key: str, arm: Arm) -> KeptBuild | None:
        """Open the build with a key if it can be used for an arm now; None otherwise."""
        path = self.folder / f"{key}{_SUFFIX}"
        with suppress(OSError):
            if not self._reads or not self._is_private():
                return None
            source = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb")
            try:
                kept = KeptBuild(source)
            except DamagedError:
                source.close()
                path.unlink(missing_ok=True)
                return None
            age_s = time.time() - kept.about.built_s
            if 0 <= age_s <= MOST_AGE_S and kept.is_of_now(arm):
                now_s = time.time()
                os.utime(path, (now_s, now_s))
                return kept
            kept.close()
        return None

    @contextmanager
    def alone(self, key: str, waiting: Callable[[str], None]) -> Iterator[None]:
        """Keep other sessions from building what has this key, and wait while one of them does.

        Args:
            waiting: told which process must end its build first.
        """
        lock = None
        if self._reads:
            with suppress(OSError):  # then there is nothing to share either
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                lock = (
                    self._lock(self.folder / f"{key}{_LOCK}", waiting)
                    if self._is_private()
                    else None
                )
        try:
            yield
        finally:
            if lock:
                (self.folder / f"{key}{_LOCK}").unlink(missing_ok=True)
                lock.close()

    def _lock(self, path: Path, waiting: Callable[[str], None]) -> IO[str]:
        """Lock a file; the OS unlocks it if this process is killed."""
        while True:
            file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+")
            try:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    waiting(file.read())
                    fcntl.flock(file, fcntl.LOCK_EX)
                with suppress(FileNotFoundError):  # the process before has removed it
                    if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                        file.seek(0)
                        file.truncate()
                        file.write(f"process {os.getpid()}")
                        file.flush()
                        return file
                file.close()
            except BaseException:
                file.close()
                raise

    def keep(self, key: str, arm: Arm, before: Mapping[str, State], about: About) -> None:
        """Keep what a build has just left in an arm, and remove what is too much or too old.

        Raises:
            NotKeptError: the build cannot be used again, or there is no room.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._is_private():
                raise NotKeptError(f"{self.folder} is not a folder that only you can write to")
            space = shutil.disk_usage(self.folder)
            if space.free < _LEAST_FREE_SHARE * space.total:
                raise NotKeptError(f"the disk of {self.folder} is nearly full")
            self._write(key, arm, before, about)
        except OSError as error:
            raise NotKeptError(f"it cannot be written to {self.folder}: {error.strerror}") from None
        self.prune()

    def entries(self) -> list[Entry]:
        """Every kept build, the most recently used first."""
        return sorted(self._entries(), key=lambda entry: -entry.used_s)

    def prune(self) -> None:
        """Remove builds that are too old, and the least recently used ones beyond the size."""
        now_s = time.time()
        left_bytes = MOST_BYTES
        for entry in self.entries():
            left_bytes -= entry.size_bytes
            is_current = entry.about and 0 <= now_s - entry.about.built_s <= MOST_AGE_S
            if left_bytes < 0 or not is_current:
                entry.path.unlink(missing_ok=True)
        for path in self._files(_UNFINISHED):
            with suppress(OSError):
                if now_s - path.stat().st_mtime > _MOST_WRITING_S:
                    path.unlink()
        for path in self._files(_LOCK):
            with suppress(OSError):
                if now_s - path.stat().st_mtime > MOST_AGE_S:  # its process was killed
                    path.unlink()

    def clear(self) -> None:
        """Remove every kept build.

        Raises:
            OSError: a file cannot be removed.
        """
        for path in (*self._files(_SUFFIX), *self._files(_UNFINISHED), *self._files(_LOCK)):
            path.unlink(missing_ok=True)

    def _write(self, key: str, arm: Arm, before: Mapping[str, State], about: About) -> None:
        unfinished = self.folder / f"{key}.{os.getpid()}{_UNFINISHED}"
        try:
            with open(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123 - for its flags
                pack(arm, before, about, file)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self.folder / f"{key}{_SUFFIX}")
        finally:
            unfinished.unlink(missing_ok=True)

    def _is_private(self) -> bool:
        """Whether nobody else can change what is in the folder."""
        seen = self.folder.lstat()
        others = stat.S_IWGRP | stat.S_IWOTH
        return (
            stat.S_ISDIR(seen.st_mode)
            and seen.st_uid == os.geteuid()
            and not (seen.st_mode & others)
        )

    def _entries(self) -> Iterator[Entry]:
        for path in self._files(_SUFFIX):
            with suppress(OSError), path.open("rb") as source:
                seen = os.fstat(source.fileno())
                about = None
                with suppress(DamagedError):
                    about = read_about(source)
                yield Entry(path, about, seen.st_size, seen.st_mtime)

    def _files(self, suffix: str) -> list[Path]:
        try:
            return [path for path in self.folder.iterdir() if path.name.endswith(suffix)]
        except OSError:
            return []

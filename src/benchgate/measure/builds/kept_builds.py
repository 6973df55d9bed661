"""The user's folder of kept builds: what `[build]` left in an arm, to be put there again.

A build may hold its own path in any form, so it is used only at the path where it was made. Nothing
ever runs in a kept build: it is a copy of what the build changed, and every session puts it into a
fresh tree. So both arms begin without anything that earlier benchmarks left there.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import secrets
import shutil
import stat
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from benchgate.files import cache_folder
from benchgate.measure.session_folder import remove_tree
from benchgate.measure.trees import FileState, entries_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchgate.measure.arm import Arm


MOST_BUILDS: Final = 8
"""The least recently used of more are removed."""

MOST_BUILD_BYTES: Final = 2 << 30
"""Size limit of a build that is kept."""

MOST_AGE_S: Final = 24 * 3600.0
"""Older builds are not used: what they downloaded may be out of date."""

_SUFFIX = ".build"
_UNFINISHED = "unfinished"
_LOCK = ".lock"
_ABOUT = "about.json"
_FILES = "files"
_ENV, _TREE = "env", "tree"
_WORKTREE = ".git"
_LEAST_FREE_SHARE = 0.1


class NotKeptError(Exception):
    """A build is not kept; the message says why."""


@dataclass(frozen=True, slots=True)
class About:
    """Describes a build.

    Attributes:
        project: the name of the repository's folder.
        sha: the commit that was built, without uncommitted changes.
        session: names the session that built it.
        built_s: when it was built, in seconds since 1970.
        took_s: how long that took.
        packages: what is installed in the environment: names and versions.
        warnings: the last warnings that it printed.
        removed: what the build removed from the tree.
    """

    project: str
    sha: str
    session: str
    built_s: float
    took_s: float
    packages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def is_current(self) -> bool:
        """Whether it is not too old to be used."""
        return 0 <= time.time() - self.built_s <= MOST_AGE_S


@dataclass(frozen=True, slots=True)
class KeptBuild:
    """One kept build.

    Attributes:
        used_s: when it was used last, in seconds since 1970.
    """

    path: Path
    about: About
    size_bytes: int
    used_s: float


def builds_folder(environ: Mapping[str, str]) -> Path:
    """The folder of kept builds."""
    return cache_folder(environ) / "builds"


def snapshot(arm: Arm) -> dict[str, FileState]:
    """Record everything in an arm's tree and environment, by its name in a kept build."""
    paths = {_ENV: str(arm.env)}
    for name, top in ((_TREE, arm.root), (_ENV, arm.env)):
        for entry in entries_below(top):
            paths[f"{name}/{os.path.relpath(entry.path, top)}"] = entry.path
    return {name: seen for name, path in paths.items() if (seen := FileState.of(path))}


class BuildCache:
    """Kept builds by their key. Several sessions may use the folder at the same time.

    Args:
        folder: is created if needed.
        reads: whether kept builds are used; new ones replace them in any case.

    Attributes:
        session: names this session.
    """

    def __init__(self, folder: Path, *, reads: bool = True) -> None:
        self.folder = folder
        self.session = secrets.token_hex(8)
        self._reads = reads

    def find(self, key: str) -> About | None:
        """Look for a build that can be used now."""
        path = self._path(key)
        with suppress(OSError, NotKeptError):
            self._require_private()
            with self._locked(fcntl.LOCK_SH):
                about = read_about(path) if self._reads else None
                if about and about.is_current:
                    os.utime(path)
                    return about
        return None

    def put(self, key: str, arm: Arm, about: About) -> None:
        """Put a build that was found into a fresh tree, and an environment that is not there yet.

        Raises:
            OSError: it cannot be written, or the build was removed in the meantime.
        """
        kept = self._path(key)
        with self._locked(fcntl.LOCK_SH):
            if read_about(kept) != about:
                raise FileNotFoundError(errno.ENOENT, "it was removed in the meantime")
            for name in reversed(about.removed):
                _remove(_place(arm, name))
            files = kept / _FILES
            names = sorted(os.path.relpath(entry.path, files) for entry in entries_below(files))
            _copy([(files / name, _place(arm, name)) for name in names])

    def keep(self, key: str, arm: Arm, before: Mapping[str, FileState], about: About) -> None:
        """Keep what a build has just left in an arm, and remove what is too much or too old.

        Args:
            before: the arm's state before the build; nothing was in its environment.

        Raises:
            NotKeptError: the build cannot be used again, or there is no room.
        """
        unfinished = self.folder / _UNFINISHED
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._require_private()
            space = shutil.disk_usage(self.folder)
            if space.free < _LEAST_FREE_SHARE * space.total:
                raise NotKeptError(f"the disk of {self.folder} is nearly full")
            with self._locked(fcntl.LOCK_EX):
                try:
                    _remove_all(unfinished)
                    _write(unfinished, arm, before, about)
                    _remove_all(self._path(key))
                    unfinished.rename(self._path(key))
                finally:
                    _remove_all(unfinished)
                self._prune()
        except OSError as error:
            raise NotKeptError(f"it cannot be written to {self.folder}: {error.strerror}") from None

    def entries(self) -> list[KeptBuild]:
        """Every kept build, the most recently used first."""
        found = []
        for path in self.folder.glob(f"*{_SUFFIX}"):
            with suppress(OSError):
                sizes = (e.stat(follow_symlinks=False).st_size for e in entries_below(path))
                used_s = path.stat().st_mtime
                if about := read_about(path):
                    found.append(KeptBuild(path, about, sum(sizes), used_s))
        return sorted(found, key=lambda entry: -entry.used_s)

    def clear(self) -> None:
        """Remove every kept build.

        Raises:
            OSError: a file cannot be removed.
        """
        if self.folder.is_dir():
            with self._locked(fcntl.LOCK_EX):
                for path in (*self.folder.glob(f"*{_SUFFIX}"), self.folder / _UNFINISHED):
                    _remove_all(path)

    def _prune(self) -> None:
        usable = [entry.path for entry in self.entries() if entry.about.is_current]
        for path in {*self.folder.glob(f"*{_SUFFIX}")}.difference(usable[:MOST_BUILDS]):
            _remove_all(path)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_SUFFIX}"

    def _require_private(self) -> None:
        seen = self.folder.lstat()
        others = seen.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid() or others:
            raise NotKeptError(f"{self.folder} is not a folder that only you can write to")

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        """Let no other session remove or write a build meanwhile; the OS unlocks after a kill."""
        with (self.folder / _LOCK).open("a+") as file:
            fcntl.flock(file, how)
            yield


def _write(kept: Path, arm: Arm, before: Mapping[str, FileState], about: About) -> None:
    after = snapshot(arm)
    changed = {name for name, seen in after.items() if before.get(name) != seen}
    removed = tuple(sorted(before.keys() - after.keys()))
    in_tree = (name for name in (*changed, *removed) if name.startswith(f"{_TREE}/"))
    if any(PurePath(name).name == _WORKTREE for name in in_tree):
        raise NotKeptError("it changes files of git")
    if _ENV in after and not stat.S_ISDIR(after[_ENV].mode):
        raise NotKeptError("{env} is not a folder")
    for name in sorted(changed):
        if not any(kind(after[name].mode) for kind in (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)):
            raise NotKeptError(f"{name} is neither a file nor a folder")
    if sum(after[name].size for name in changed) > MOST_BUILD_BYTES:
        raise NotKeptError(f"it is larger than {MOST_BUILD_BYTES >> 30} GiB")
    folders = {str(folder) for name in changed for folder in PurePath(name).parents} - {"."}
    files = kept / _FILES
    files.mkdir(mode=0o700, parents=True)
    _copy([(_place(arm, name), files / name) for name in sorted(changed | folders)])
    told = json.dumps(asdict(replace(about, removed=removed)))
    (kept / _ABOUT).write_text(told, encoding="utf-8")


def read_about(kept: Path) -> About | None:
    """Read what a kept build says about itself; None if another version of benchgate wrote it."""
    try:
        found = json.loads((kept / _ABOUT).read_bytes())
        lists = {name: tuple(found[name]) for name in ("packages", "warnings", "removed")}
        times = {name: float(found[name]) for name in ("built_s", "took_s")}
        return About(**{**found, **lists, **times})
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def _copy(pairs: Sequence[tuple[Path, Path]]) -> None:
    """Copy files, links and folders with their times and permissions.

    Args:
        pairs: source and target; a folder comes before its content.
    """
    folders = []
    for source, target in pairs:
        is_folder = source.is_dir() and not source.is_symlink()
        if not is_folder or target.is_symlink() or not target.is_dir():
            _remove(target)
        if is_folder:
            target.mkdir(exist_ok=True)
            folders.append((source, target))
        else:
            shutil.copy2(source, target, follow_symlinks=False)
    for source, target in reversed(folders):
        shutil.copystat(source, target)


def _remove(path: Path) -> None:
    """Remove a file, a link, or a folder whose content is gone; nothing if there is none."""
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _remove_all(path: Path) -> None:
    with suppress(FileNotFoundError):
        remove_tree(path)


def _place(arm: Arm, name: str) -> Path:
    top, _, inner = name.partition("/")
    return (arm.env if top == _ENV else arm.root) / inner

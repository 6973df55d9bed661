"""What a build left in an arm: packed into one file, and put in place in another session.

Virtual environments and compiled code hold absolute paths, and every session has other paths. They
are equally long, so the old path is replaced by the new one wherever it occurs: in text, in
compiled code, in names and in links. A build that holds the path in any other form is refused.

A packed build is the length of its manifest (8 bytes), the manifest as JSON, the contents of its
files one after the other, and a digest of all that (32 bytes).
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple, Self

from benchgate.measure.build_manifest import DamagedError, KeptFile, Manifest
from benchgate.measure.drawn_path import DrawnPath
from benchgate.measure.hidden_text import is_patchable
from benchgate.measure.tree_changes import entries_below

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchgate.measure.build_manifest import About
    from benchgate.measure.engine import Arm

MOST_BYTES: Final = 2 << 30
"""Size limit of a build that is kept."""

_WORKTREE = ".git"
_DIGEST_BYTES = 32
_LENGTH_BYTES = 8
_CHUNK_BYTES = 1 << 20
_ENV, _TREE = "env", "tree"
_WHOLE_ENV = f"{_ENV}/."
_PERMISSIONS = 0o7777


class NotKeptError(Exception):
    """A build cannot be used at another place; the message says why."""


class State(NamedTuple):
    """The state of a file, folder or link, without its content."""

    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, seen: os.stat_result) -> Self:
        """Take it from what the OS says."""
        return cls(seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino)


def snapshot(arm: Arm) -> dict[str, State]:
    """Record everything in an arm's tree and environment, by its name in a packed build."""
    found = {}
    for name, top in ((_TREE, arm.root), (_ENV, arm.env)):
        for entry in entries_below(top):
            relative = os.path.relpath(entry.path, top)
            found[f"{name}/{relative}"] = State.of(entry.stat(follow_symlinks=False))
    with suppress(FileNotFoundError):
        found[_WHOLE_ENV] = State.of(arm.env.lstat())
    return found


def pack(arm: Arm, before: Mapping[str, State], about: About, target: IO[bytes]) -> None:
    """Write what differs in an arm from its state before the build.

    Args:
        before: its state as `snapshot` gives it; nothing was in its environment.

    Raises:
        NotKeptError: the build cannot be used at another place, or is too large.
        OSError: it cannot be read or written.
    """
    after = snapshot(arm)
    changed = sorted(name for name, state in after.items() if before.get(name) != state)
    removed = sorted(before.keys() - after.keys())
    of_tree = (name for name in (*changed, *removed) if name.startswith(f"{_TREE}/"))
    if any(Path(name).name == _WORKTREE for name in of_tree):
        raise NotKeptError("it changes files of git")
    if _WHOLE_ENV in after and not stat.S_ISDIR(after[_WHOLE_ENV].mode):
        raise NotKeptError("{env} is not a folder")
    if sum(after[name].size for name in changed) > MOST_BYTES:
        raise NotKeptError(f"it is larger than {MOST_BYTES >> 30} GiB")
    place = DrawnPath.of(arm)
    files = [_described(arm, name, after[name], place) for name in changed]
    manifest = Manifest(about, place, tuple(files), tuple(removed)).dump()
    hasher = hashlib.blake2b(digest_size=_DIGEST_BYTES)

    def write(data: bytes) -> None:
        hasher.update(data)
        target.write(data)

    write(len(manifest).to_bytes(_LENGTH_BYTES, "big"))
    write(manifest)
    for one in files:
        if stat.S_ISREG(one.mode):
            data = _path(arm, one.name).read_bytes()
            _require_movable(one.name, data, place)
            if len(data) != one.size_bytes:
                raise NotKeptError(f"{one.name} still changes")
            write(data)
    target.write(hasher.digest())


def _described(arm: Arm, name: str, state: State, place: DrawnPath) -> KeptFile:
    path = _path(arm, name)
    if stat.S_ISDIR(state.mode):
        return KeptFile(name, state.mode, state.mtime_ns)
    link = outside = None
    size_bytes = 0
    if stat.S_ISLNK(state.mode):
        link = os.readlink(path)  # noqa: PTH115 - as text
        outside = _outside(arm, name, link)
    elif stat.S_ISREG(state.mode):
        size_bytes = state.size
    else:
        raise NotKeptError(f"{name} is neither a file nor a folder")
    if place.stays_in(f"{name}\0{link}".encode("utf-8", "surrogateescape")):
        raise NotKeptError(f"the name of {name} holds a part of its path")
    return KeptFile(name, state.mode, state.mtime_ns, size_bytes, link, outside)


def _outside(arm: Arm, name: str, link: str) -> tuple[int, int] | None:
    """Size and time of the file that a link leads to outside of the arm; None if it is inside."""
    target = Path(os.path.normpath(_path(arm, name).parent / link))
    if target.is_relative_to(arm.root) or target.is_relative_to(arm.env):
        return None
    return _size_and_time(target)


def _size_and_time(path: Path) -> tuple[int, int]:
    try:
        seen = path.stat()
    except OSError:
        return -1, -1
    # The size and time of a folder change with what others put into it.
    return (0, 0) if stat.S_ISDIR(seen.st_mode) else (seen.st_size, seen.st_mtime_ns)


def _require_movable(name: str, data: bytes, place: DrawnPath) -> None:
    if place.stays_in(data):
        raise NotKeptError(f"{name} holds its path in a form that cannot be replaced")
    if place.is_in(data) and not is_patchable(data):
        raise NotKeptError(f"{name} is a signed program that holds its path")


class KeptBuild:
    """A packed build that is not damaged, open for reading.

    Attributes:
        session: names the session that it was built in.
    """

    def __init__(self, source: IO[bytes]) -> None:
        """Read the manifest, and check the digest of everything.

        Raises:
            DamagedError: it is not a packed build, or not a whole one.
        """
        self._source = source
        hasher = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        left_bytes = source.seek(0, io.SEEK_END) - _DIGEST_BYTES
        source.seek(0)
        while left_bytes > 0 and (data := source.read(min(left_bytes, _CHUNK_BYTES))):
            hasher.update(data)
            left_bytes -= len(data)
        if left_bytes or hasher.digest() != source.read(_DIGEST_BYTES):
            raise DamagedError
        self._manifest, self._contents = _read_manifest(source)
        self.about = self._manifest.about
        self.session = self._manifest.place.session

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def is_of_now(self, arm: Arm) -> bool:
        """Whether it can be used for an arm: what its links lead to outside is as it was."""
        if not DrawnPath.of(arm).is_like(self._manifest.place):
            return False
        links = ((one, one.link) for one in self._manifest.files if one.link is not None)
        return all(
            _outside(arm, self._moved(one.name, arm), self._moved(link, arm)) == one.outside
            for one, link in links
        )

    def put(self, arm: Arm) -> None:
        """Put the build in place: in a fresh tree, and an environment that does not exist yet.

        Raises:
            OSError: it cannot be written.
        """
        old, new = self._manifest.place, DrawnPath.of(arm)
        for name in reversed(self._manifest.removed):
            _remove(_path(arm, name))
        self._source.seek(self._contents)
        folders = []
        for one in self._manifest.files:
            path = _path(arm, self._moved(one.name, arm))
            is_folder = stat.S_ISDIR(one.mode)
            if not is_folder or path.is_symlink() or not path.is_dir():
                _remove(path)
            if is_folder:
                path.mkdir(parents=True, exist_ok=True)
                folders.append((path, one))
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if one.link is not None:
                path.symlink_to(self._moved(one.link, arm))
                os.utime(path, ns=(one.mtime_ns, one.mtime_ns), follow_symlinks=False)
            else:
                path.write_bytes(old.replaced(self._source.read(one.size_bytes), new))
                _restore(path, one)
        for path, one in reversed(folders):
            _restore(path, one)

    def _moved(self, text: str, arm: Arm) -> str:
        data = text.encode("utf-8", "surrogateescape")
        moved = self._manifest.place.replaced(data, DrawnPath.of(arm))
        return moved.decode("utf-8", "surrogateescape")


def _remove(path: Path) -> None:
    """Remove a file, a link, or a folder whose content is gone; nothing if there is none."""
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _restore(path: Path, one: KeptFile) -> None:
    path.chmod(one.mode & _PERMISSIONS)
    os.utime(path, ns=(one.mtime_ns, one.mtime_ns))


def read_about(source: IO[bytes]) -> About:
    """Read what a packed build says about itself, without checking the rest.

    Raises:
        DamagedError: it is not a packed build.
    """
    return _read_manifest(source)[0].about


def _read_manifest(source: IO[bytes]) -> tuple[Manifest, int]:
    """The manifest, and where the contents begin."""
    source.seek(0)
    length = int.from_bytes(source.read(_LENGTH_BYTES), "big")
    if length > MOST_BYTES:
        raise DamagedError
    return Manifest.parse(source.read(length)), _LENGTH_BYTES + length


def _path(arm: Arm, name: str) -> Path:
    top, _, inner = name.partition("/")
    return (arm.env if top == _ENV else arm.root) / inner

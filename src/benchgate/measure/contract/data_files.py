"""Reads the files that `data` names: they are a part of the workload."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.measure.arm import Arm, ArmName


MAX_FILES = 1000
MAX_BYTES = 2 * 2**30
_CHUNK_BYTES = 2**20


class DataFilesError(Exception):
    """A data file cannot be read; the message says which one, and why."""


def data_parts(arm: Arm, globs: Iterable[str]) -> dict[str, str]:
    """Read the data files of an arm; return for each a name for people, and its digest.

    Args:
        globs: relative to the folder of the configuration; a glob may match nothing.
    """
    found: dict[str, Path] = {}
    for glob in globs:
        found |= matches(arm, glob)
        if len(found) > MAX_FILES:
            raise DataFilesError(
                f"`data` matches more than {counted(MAX_FILES, 'file')}: pack them into one"
            )
    left_bytes = MAX_BYTES
    parts = {}
    for name in sorted(found):
        digest, size_bytes = _digest(found[name], name, left_bytes)
        left_bytes -= size_bytes
        parts[f"its data file {name}"] = digest
    return parts


class DataFiles:
    """The data files of every arm, each read once."""

    def __init__(self, arms: Mapping[ArmName, Arm]) -> None:
        self._arms = arms
        self._known: dict[tuple[ArmName, tuple[str, ...]], Mapping[str, str]] = {}

    def parts(self, arm: ArmName, globs: tuple[str, ...]) -> Mapping[str, str]:
        """Read the files that the globs match in one arm, like `data_parts`."""
        for glob in globs:
            if not any(matches(one, glob) for one in self._arms.values()):
                raise DataFilesError(f"`data` has {glob!r}: there is no such file in the tree")
        key = arm, globs
        if key not in self._known:
            self._known[key] = data_parts(self._arms[arm], globs)
        return self._known[key]


def workload_of(parts: Mapping[str, str]) -> str:
    """Return 16 hex digits that change if any part of a benchmark's work changes."""
    text = "\0".join(f"{name}\0{parts[name]}" for name in sorted(parts))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def matches(arm: Arm, glob: str) -> dict[str, Path]:
    """Find the files of a tree that a glob of `data` names, by their names in the folder.

    Raises:
        DataFilesError: the glob, or a file that it matches, leaves the tree.
    """
    pattern = PurePosixPath(glob)
    if not glob.strip() or pattern.is_absolute() or ".." in pattern.parts:
        raise DataFilesError(f"`data` has {glob!r}: it must be relative to the configuration file")
    inside = arm.root.resolve()
    found = {}
    for path in arm.folder.glob(glob):
        if not path.is_file():
            continue
        name = path.relative_to(arm.folder).as_posix()
        if not path.resolve().is_relative_to(inside):
            raise DataFilesError(f"the data file {name} is a link to a place outside of the tree")
        found[name] = path
    return found


def _digest(path: Path, name: str, limit_bytes: int) -> tuple[str, int]:
    hasher, size_bytes = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                hasher.update(chunk)
                size_bytes += len(chunk)
                if size_bytes > limit_bytes:
                    raise DataFilesError(f"the data files are larger than {MAX_BYTES >> 30} GiB")
    except OSError as error:
        raise DataFilesError(f"the data file {name} cannot be read: {error.strerror}") from None
    return hasher.hexdigest()[:16], size_bytes

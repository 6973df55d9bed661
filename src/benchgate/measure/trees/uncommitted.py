"""Lays uncommitted changes over a tree."""

from __future__ import annotations

import shutil
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.git.changes import hidden_changes, read_changes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchgate.git.repository import Git


def overlay(git: Git, tree: Path, scratch: Path) -> tuple[str, ...]:
    """Make a checkout of HEAD equal to the user's, except for ignored files and submodules.

    Args:
        git: the user's checkout; it is only read.
        tree: the fresh checkout.
        scratch: a folder for temporary files.

    Returns:
        Notes that a reader of the numbers must see.

    Raises:
        OSError: the tree cannot be written.
    """
    changes = read_changes(git)
    if changes.conflicts:
        raise UsageError(
            f"there are unresolved merge conflicts: {_listed(changes.conflicts)}",
            hint="Resolve them and `git add` the files, or give up the merge: git merge --abort",
        )
    # Remove first: a file may have become a folder, or a folder a link to another place.
    for path in changes.absent:
        remove(tree / path)
    for path in (*changes.modified, *changes.untracked):
        copy(git.root / path, tree / path)
    separate = (
        f"not measured: {path} is a separate git repository, not a submodule"
        for path in changes.repositories
    )
    hidden = (
        f"measured as committed: {_listed(paths)}, because git was told to hide the changes "
        f"(git update-index --no-{flag} FILE shows them)"
        for flag, paths in hidden_changes(git, changes, scratch).items()
    )
    return (*separate, *hidden)


def remove(path: Path) -> None:
    """Remove a file or link, or an empty folder; and the folders above it that became empty."""
    if path.is_dir() and not path.is_symlink():
        path.rmdir()  # the folder of a submodule, which is still empty
    else:
        with suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()
    with suppress(OSError):
        # As git does: remove each folder that became empty, up to the first that is not empty.
        for parent in path.parents:
            parent.rmdir()


def copy(source: Path, target: Path) -> None:
    """Copy one file or link, with its permissions; nothing if it no longer exists.

    Raises:
        UsageError: the file cannot be read.
    """
    try:
        mode = source.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return  # it was removed meanwhile
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        return
    remove(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copy(source, target, follow_symlinks=False)
    except PermissionError as error:
        raise UsageError(
            f"{source} is new or changed, and cannot be copied: {error.strerror}",
            hint="Make it readable, or add it to .gitignore.",
        ) from None


def _listed(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:3])
    return shown if len(paths) <= 3 else f"{shown} and {len(paths) - 3} more"

"""Finds changes that the user told git to hide: no command shows them, and no commit takes them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.git.changes import read_changes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from benchgate.git.changes import Changes
    from benchgate.git.repository import Git

_SKIPPED: Final = "skip-worktree"
_ASSUMED: Final = "assume-unchanged"


def hidden_changes(git: Git, seen: Changes, scratch: Path) -> dict[str, tuple[str, ...]]:
    """Return the files with hidden changes, by the flag of `git update-index` that hides them.

    A file that a sparse checkout leaves out has no changes.

    Args:
        seen: the changes that are not hidden.
        scratch: a folder for temporary files.
    """
    hidden = _hidden(git)
    if not hidden:
        return {}
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        changes = read_changes(git, _index_without(git, hidden, Path(folder)))
    changed = {*changes.modified, *changes.absent}.difference(seen.modified, seen.absent)
    found = {flag: tuple(sorted(changed.intersection(paths))) for flag, paths in hidden.items()}
    return {flag: paths for flag, paths in found.items() if paths}


def _hidden(git: Git) -> dict[str, tuple[str, ...]]:
    """Return the files with each flag; of those that git skips, only those that are there."""
    listed = git.run("ls-files", "-v", "-z").split("\0")
    tagged = [entry.split(" ", 1) for entry in filter(None, listed)]
    skipped = [path for tag, path in tagged if tag in "Ss" and os.path.lexists(git.root / path)]
    found = {_SKIPPED: skipped, _ASSUMED: [path for tag, path in tagged if tag.islower()]}
    return {flag: tuple(paths) for flag, paths in found.items() if paths}


def _index_without(git: Git, hidden: Mapping[str, Collection[str]], folder: Path) -> Path:
    """Write an index as that of the checkout, but without the flags; return its path."""
    copy = folder / "index"
    shutil.copyfile(git.root / git.run("rev-parse", "--git-path", "index").strip(), copy)
    for flag, paths in hidden.items():
        git.run(
            *("-c", "core.splitIndex=false"),  # it would write into the user's repository
            *("update-index", f"--no-{flag}", "-z", "--stdin"),
            variables={"GIT_INDEX_FILE": str(copy)},
            stdin="\0".join(paths),
        )
    return copy

"""Says why git could not make a tree, and what to do."""

from __future__ import annotations

import shutil
import tempfile
from typing import TYPE_CHECKING

from benchgate.errors import MORE_PROCESSES, UsageError
from benchgate.measure.session_folder import (
    no_room,
)
from benchgate.units import format_value

if TYPE_CHECKING:
    from benchgate.git.repository import Git


# Why git could not create a tree: it names neither the reason nor a remedy.
_FULL = ("No space left on device", "Disk quota exceeded")
_NO_ACCESS = ("could not read Username", "Authentication failed", "Git credentials for")
_NO_PROCESS = "Resource temporarily unavailable"
_UNWRITABLE = ("Read-only file system", "Permission denied")


def explain(git: Git, commit: str, said: str) -> UsageError | None:
    """Say why `git worktree add` failed; None if that is unknown.

    Args:
        commit: whose tree was to be created.
        said: what git printed.
    """
    about_git = f"{git.root}: git lists the trees that benchgate measures in its .git folder"
    # git names its own folder by its place in the repository, and files of a tree by theirs.
    is_about_git = "/worktrees/" in said
    if is_about_git and any(reason in said for reason in _UNWRITABLE):
        return UsageError(
            f"cannot write to {about_git}",
            hint="Make that folder writable, or measure a copy that `git clone` makes.",
            details=said,
        )
    if is_about_git and any(reason in said for reason in _FULL):
        return UsageError(
            f"no space left in {about_git}", hint="Free some space there.", details=said
        )
    if any(reason in said for reason in _FULL):
        return no_room("no space left on device")
    if _NO_PROCESS in said:
        return UsageError("git cannot start a process", hint=MORE_PROCESSES, details=said)
    return _explain_files(git, commit, said)


def _explain_files(git: Git, commit: str, said: str) -> UsageError | None:
    """Say why a file of a tree could not be written; None if it is not about one."""
    # Of a file that it cannot write, git tells no reason.
    if "unable to write file" in said:
        free_bytes = shutil.disk_usage(tempfile.gettempdir()).free
        needed_bytes = _size_bytes(git, commit)
        if free_bytes < needed_bytes:
            free, needed = format_value(free_bytes, "B"), format_value(needed_bytes, "B")
            return no_room(f"it has {free} left, and the files of a side take {needed}")
        return UsageError(
            f"git cannot write the files of a side in {tempfile.gettempdir()}",
            hint="Look for a quota or a limit there, or set TMPDIR to another folder.",
            details=_once(said, "unable to write file"),
        )
    return None


def _once(said: str, words: str) -> str:
    """The first line with these words, and how many more there are: git prints one per file."""
    first, *others = [line for line in said.splitlines() if words in line]
    return f"{first}\n(and {len(others)} more of these)" if others else first


def hint_on_access(said: str) -> str:
    """Say how to get files that git may not fetch; "" if that is not why it failed."""
    if not any(reason in said for reason in _NO_ACCESS):
        return ""
    return (
        "This clone lacks files, and git may not fetch them. Log in, so that git can, or get them "
        "first: all files of git-lfs with `git lfs fetch --all`, and those of a partial clone by "
        "cloning again without a filter. On GitHub, give the token the permission `contents: read`."
    )


def _size_bytes(git: Git, commit: str) -> int:
    """Add up the files of a commit."""
    listed = git.run("ls-tree", "-r", "-z", "--long", commit).split("\0")
    sizes = [line.partition("\t")[0].split()[-1] for line in listed if line]
    return sum(int(size) for size in sizes if size.isdecimal())

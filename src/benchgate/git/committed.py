"""Reads files of a commit, through links.

Every function raises a UsageError if the commit is not here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchgate.git.repository import Git


_LINK = "120000"
_MOST_LINKS = 5
_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}


def read_committed(git: Git, commit: str, path: str) -> str | None:
    """Return a file's text, following symbolic links inside the commit; None if it is missing.

    Bytes that are not UTF-8 become surrogates.

    Args:
        commit: its hash.
        path: from the root of the repository, with slashes.
    """
    blob = _blob(git, commit, path)
    return None if blob is None else git.run("cat-file", "blob", blob, may_fetch=True)


def committed_bytes(git: Git, commit: str, path: str) -> int:
    """Return the size in bytes of the file that `read_committed` would read; 0 if it is missing."""
    blob = _blob(git, commit, path)
    return 0 if blob is None else int(git.run("cat-file", "-s", blob, may_fetch=True))


def resolve_committed(git: Git, commit: str, path: str) -> str | None:
    """Resolve the symbolic links in a path, as they are in the commit.

    Args:
        path: from the root of the repository, with slashes; parts that the commit lacks stay.

    Returns:
        The resolved path; None if it leaves the repository, or its links form a cycle.
    """
    if path.startswith("/"):
        return None
    done: list[str] = []
    ahead = _parts(path)
    links = 0
    while ahead:
        part = ahead.pop(0)
        if part == "..":
            if not done:
                return None
            done.pop()
            continue
        mode, blob = _entry(git, commit, "/".join([*done, part]))
        if mode != _LINK:
            done.append(part)
            continue
        links += 1
        target = git.run("cat-file", "blob", blob, may_fetch=True)
        if links > _MOST_LINKS or target.startswith("/"):
            return None
        ahead = _parts(target) + ahead
    return "/".join(done)


@lru_cache(maxsize=2)
def list_committed(git: Git, commit: str) -> tuple[str, ...]:
    """Return the paths of all files of a commit, from the root of the repository.

    Args:
        commit: its hash.
    """
    listed = git.run("ls-tree", "-r", "-z", "--full-tree", "--name-only", commit, may_fetch=True)
    return tuple(path for path in listed.split("\0") if path)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in {"", "."}]


def _blob(git: Git, commit: str, path: str) -> str | None:
    place = resolve_committed(git, commit, path)
    return (_entry(git, commit, place)[1] or None) if place else None


@lru_cache
def _entry(git: Git, commit: str, path: str) -> tuple[str, str]:
    """Return the mode of a file or link, and its blob; empty if it is missing."""
    command = ("ls-tree", "-z", "--full-tree", commit, "--", path)
    entry = git.run(*command, variables=_LITERAL, may_fetch=True)
    if " blob " not in entry.partition("\t")[0]:
        return "", ""
    mode, _, blob = entry.partition("\t")[0].split(" ")
    return mode, blob

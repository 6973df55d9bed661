"""Files as a commit holds them, whatever is checked out."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchgate.git.repository import Git

_LINK = "120000"
_MOST_LINKS = 5
_LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}


def read_committed(git: Git, commit: str, path: str) -> str | None:
    """A file's text, through symbolic links inside of the commit; None where there is none.

    Bytes that are no UTF-8 come as surrogates.

    Args:
        path: from the root of the repository, with slashes.

    Raises:
        UsageError: the commit is not here.
    """
    for _ in range(_MOST_LINKS):
        if path.startswith(("/", "../")):
            return None
        entry = git.run("ls-tree", "-z", "--full-tree", commit, "--", path, variables=_LITERAL)
        if " blob " not in entry:
            return None
        mode, _, blob = entry.partition("\t")[0].split(" ")
        text = git.run("cat-file", "blob", blob)
        if mode != _LINK:
            return text
        path = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
    return None

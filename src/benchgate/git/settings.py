"""The settings, beside the commit, that decide what git checks out."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from benchgate.git.repository import Git

_ATTRIBUTES: Final = ("info/attributes", "info/sparse-checkout", "info/grafts", "shallow")


def settings_digest(git: Git) -> str:
    """Give a digest of git's configuration, and of the files in which it keeps the rest of it.

    A filter, for example, changes files while they are checked out.
    """
    hasher = hashlib.sha256(
        git.run("config", "--list", "--show-origin", "-z").encode("utf-8", "surrogateescape")
    )
    places = [git.run("rev-parse", "--git-path", name).strip() for name in _ATTRIBUTES]
    places += filter(None, [git.ask("config", "--path", "core.attributesFile")])
    for place in places:
        path = git.root / Path(place)
        hasher.update(f"\0{place}\0".encode("utf-8", "surrogateescape"))
        if path.is_file():
            hasher.update(path.read_bytes())
    return hasher.hexdigest()

"""Tells whether two trees have the same files."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from typing import TYPE_CHECKING

from benchgate.measure.places import entries_below

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WORKTREE = ".git"


def content_digest(root: Path) -> str:
    """64 hex digits that change if a name, a mode or the content of a file below changes."""
    text = json.dumps(list(content(root))).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()


def content(root: Path) -> Iterator[tuple[str, int, str]]:
    """Every file of a tree with its mode and a digest of its content, in order of the names."""
    for entry in sorted(entries_below(root), key=lambda entry: entry.path):
        if entry.name == _WORKTREE:
            continue
        mode = entry.stat(follow_symlinks=False).st_mode
        digest = ""
        if stat.S_ISLNK(mode):
            digest = os.readlink(entry.path)  # noqa: PTH115 - as text
        elif stat.S_ISREG(mode):
            with open(entry.path, "rb") as file:  # noqa: PTH123 - thousands of files
                digest = hashlib.file_digest(file, "blake2b").hexdigest()
        yield os.path.relpath(entry.path, root), mode, digest

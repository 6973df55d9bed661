"""The state of all files of some trees at a time, by their sizes and times.

Parts of a round that are measured at the same time share the tree of their side. A file that a
benchmark writes there, for itself alone, would then be written by two processes at once.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from benchgate.measure.trees.file_state import CACHED_CODE, entries_below

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class _Folder(NamedTuple):
    """A folder; its time of change is that of the last file that came or went in it."""

    mtime_ns: int
    has_compiled_code: bool


TreeState: TypeAlias = "dict[str, int | _Folder]"
"""The files and folders of some trees by path, without what Python compiled.

A file is one number, made of its time of change and its size: there may be hundreds of thousands.
"""

_SIZE_BITS = 64


def read_state(roots: Iterable[Path]) -> TreeState:
    """Look at all files and folders below some folders, and at these."""
    state: TreeState = {}
    for root in roots:
        state |= _read_tree(os.fspath(root))
    return state


def _read_tree(root: str) -> TreeState:
    state: TreeState = {root: _Folder(os.stat(root).st_mtime_ns, has_compiled_code=False)}  # noqa: PTH116 - many strings
    for entry in entries_below(root):
        if f"{os.sep}{CACHED_CODE}{os.sep}" in entry.path:
            continue
        try:
            seen = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        if not entry.is_dir(follow_symlinks=False):
            state[entry.path] = seen.st_mtime_ns << _SIZE_BITS | seen.st_size
        elif entry.name != CACHED_CODE:
            state[entry.path] = _Folder(seen.st_mtime_ns, has_compiled_code=False)
        else:  # a folder comes before its content
            above = os.path.dirname(entry.path)  # noqa: PTH120 - as above
            folder = state.get(above)
            if isinstance(folder, _Folder):
                state[above] = _Folder(folder.mtime_ns, has_compiled_code=True)
    return state


def written_between(before: TreeState, after: TreeState) -> list[str]:
    """List what was written: files that are new or changed, or the folder of one that is gone.

    A folder in which only compiled code is new does not count.
    """
    found = [
        path
        for path, seen in after.items()
        if isinstance(seen, int) and _is_news(path, before, after)
    ]
    explained = {os.path.dirname(path) for path in found}  # noqa: PTH120 - many strings
    folders = (path for path, seen in after.items() if isinstance(seen, _Folder))
    return sorted(
        [*found, *(p for p in folders if p not in explained and _is_news(p, before, after))]
    )


def _is_news(path: str, before: TreeState, after: TreeState) -> bool:
    was, now = before.get(path), after[path]
    if isinstance(was, _Folder) and isinstance(now, _Folder):
        compiled = now.has_compiled_code and not was.has_compiled_code
        return not compiled and was != now
    return was != now

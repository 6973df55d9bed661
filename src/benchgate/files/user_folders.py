"""The folders of a user for what benchgate keeps."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def state_folder(environ: Mapping[str, str]) -> Path:
    """An absolute folder for results and logs: in XDG_STATE_HOME, or in ~/.local/state."""
    return _own_folder(environ, "XDG_STATE_HOME", Path(".local", "state"))


def cache_folder(environ: Mapping[str, str]) -> Path:
    """An absolute folder for what can be made again: in XDG_CACHE_HOME, or in ~/.cache."""
    return _own_folder(environ, "XDG_CACHE_HOME", Path(".cache"))


def _own_folder(environ: Mapping[str, str], variable: str, below_home: Path) -> Path:
    """Ignore relative paths, as the specification says: they would lead into the user's code."""
    folder = Path(environ.get(variable, ""))
    if not folder.is_absolute():
        folder = _home(environ) / below_home
    return folder / "benchgate"


def _home(environ: Mapping[str, str]) -> Path:
    named = Path(environ.get("HOME", ""))
    if named.is_absolute():
        return named
    try:
        return Path("/", pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a container may run as a user whom nobody has told it about
        return Path("/")

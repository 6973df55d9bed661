"""Where a user's programs keep their state and their caches, by the XDG base directories."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def state_folder(environ: Mapping[str, str]) -> Path:
    """The folder of benchgate's state: in XDG_STATE_HOME, or in ~/.local/state."""
    return _folder(environ, "XDG_STATE_HOME", ".local/state")


def cache_folder(environ: Mapping[str, str]) -> Path:
    """The folder of benchgate's caches: in XDG_CACHE_HOME, or in ~/.cache."""
    return _folder(environ, "XDG_CACHE_HOME", ".cache")


def _folder(environ: Mapping[str, str], variable: str, below_home: str) -> Path:
    """A relative path is ignored: it would lie in the checkout. The XDG standard says so, too."""
    named = Path(environ.get(variable, ""))
    return (named if named.is_absolute() else _home(environ) / below_home) / "benchgate"


def _home(environ: Mapping[str, str]) -> Path:
    named = Path(environ.get("HOME", ""))
    if named.is_absolute():
        return named
    try:
        return Path(pwd.getpwuid(os.geteuid()).pw_dir)
    except KeyError:  # a container's user without a name
        return Path("/")

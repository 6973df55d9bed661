"""The last result of each project, kept outside of the project so that it is not lost."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.files import ensure_writable

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE = "last.json.gz"


def last_result_path(root: Path, environ: Mapping[str, str]) -> Path:
    """Name the place of a project's last result: in XDG_STATE_HOME, or ~/.local/state."""
    home = environ.get("XDG_STATE_HOME") or Path(environ.get("HOME", "/")) / ".local" / "state"
    digest = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return Path(home) / "benchgate" / f"{root.name}-{digest}" / _FILE


def require_last_result(root: Path, environ: Mapping[str, str]) -> Path:
    """Name a project's last result.

    Raises:
        UsageError: there is none.
    """
    path = last_result_path(root, environ)
    if not path.exists():
        raise UsageError(
            f"nothing has been measured in {root} yet",
            hint="Run `benchgate check`, or name a file.",
        )
    return path


def prepare_last_result(root: Path, environ: Mapping[str, str]) -> Path | None:
    """Make the place of a project's last result; None if it cannot be written.

    Nothing is put inside of the project, which would happen if it is the home folder.
    """
    path = last_result_path(root, environ)
    if path.is_relative_to(root):
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ensure_writable(path)
    except (OSError, UsageError):
        return None
    return path

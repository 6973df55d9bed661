"""Where the last result of a project is kept, and how a copy of it is written."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchgate.errors import UsageError
from benchgate.files import ensure_writable, read_bytes, state_folder, write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


_FILE = "last.json.gz"


def last_result_path(root: Path, environ: Mapping[str, str]) -> Path:
    """The file of a project's last result."""
    digest = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return state_folder(environ) / f"{root.name}-{digest}" / _FILE


def require_last_result(root: Path, environ: Mapping[str, str]) -> Path:
    """The file of a project's last result."""
    path = last_result_path(root, environ)
    if not path.exists():
        raise UsageError(
            f"nothing has been measured in {root} yet",
            hint="Run `benchgate check`, or name a file.",
        )
    return path


def prepare_last_result(
    root: Path, environ: Mapping[str, str], say: Callable[[str], None], output: Path | None = None
) -> Path | None:
    """Create the folder of a project's last result; None if that is impossible.

    If the project is the home folder, this folder would be inside of it. Then nothing is kept.

    Args:
        say: is told why the result will not be kept.
        output: where else the result goes.
    """
    path = last_result_path(root, environ)
    if path.is_relative_to(root):
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ensure_writable(path)
    except (OSError, UsageError) as error:
        why = error.message if isinstance(error, UsageError) else f"{path}: {error.strerror}"
        kept = "kept as the last one" if output else "kept"
        more = "" if output else ", and --output a file"
        say(
            f"warning: this result will not be {kept}: {why}. "
            f"XDG_STATE_HOME names another folder{more}"
        )
        return None
    return path


@contextmanager
def copied(source: Path, copy: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Copy a file at the end, also after an error or an interruption, if it was written meanwhile.

    Args:
        say: is told why it could not be copied.
    """
    before = _written(source)
    try:
        yield
    finally:
        if _written(source) != before:
            try:
                write_atomic(copy, read_bytes(source))
            except UsageError as error:
                say(f"warning: {error.message}; the result is in {source} only")


def _written(path: Path) -> tuple[int, int] | None:
    """What differs after `write_atomic`."""
    try:
        now = path.stat()
    except OSError:
        return None
    return now.st_ino, now.st_mtime_ns

"""Writes files atomically."""

from __future__ import annotations

import errno
import gzip
import os
from contextlib import suppress
from pathlib import Path

from benchgate.errors import UsageError


def ensure_writable(path: Path) -> None:
    """Check, before measuring starts, that `write_atomic` will be able to write there.

    Raises:
        UsageError: it will not; the message says why and what to do.
    """
    try:
        _probe(_target(path))
    except OSError as error:
        raise _unwritable(path, error) from None


def _probe(target: Path) -> None:
    folder = target.parent
    if target.is_dir():
        raise UsageError(f"cannot write {target}: it is a folder", hint="Name a file inside it.")
    if not folder.is_dir():
        raise UsageError(
            f"cannot write {target}: there is no folder {folder}", hint=f"mkdir -p {folder}"
        )
    if target.exists() and not os.access(target, os.W_OK):
        raise UsageError(f"cannot write {target}: it is read-only", hint=f"chmod u+w {target}")
    if not _is_special(target):
        temporary = _temporary(target)
        os.close(_create(temporary, target))
        temporary.unlink()


def write_atomic(path: Path, data: bytes) -> None:
    """Replace a whole file: a reader sees the old content or the new content, never a part.

    A new file gets the permissions that the umask leaves; a replaced file keeps its own. Temporary
    files that a killed writer of the same file left behind are removed.

    Args:
        path: in an existing folder; the file is written as gzip if the name ends in .gz.

    Raises:
        UsageError: it cannot be written, e.g. because the disk is full.
    """
    if path.suffix == ".gz":
        data = gzip.compress(data, compresslevel=6, mtime=0)
    target = _target(path)
    try:
        if _is_special(target):
            target.write_bytes(data)
        else:
            _replace(target, data)
    except OSError as error:
        raise _unwritable(path, error) from None


def _replace(target: Path, data: bytes) -> None:
    _remove_leftovers(target)
    temporary = _temporary(target)
    try:
        with os.fdopen(_create(temporary, target), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    # The new name must survive a power cut, too.
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _target(path: Path) -> Path:
    """Follow a symbolic link, so that the link stays and its target is replaced."""
    return Path(os.path.realpath(path))


def _is_special(path: Path) -> bool:
    """Whether it is a device or a pipe, such as /dev/null, which a file must not replace."""
    return path.exists() and not path.is_file()


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{os.getpid()}.tmp")


def _create(temporary: Path, target: Path) -> int:
    """Open a new file with the permissions of the target, or those that the umask leaves."""
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with suppress(FileNotFoundError):
        os.fchmod(descriptor, target.stat().st_mode & 0o777)
    return descriptor


def _remove_leftovers(target: Path) -> None:
    """Remove the temporary files of writers that have ended."""
    prefix, suffix = f".{target.name}.", ".tmp"
    for other in target.parent.iterdir():
        name = other.name
        if name.startswith(prefix) and name.endswith(suffix):
            writer = name.removeprefix(prefix).removesuffix(suffix)
            if writer.isdecimal() and not _is_alive(int(writer)):
                other.unlink(missing_ok=True)


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _unwritable(path: Path, error: OSError) -> UsageError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        hint = "Free some space there, or write it elsewhere."
    else:
        hint = "Make the folder writable, or write it elsewhere."
    return UsageError(f"cannot write {path}: {error.strerror}", hint=hint)

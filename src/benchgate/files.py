"""Reads files, compressed or not, writes them atomically, and knows the folders of a user."""

from __future__ import annotations

import errno
import gzip
import io
import os
import pwd
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchgate.errors import FormatError, UsageError
from benchgate.model.document import MOST_MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import BinaryIO


MAX_FILE_BYTES: Final = MOST_MIB << 20
"""Size limit of a file, after expansion: four times a result of ten million samples."""

MOST_FILES: Final = 10_000
"""Most files of a folder that a tool wrote."""

_CHUNK_BYTES = 1 << 20
# What tools write for people, beside their results: most files of Criterion are of these kinds.
_PAGES = frozenset({".css", ".html", ".js", ".png", ".svg"})
_GZIP_MAGIC = b"\x1f\x8b"


class TooLargeError(FormatError):
    """A file, or the files of a folder, are larger than a limit."""

    def __init__(self, name: str, limit_bytes: int) -> None:
        mib, rest = divmod(limit_bytes, 1 << 20)
        limit = f"{limit_bytes} bytes" if rest else f"{mib} MiB"
        super().__init__(
            f"{name}: is larger than the limit of {limit}",
            hint="Measure fewer benchmarks or samples per file.",
        )


def read_bytes(path: Path, *, limit_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Read a file; expand it if its name or its first bytes say gzip.

    Raises:
        UsageError: there is no such file, or it cannot be read.
        TooLargeError: it is larger than the limit.
    """
    try:
        with path.open("rb") as file:
            packed = path.suffix == ".gz" or file.peek(2)[:2] == _GZIP_MAGIC
            return _expanded(file, str(path), packed=packed, limit_bytes=limit_bytes)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}", hint="Check the path and its permissions."
        ) from None


def read_below(
    folder: Path,
    wanted: Callable[[Path], bool] = lambda _: True,
    *,
    limit_bytes: int = MAX_FILE_BYTES,
) -> dict[str, bytes]:
    """Read the files of a folder and its subfolders, by their paths in it.

    Links, pictures and web pages are left out.

    Raises:
        TooLargeError: together they are larger than the limit.
    """
    files: dict[str, bytes] = {}
    left_bytes = limit_bytes
    for path in sorted(folder.rglob("*")):
        is_data = path.is_file() and not path.is_symlink() and path.suffix not in _PAGES
        if is_data and wanted(path):
            if len(files) == MOST_FILES:
                raise UsageError(
                    f"{folder} holds more than {MOST_FILES} files",
                    hint="Name the folder that the tool itself writes to.",
                )
            try:
                data = read_bytes(path, limit_bytes=left_bytes)
            except TooLargeError:
                raise TooLargeError(str(folder), limit_bytes) from None
            left_bytes -= len(data)
            files[path.relative_to(folder).as_posix()] = data
    return files


def read_start(path: Path, size_bytes: int) -> bytes:
    """Read the beginning of a file, expanded as by `read_bytes`; nothing if that fails."""
    with suppress(OSError, EOFError, zlib.error), path.open("rb") as file:
        packed = path.suffix == ".gz" or file.peek(2)[:2] == _GZIP_MAGIC
        with gzip.GzipFile(fileobj=file) if packed else file as stream:
            return stream.read(size_bytes)
    return b""


def broken_link(path: Path) -> str:
    """Say which symbolic link on the way to a path leads nowhere; "" if none does."""
    with suppress(PermissionError):
        for one in (path, *path.parents):
            if one.is_symlink() and not one.exists():
                return f"the symbolic link {one} to {one.readlink()} leads nowhere"
    return ""


def expand(data: bytes, name: str, *, limit_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Expand data that came from elsewhere if their first bytes say gzip.

    Raises:
        FormatError: they are not valid gzip, or larger than the limit.
    """
    packed = data[:2] == _GZIP_MAGIC
    return _expanded(io.BytesIO(data), name, packed=packed, limit_bytes=limit_bytes)


def _expanded(file: BinaryIO, name: str, *, packed: bool, limit_bytes: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=file) if packed else file as stream:
            data = _read_up_to(stream, limit_bytes)
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FormatError(f"{name}: not valid gzip: {error}", hint=_FETCH_AGAIN) from None
    except EOFError:
        raise FormatError(f"{name}: the gzip data is cut off", hint=_FETCH_AGAIN) from None
    if data is None:
        raise TooLargeError(name, limit_bytes)
    return data


def _read_up_to(stream: BinaryIO | gzip.GzipFile, limit_bytes: int) -> bytes | None:
    """Everything in the stream; None if it is larger than the limit."""
    chunks: list[bytes] = []
    size_bytes = 0
    while chunk := stream.read(_CHUNK_BYTES):
        chunks.append(chunk)
        size_bytes += len(chunk)
        if size_bytes > limit_bytes:
            return None
    return b"".join(chunks)


_FETCH_AGAIN = "The file was damaged after it was written: write or download it again."


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

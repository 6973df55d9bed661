"""Reads files, compressed or not, within limits."""

from __future__ import annotations

import gzip
import io
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from benchgate.errors import FormatError, UsageError
from benchgate.model.document import MOST_MIB

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
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

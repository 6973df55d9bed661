"""Finds text in files that are compressed, and tells which programs may be changed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_EXPANDING: tuple[tuple[bytes, Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", gzip.decompress),
    (b"BZh", bz2.decompress),
    (b"\xfd7zXZ\0", lzma.decompress),
)
_ZIP_END = b"PK\x05\x06"
_DEEPEST = 3
# How signed programs of macOS begin; other programs are not signed.
_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


def unpacked(data: bytes, depth: int = _DEEPEST) -> Iterator[bytes]:
    """Yield what is compressed in a file, as far as Python can read it.

    Args:
        depth: how many archives inside of each other to open.
    """
    if not depth:
        return
    found: list[bytes] = []
    for start, expand in _EXPANDING:
        if data.startswith(start):
            with suppress(OSError, EOFError, ValueError, lzma.LZMAError, zlib.error):
                found.append(expand(data))
    if _ZIP_END in data:
        with (
            suppress(
                zipfile.BadZipFile,
                zlib.error,
                ValueError,
                RuntimeError,
                OSError,
                NotImplementedError,
            ),
            zipfile.ZipFile(io.BytesIO(data)) as archive,
        ):
            found += [archive.read(name) for name in archive.namelist()]
    for inner in found:
        yield inner
        yield from unpacked(inner, depth - 1)


def is_patchable(data: bytes) -> bool:
    """Whether the system still runs a file after its content was changed."""
    return not data.startswith(_MACH_O)

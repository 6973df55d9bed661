"""Reads the one file in the zip archive of an artifact: untrusted, and never written to disk.

One member of a known name is all that is accepted, so there is no path to follow, nothing to
overlap, and no second thing of the same name. What the archive says of sizes is only trusted
where it refuses itself by it: reading stops at the limit whatever it says.
"""

from __future__ import annotations

import io
import stat
import struct
import warnings
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.errors import FormatError
from benchgate.units import format_value

if TYPE_CHECKING:
    from collections.abc import Collection

_DIRECTORY_ENTRY = b"PK\x01\x02"
# Compressed bytes may look like an entry, once in four billion of them.
_MOST_ENTRIES = 8
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HINT = "benchgate does not use it. The next run of that workflow uploads a new one."
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OverflowError,
    RuntimeError,  # with NotImplementedError: what zipfile cannot read
    ValueError,
    Warning,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How large an artifact may be.

    Attributes:
        archive_bytes: as it is downloaded.
        member_bytes: unpacked.
        ratio: unpacked bytes for one of the archive.
    """

    archive_bytes: int = 64 << 20
    member_bytes: int = 256 << 20
    ratio: int = 300


LIMITS: Final = Limits()


def read_member(
    data: bytes, expected: Collection[str], name: str, limits: Limits = LIMITS
) -> bytes:
    """The content of the one file in an archive.

    Args:
        data: the archive.
        expected: names that the file may have.
        name: of the artifact, for messages.

    Raises:
        FormatError: it cannot be trusted; says which artifact and why.
    """
    if len(data) > limits.archive_bytes:
        raise unbelievable(name, f"it is larger than {format_value(limits.archive_bytes, 'B')}")
    # Counted before zipfile makes an object of each.
    if data.count(_DIRECTORY_ENTRY) > _MOST_ENTRIES:
        raise unbelievable(name, _other_members(expected))
    most_bytes = min(limits.member_bytes, limits.ratio * len(data))
    try:
        with (
            warnings.catch_warnings(action="error"),
            zipfile.ZipFile(io.BytesIO(data)) as archive,
        ):
            members = archive.infolist()
            if fault := _fault(members, expected, most_bytes):
                raise unbelievable(name, fault)
            with archive.open(members[0]) as file:
                content = file.read(most_bytes + 1)
            if len(content) == members[0].file_size:
                return content
    except _DAMAGED:
        pass
    raise unbelievable(name, "its zip archive is damaged or cut off")


def unbelievable(name: str, why: str) -> FormatError:
    """The error of an artifact that cannot be trusted; its name may come from a stranger."""
    return FormatError(f"artifact {name!r}: {why}", hint=_HINT)


def _fault(
    members: list[zipfile.ZipInfo], expected: Collection[str], most_bytes: int
) -> str | None:
    if len(members) != 1 or members[0].orig_filename not in expected:
        return _other_members(expected)
    member = members[0]
    if stat.S_IFMT(member.external_attr >> 16) not in {0, stat.S_IFREG}:
        return "its content is not a plain file"
    if member.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if member.compress_type not in _METHODS:
        return "it uses a compression that benchgate does not read"
    if member.file_size > most_bytes:
        return f"it unpacks to more than {format_value(most_bytes, 'B')}"
    return None


def _other_members(expected: Collection[str]) -> str:
    return f"it must hold one file, {' or '.join(sorted(expected))}, and nothing else"

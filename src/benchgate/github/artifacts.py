"""Lists the artifacts of a repository, downloads one, and reads the file in it."""

from __future__ import annotations

import hashlib
import io
import stat
import struct
import warnings
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.errors import FormatError, GitHubError
from benchgate.github.objects import Artifact
from benchgate.units import format_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from benchgate.github.client import Client


_DIRECTORY_ENTRY = b"PK\x01\x02"
# Compressed bytes look like an entry by chance, once in four billion.
_MOST_ENTRIES = 8
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HINT = "benchgate does not use it. The next run of its workflow uploads a new one."
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OverflowError,
    RuntimeError,  # includes NotImplementedError, for what zipfile cannot read
    ValueError,
    Warning,
)
_GONE = 410


@dataclass(frozen=True, slots=True)
class Limits:
    """Size limits of an artifact.

    Attributes:
        archive_bytes: as downloaded.
        member_bytes: as unpacked.
        ratio: unpacked bytes per byte of the archive.
    """

    archive_bytes: int = 128 << 20
    member_bytes: int = 256 << 20
    ratio: int = 300


LIMITS: Final = Limits()


def read_member(
    data: bytes, expected: Collection[str], name: str, limits: Limits = LIMITS
) -> bytes:
    """Unpack the one file in an archive."""
    if len(data) > limits.archive_bytes:
        raise unbelievable(name, f"it is larger than {format_value(limits.archive_bytes, 'B')}")
    # Counted before zipfile makes an object of each entry.
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
    """The error for an artifact that cannot be trusted; a fork may have chosen its name."""
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


def list_artifacts(
    client: Client, repository: str, *, name: str | None = None, run_id: int | None = None
) -> Iterator[Artifact]:
    """List the artifacts of a repository or of one run, newest first, without duplicates.

    Expired artifacts are included. A caller that has found enough can stop before the next page.
    """
    of_run = "" if run_id is None else f"/runs/{run_id}"
    path = f"/repos/{repository}/actions{of_run}/artifacts"
    params = {} if name is None else {"name": name}
    seen: set[int] = set()  # a new artifact moves the others, and one of them to the next page
    for item in client.pages(path, params, key="artifacts"):
        artifact = Artifact.read(item, path)
        if artifact.id not in seen and name in {None, artifact.name}:
            seen.add(artifact.id)
            yield artifact


def download_artifact(
    client: Client, repository: str, artifact: Artifact, *, limit_bytes: int = LIMITS.archive_bytes
) -> bytes:
    """Download the zip archive; it is checked against the digest if the list has one."""
    path = f"/repos/{repository}/actions/artifacts/{artifact.id}/zip"
    if artifact.expired:
        raise GitHubError(
            f"artifact {artifact.name!r} has expired",
            hint="`retention-days` sets how long GitHub keeps artifacts.",
            status=_GONE,
        )
    too_large = f"it is larger than {format_value(limit_bytes, 'B')}"
    if artifact.size_in_bytes > limit_bytes:
        raise unbelievable(artifact.name, too_large)
    data = client.download(path, limit_bytes=limit_bytes)
    if data is None:
        raise unbelievable(artifact.name, too_large)
    if artifact.digest is not None and artifact.digest.lower() != _digest(data):
        raise unbelievable(artifact.name, "the download differs from what was uploaded")
    return data


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"

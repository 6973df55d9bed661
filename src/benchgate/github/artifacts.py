"""Artifacts of a repository: makes their names, lists and downloads them, reads their files."""

from __future__ import annotations

import hashlib
import io
import re
import stat
import struct
import warnings
import zipfile
import zlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Self

from benchgate.errors import FormatError, GitHubError
from benchgate.github.objects import Artifact
from benchgate.units import format_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from benchgate.github.client import Client

MAX_NAME_CHARACTERS: Final = 160

_PART_CHARACTERS = 48
_HASH_CHARACTERS = 8
_WHOLE = re.compile(r"([a-z0-9_~-]+)\.([a-z0-9_~-]+)")
_UNSAFE = re.compile(r"[^a-z0-9_-]+")


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


class ArtifactKind(StrEnum):
    """The purpose for which a complete measurement, or the report on it, is kept.

    The name only tells artifacts apart; whether one can be trusted depends on the run it is from.
    """

    BASELINE = "baseline"
    RESULT = "result"
    REPORT = "report"


def artifact_name(
    kind: ArtifactKind, *, suite: str, environment: str, shard: tuple[int, int] | None = None
) -> str:
    """The name of the artifact: `benchgate-baseline.default.linux-x86_64.2of8`.

    Args:
        suite: any text, as the configuration names it.
        environment: any text; the same on machines that can be compared.
        shard: number and count, such as (2, 8); None if one job measures everything.

    Returns:
        Safe as the name of an artifact or file and in a URL. Different arguments give names that
        differ by more than upper and lower case.
    """
    parts = [_part(suite), _part(environment)]
    if shard is not None:
        parts.append("{}of{}".format(*shard))
    return artifact_prefix(kind) + ".".join(parts)


def artifact_prefix(kind: ArtifactKind) -> str:
    """The start of all names of one kind; no other artifact of benchgate has it."""
    return f"benchgate-{kind}."


@dataclass(frozen=True, slots=True)
class Leg:
    """A suite on one kind of machine, both in the form used in names of artifacts."""

    suite: str
    environment: str

    def __str__(self) -> str:
        return f"{self.suite}.{self.environment}"

    @classmethod
    def of(cls, suite: str, environment: str) -> Self:
        """Make a leg from any texts, changed to be safe in names."""
        return cls(_part(suite), _part(environment))


def leg_in(kind: ArtifactKind, name: str) -> Leg | None:
    """The leg in a name that `artifact_name` has made.

    Returns:
        None for names of another kind, and of a shard.
    """
    prefix = artifact_prefix(kind)
    if not name.startswith(prefix) or len(name) > MAX_NAME_CHARACTERS:
        return None
    match = _WHOLE.fullmatch(name.removeprefix(prefix))
    return Leg(match[1], match[2]) if match else None


def _part(text: str) -> str:
    """The text if it is safe; or else its safe part, a tilde, and a hash of the whole."""
    safe = _UNSAFE.sub("-", text.lower())
    if safe == text and 0 < len(text) <= _PART_CHARACTERS:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    kept = safe[: _PART_CHARACTERS - _HASH_CHARACTERS - 1]
    return f"{kept}~{digest[:_HASH_CHARACTERS]}"


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

"""The artifacts of a repository: lists them, and downloads one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from benchgate.errors import GitHubError
from benchgate.github.archive import LIMITS, unbelievable
from benchgate.github.models import Artifact
from benchgate.units import format_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.github.client import Client

_GONE = 410


def list_artifacts(
    client: Client, repository: str, *, name: str | None = None, run_id: int | None = None
) -> Iterator[Artifact]:
    """The artifacts of a repository or of one run, newest first, each once.

    Expired ones are among them. Whoever has found enough need not go on to the next page.

    Args:
        repository: e.g. "octo-org/hello".
        name: all of it; None for any.

    Raises:
        GitHubError: when the list is gone through.
    """
    of_run = "" if run_id is None else f"/runs/{run_id}"
    path = f"/repos/{repository}/actions{of_run}/artifacts"
    params = {} if name is None else {"name": name}
    seen: set[int] = set()  # one that is added meanwhile moves the others on to the next page
    for item in client.pages(path, params, key="artifacts"):
        artifact = Artifact.read(item, path)
        if artifact.id not in seen and name in {None, artifact.name}:
            seen.add(artifact.id)
            yield artifact


def download_artifact(
    client: Client, repository: str, artifact: Artifact, *, limit_bytes: int = LIMITS.archive_bytes
) -> bytes:
    """The zip archive of an artifact, as it was uploaded if the listing has a digest.

    Raises:
        GitHubError: with status 410 it has expired.
        FormatError: it is too large, or not what was uploaded.
    """
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

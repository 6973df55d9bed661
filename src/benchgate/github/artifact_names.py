"""Names of result artifacts.

A baseline is searched by its exact name, which is all that the API can do over the runs of a
repository. So a name holds neither run nor attempt: it must be known before the run is. GitHub
refuses a second upload of a name within one run, and a re-run is the same run, so artifacts are
uploaded with `overwrite: true`: the newest attempt of a job is the one that counts. Two jobs of one
run must differ in suite, environment or shard; otherwise the last of them is all that is kept.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

MAX_NAME_CHARACTERS: Final = 160

_PART_CHARACTERS = 48
_HASH_CHARACTERS = 8
_WHOLE = re.compile(r"([a-z0-9_~-]+)\.([a-z0-9_~-]+)")
_UNSAFE = re.compile(r"[^a-z0-9_-]+")


class ArtifactKind(StrEnum):
    """What a complete measurement is kept as.

    The name tells artifacts apart; that one can be trusted is told by the run that it is from.
    """

    BASELINE = "baseline"
    RESULT = "result"


def artifact_name(
    kind: ArtifactKind, *, suite: str, environment: str, shard: tuple[int, int] | None = None
) -> str:
    """The name of the artifact: `benchgate-baseline.default.linux-x86_64.2of8`.

    Args:
        suite: any text, as the configuration names it.
        environment: any text, the same on machines that can be compared.
        shard: which of how many, e.g. (2, 8); None when all is measured in one job.

    Returns:
        Safe as an artifact's name, a file's and in an address. Different arguments have different
        names, also if upper and lower case are the same.
    """
    parts = [_part(suite), _part(environment)]
    if shard is not None:
        parts.append("{}of{}".format(*shard))
    return artifact_prefix(kind) + ".".join(parts)


def artifact_prefix(kind: ArtifactKind) -> str:
    """What the names of one kind begin with, and no other artifact's of benchgate."""
    return f"benchgate-{kind}."


@dataclass(frozen=True, slots=True)
class Leg:
    """A suite on one kind of machine, both as names of artifacts have them."""

    suite: str
    environment: str

    def __str__(self) -> str:
        return f"{self.suite}.{self.environment}"

    @classmethod
    def of(cls, suite: str, environment: str) -> Self:
        """The leg of any texts, which are made safe."""
        return cls(_part(suite), _part(environment))


def leg_in(kind: ArtifactKind, name: str) -> Leg | None:
    """The leg that a name tells, as `artifact_name` writes it.

    Returns:
        None for names of another kind, and of a part of a suite.
    """
    prefix = artifact_prefix(kind)
    if not name.startswith(prefix) or len(name) > MAX_NAME_CHARACTERS:
        return None
    match = _WHOLE.fullmatch(name.removeprefix(prefix))
    return Leg(match[1], match[2]) if match else None


def _part(text: str) -> str:
    """The text itself, or what is safe of it and a hash of the whole, set off by a tilde."""
    safe = _UNSAFE.sub("-", text.lower())
    if safe == text and 0 < len(text) <= _PART_CHARACTERS:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    kept = safe[: _PART_CHARACTERS - _HASH_CHARACTERS - 1]
    return f"{kept}~{digest[:_HASH_CHARACTERS]}"

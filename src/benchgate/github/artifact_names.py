"""The names of artifacts: which kind, and of which job."""

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

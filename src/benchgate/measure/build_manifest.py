"""The list of what a build left, which is stored with it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

from benchgate.measure.drawn_path import DrawnPath


class DamagedError(Exception):
    """A packed build is not as it was written."""


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file, folder or link.

    Attributes:
        name: below `env/` or `tree/`.
        size_bytes: of the content of a file.
        link: where a link leads to.
        outside: size and time of the file that a link leads to, if that is not part of the build.
    """

    name: str
    mode: int
    mtime_ns: int
    size_bytes: int = 0
    link: str | None = None
    outside: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class About:
    """Describes a build.

    Attributes:
        project: the name of the repository's folder.
        sha: the commit that was built, without uncommitted changes.
        built_s: when it was built, in seconds since 1970.
        took_s: how long that took.
        packages: what is installed in the environment: names and versions.
        warnings: the last warnings that it printed.
    """

    project: str
    sha: str
    built_s: float
    took_s: float
    packages: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a packed build holds.

    Attributes:
        place: where it was built.
        files: in the order of their contents.
        removed: names of files that the build removed from the tree.
    """

    about: About
    place: DrawnPath
    files: tuple[KeptFile, ...]
    removed: tuple[str, ...]

    def dump(self) -> bytes:
        """Give the manifest as JSON."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read what `dump` gave.

        Raises:
            DamagedError: it is something else.
        """
        try:
            found: dict[str, Any] = json.loads(data)
            about = {
                **found["about"],
                "packages": tuple(found["about"]["packages"]),
                "warnings": tuple(found["about"]["warnings"]),
            }
            files = (
                {**one, "outside": one["outside"] and tuple(one["outside"])}
                for one in found["files"]
            )
            return cls(
                About(**about),
                DrawnPath(**found["place"]),
                tuple(KeptFile(**one) for one in files),
                tuple(found["removed"]),
            )
        except (ValueError, KeyError, TypeError, RecursionError):
            raise DamagedError from None

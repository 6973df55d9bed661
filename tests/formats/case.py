"""A genuine file of a tool, for the conformance test."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from benchgate.formats.contents import ForeignFile

SAMPLES = Path(__file__).parent / "samples"


@dataclass(frozen=True)
class Case:
    """A file of a tool, and what is read of it.

    Attributes:
        path: of a file or a folder below `samples`.
        rows: by id the series, written as by `described` in the test; the error of a failed one.
        is_recognized: False if nothing in the file tells its format, so that the user must name it.
    """

    format: str
    path: str
    tool: str
    rows: dict[str, tuple[str, ...] | str]
    skipped: tuple[str, ...] = field(default=())
    is_recognized: bool = True

    def source(self) -> ForeignFile:
        place = SAMPLES / self.path
        if place.is_dir():
            files = {
                each.relative_to(place).as_posix(): each.read_bytes()
                for each in sorted(place.rglob("*"))
                if each.is_file()
            }
            return ForeignFile(self.path, files=files)
        return ForeignFile(self.path, place.read_bytes())

"""The genuine files of tools that lie in `samples`, each in the folder of its format.

A folder in there is one sample, too. Those that are called `built` were built after the source
code of the tool, for lack of genuine ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchgate.formats.contents import ForeignFile

SAMPLES = Path(__file__).parent / "samples"


@dataclass(frozen=True)
class Case:
    """A file or a folder of a tool; its path is relative to `samples`."""

    format: str
    path: str

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


CASES = [
    Case(each.parent.name, each.relative_to(SAMPLES).as_posix())
    for each in sorted(SAMPLES.glob("*/*"))
]

"""Small changes to a project, each with a benchmark of its own."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Text: TypeAlias = "str | bytes | Link | Program | None"
    Files: TypeAlias = Mapping[str, Text]

_ROW = "ROW"
# What benchmarks may use without an import of their own: nothing of the project.
PRELUDE = """\
import os
import sys
from pathlib import Path

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""


class Link(str):
    """A symbolic link, by its target."""

    __slots__ = ()


class Program(str):
    """A text that may be executed."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Change:
    """A change, and what is to be said of its benchmark; `ROW` in all texts stands for its name.

    Attributes:
        body: of the benchmark, which imports by itself what it needs.
        base: files of both sides.
        head: the files that the change writes; None deletes one.
        why: a part of the reason why it is affected; "" if it is not.
    """

    name: str
    body: str
    base: Files = field(default_factory=dict)
    head: Files = field(default_factory=dict)
    why: str = ""

    def function(self) -> str:
        """The benchmark."""
        lines = "".join(f"    {line}\n" for line in self._own(self.body).splitlines())
        return f"\n\ndef bench_{self.name}():\n{lines}"

    def files(self, *, is_head: bool) -> Files:
        """What a side writes."""
        files = self.head if is_head else self.base
        return {self._own(name): self._named(text) for name, text in files.items()}

    def expected(self) -> str:
        """The part of the reason."""
        return self._own(self.why)

    def _own(self, text: str) -> str:
        return text.replace(_ROW, f"r_{self.name}")

    def _named(self, text: str | bytes | None) -> str | bytes | None:
        if isinstance(text, str):
            return type(text)(self._own(text))
        return text


def edited(name: str, body: str, base: str, head: str, why: str = "ROW.py") -> Change:
    """A change of a module that has the name of the row."""
    return Change(name, body, {"ROW.py": base}, {"ROW.py": head}, why)


def zipped(name: str, text: str) -> bytes:
    """An archive of one file."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), text)
    return data.getvalue()

"""docs/suites.md, taken apart into the sections of the tools."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests.docs.conftest import read_page
from tests.suites.tools import PAGE

if TYPE_CHECKING:
    from tests.docs.conftest import Fence

_HEADING = re.compile(r"^#{2,3} (.+)$", re.MULTILINE)
_COMMAND = re.compile(r"^\$ (.+)$", re.MULTILINE)
_NAMED = re.compile(r"(?:#!.*\n)?(?://|#) (?P<name>[\w-]+(?:\.\w+)?)")


@dataclass(frozen=True)
class Section:
    """What stands below a heading, up to the next one."""

    name: str
    text: str
    fences: tuple[Fence, ...]

    def texts(self, language: str) -> list[str]:
        """The blocks of a language."""
        return [fence.text for fence in self.fences if fence.language == language]

    @property
    def commands(self) -> list[str]:
        """What the reader types."""
        return _COMMAND.findall("\n".join(self.texts("console")))

    @property
    def comparison(self) -> str:
        """What compares the files: its own command, or that of all tools."""
        own = [command for command in self.commands if command.startswith("benchgate ")]
        return own[-1] if own else "benchgate compare --base base-* --head head-*"

    @property
    def configuration(self) -> str:
        """What the reader writes into benchgate.toml."""
        return "\n".join(self.texts("toml"))

    @property
    def build(self) -> list[str]:
        """What prepares a side."""
        tables: dict[str, Any] = tomllib.loads(self.configuration)
        command = tables.get("build", {}).get("command", [])
        return [command] if isinstance(command, str) else command


def read_sections() -> list[Section]:
    """All sections, in the order of the page."""
    page = read_page(PAGE)
    headings = [*_HEADING.finditer(page.text), None]
    found = []
    for heading, following in pairwise(headings):
        assert heading is not None
        start, end = heading.end(), following.start() if following else len(page.text)
        lines = range(page.text.count("\n", 0, start), page.text.count("\n", 0, end))
        fences = [each for each in page.fences if int(each.place.rpartition(":")[2]) - 1 in lines]
        found.append(Section(heading[1], page.text[start:end], tuple(fences)))
    return found


def shown_files(project: str) -> dict[str, str]:
    """The files of a project that the page itself shows, by their names."""
    return {
        named["name"]: fence.text
        for fence in read_page(PAGE).fences
        if fence.scratch == project
        and (fence.language in {"js", "ruby"} or fence.text.startswith("#!"))
        and (named := _NAMED.match(fence.text))
    }

"""Addresses that a report links to; "" stands for one that is not known."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from benchgate.model.policy import Outcome

_DOCS: Final = "https://github.com/benchgate/benchgate/blob/main/docs"
_LOCATION: Final = re.compile(r"(?P<file>[^:]+):(?P<line>[1-9]\d{0,6})")


@dataclass(frozen=True, slots=True)
class Links:
    """Where to read more; all from GitHub itself, none from a result.

    Attributes:
        run: the run that measured.
        compare: the difference between base and head.
        tree: the files of the head, without a slash at the end.
        page: where the report is found as a page of HTML, with figures.
    """

    run: str = ""
    compare: str = ""
    tree: str = ""
    page: str = ""

    @property
    def guide(self) -> str:
        """The page that explains a report."""
        return f"{_DOCS}/reading-a-verdict.md" if self.run else ""

    @property
    def columns(self) -> str:
        """The part of it that explains the drawings."""
        return f"{self.guide}#the-columns" if self.run else ""

    @property
    def waivers(self) -> str:
        """How somebody accepts a change for the worse."""
        return f"{_DOCS}/configuration.md#waive" if self.run else ""

    def outcome(self, outcome: Outcome) -> str:
        """What the outcome means."""
        if not self.run:
            return ""
        return f"{_DOCS}/glossary.md#{outcome.value.replace(' ', '-')}"

    def source(self, location: str) -> str:
        """The line at which a benchmark is defined.

        Args:
            location: `path:line`, relative to the tree; "" if it is not known.
        """
        match = _LOCATION.fullmatch(location)
        if match is None or not self.tree:
            return ""
        path = PurePosixPath(match["file"])
        if path.is_absolute() or ".." in path.parts:
            return ""
        return f"{self.tree}/{quote(str(path))}#L{match['line']}"

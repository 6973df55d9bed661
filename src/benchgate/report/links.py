"""Links to the documentation, to code and to runs."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import quote

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
        """The part of it that explains the table of all benchmarks."""
        return f"{self.guide}#how-each-row-was-decided" if self.run else ""

    @property
    def waivers(self) -> str:
        """How somebody accepts a change for the worse."""
        return f"{_DOCS}/configuration.md#waive" if self.run else ""

    def changes(self, file: str) -> str:
        """What the change edits in a file."""
        anchor = hashlib.sha256(file.encode()).hexdigest()
        return f"{self.compare}#diff-{anchor}" if self.compare else ""

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


NAME_LIMIT: Final = 60
NO_LINKS: Final = Links()

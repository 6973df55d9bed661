"""The lines of what a tool printed, without the colors of a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchgate.formats.reading import Source

_COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read_lines(source: Source) -> Iterator[tuple[str, str]]:
    """The lines of a file.

    Yields:
        "line N", from 1, and the line without its end.

    Raises:
        FormatError: it is not text.
    """
    for number, line in enumerate(plain_lines(source.text()), 1):
        yield f"line {number}", line


def plain_lines(text: str) -> list[str]:
    """Split a text at line feeds alone; other marks may be a part of a name."""
    return [line.removesuffix("\r") for line in _COLOR.sub("", text).split("\n")]

"""The lines of what a tool printed, without the colors of a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchgate.formats.parsed import RowError, shown
from benchgate.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchgate.formats.parsed import Source

_MOST_SAID = 5
_COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def read_lines(source: Source) -> Iterator[tuple[str, str]]:
    """The lines of a file. A byte that is no UTF-8 is shown by its number: names stay different.

    Yields:
        "line N", from 1, and the line without its end.

    Raises:
        FormatError: it is not text.
    """
    for number, line in enumerate(plain_lines(source.text("backslashreplace")), 1):
        yield f"line {number}", line


def plain_lines(text: str) -> list[str]:
    """Split a text at line feeds alone; other marks may be a part of a name."""
    return [line.removesuffix("\r") for line in _COLOR.sub("", text).split("\n")]


def number_in(text: str, place: str) -> float:
    """The number that a text is.

    Args:
        text: without separators of thousands, and with a decimal point.

    Raises:
        RowError: it is none.
    """
    try:
        return float(text)
    except ValueError:
        raise RowError(f"{place}: {shown(text)} is not a number") from None


def left_out(lines: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Say which lines are not results, for `Reading.skipped`.

    Args:
        lines: each with its place.
    """
    said = [f"{place} is not a result: {shown(text)}" for place, text in lines[:_MOST_SAID]]
    if rest := len(lines) - len(said):
        said.append(f"{counted(rest, 'more line')} after {lines[_MOST_SAID - 1][0]}")
    return tuple(said)

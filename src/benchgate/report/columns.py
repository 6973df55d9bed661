"""Prints aligned columns, one line per row: fitted to a terminal, at full width in a pipe."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.padding import Padding
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

_GAP = "  "
_NOTE_INDENT = 4
_NAME_WANTED = 24
_NAME_LEAST = 8
_WHOLE_WANTED = 20
# In a pipe, a longer cell is printed in full, but does not widen its column on other lines.
_WIDEST_IN_PIPE = 60
# Replaces the space before a % while lines are broken; text from outside never contains it.
_BOUND = "\ue000"
# Replacements for encodings other than UTF-8; the blocks are those of a sparkline.
_PLAIN = str.maketrans("µ▁▂▃▄▅▆▇█", "u12345678")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        right: aligned to the right, as numbers are.
        name: shortened first on a narrow terminal; a table has one such column.
        drop: a narrow terminal drops columns in the order of this number; 0 is never dropped.
        whole: never shortened; what does not fit is printed below. Only the last column.
        said: how the note repeats a cell that has no column; "" if it need not.
    """

    title: str
    right: bool = False
    name: bool = False
    drop: int = 0
    whole: bool = False
    said: str = "{title} {cell}"


@dataclass(frozen=True, slots=True)
class Line:
    """One row of cells, with a note.

    Attributes:
        style: of the first cell.
        note: printed below the line on a terminal, at the end of the line in a pipe; it may have
            several lines.
        keep: repeat in the note the cells for which a narrow terminal has no column.
    """

    cells: tuple[str, ...]
    style: str = ""
    note: str = ""
    keep: bool = False


def print_text(console: Console, text: str | Text, *, indent: int = 0) -> None:
    """Print text literally: wrapped on a terminal, not in a pipe; no markup or highlighting."""
    body = _encodable(Text(text) if isinstance(text, str) else text, console)
    if console.is_terminal:
        console.print(Padding(body, (0, 0, 0, indent), expand=False), highlight=False)
        return
    body.pad_left(indent)
    console.print(body, soft_wrap=True, highlight=False)


def print_facts(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    """Print labels with a sentence each, which is wrapped beside its label on a terminal."""
    width = max((cell_len(label) for label, _ in facts), default=0) + len(_GAP)
    for label, sentence in facts:
        start = label + " " * (width - cell_len(label))
        text = _encodable(Text(start + sentence), console)
        if console.is_terminal:
            rest = max(console.width - width, _NAME_WANTED)
            bound = Text(text.plain[width:].replace(" %", f"{_BOUND}%"))
            for index, line in enumerate(bound.wrap(console, rest)):
                lead = text.plain[:width] if index == 0 else " " * width
                console.print(
                    Text(lead + line.plain.rstrip().replace(_BOUND, " ")), highlight=False
                )
        else:
            console.print(text, soft_wrap=True, highlight=False)


def print_columns(console: Console, columns: Sequence[Column], lines: Sequence[Line]) -> None:
    """The lines below the line of titles; columns without any content are left out."""
    shown = {i for i in range(len(columns)) if any(line.cells[i] for line in lines)}
    width = console.width if console.is_terminal else None
    widths = _widths(columns, lines, shown, width)
    titles = Line(tuple(column.title for column in columns))
    for line in (titles, *lines):
        dropped = sorted(shown - widths.keys()) if line.keep else []
        said = ", ".join(filter(None, (_said(columns[i], line.cells[i]) for i in dropped)))
        notes = [*filter(None, (said, *line.note.split("\n")))]
        below = [
            line.cells[i]
            for i in widths
            if columns[i].whole and width is not None and cell_len(line.cells[i]) > widths[i]
        ]
        text = Text(_GAP).join(
            Text(_cell(columns[i], line.cells[i], widths[i], whole=width is None), style)
            for i, style in zip(widths, chain([line.style], repeat("")), strict=False)
            if line.cells[i] not in below
        )
        if notes and width is None:
            text.append(f"{_GAP}# {'; '.join(notes)}")
        text.rstrip()
        console.print(_encodable(text, console), soft_wrap=True, highlight=False)
        for name in below:
            print_text(console, name, indent=_NOTE_INDENT)
        for note in notes if width is not None else ():
            print_text(console, Text(note, "dim"), indent=_NOTE_INDENT)


def _said(column: Column, cell: str) -> str:
    return column.said.format(title=column.title, cell=cell) if cell else ""


def _widths(
    columns: Sequence[Column], lines: Sequence[Line], shown: set[int], width: int | None
) -> dict[int, int]:
    """The columns to print, and the width of each in cells."""
    widths = {
        i: max(cell_len(text) for text in (columns[i].title, *(line.cells[i] for line in lines)))
        for i in sorted(shown)
    }
    if width is None:
        return {i: min(natural, _WIDEST_IN_PIPE) for i, natural in widths.items()}
    for drop in sorted({columns[i].drop for i in shown} - {0}):
        if sum(_wanted(columns[i], widths[i]) + len(_GAP) for i in widths) - len(_GAP) <= width:
            break
        widths = {i: natural for i, natural in widths.items() if columns[i].drop != drop}
    # Shorten the name first, then whatever is widest: a unit may be as long as a sentence.
    for i in sorted(widths, key=lambda i: (not columns[i].name, -widths[i])):
        excess = sum(widths.values()) + len(_GAP) * (len(widths) - 1) - width
        widths[i] -= max(0, min(excess, widths[i] - _NAME_LEAST))
    return widths


def _wanted(column: Column, natural: int) -> int:
    if column.whole:
        return min(natural, _WHOLE_WANTED)
    return min(natural, _NAME_WANTED) if column.name else natural


def _cell(column: Column, text: str, width: int, *, whole: bool) -> str:
    cell = text if whole else shorten(text, width)
    space = " " * (width - cell_len(cell))
    return f"{space}{cell}" if column.right else f"{cell}{space}"


def shorten(text: str, width: int) -> str:
    """Shorten text to `width` cells in its middle: both ends of a name tell it apart."""
    if cell_len(text) <= width:
        return text
    front, back = text[: len(text) // 2], text[len(text) // 2 :]
    while cell_len(front) + cell_len(back) + 2 > width:
        if cell_len(front) > cell_len(back):
            front = front[:-1]
        else:
            back = back[1:]
    return f"{front}..{back}"


def _encodable(text: Text, console: Console) -> Text:
    """Replace what the stream's encoding lacks, because a name must not stop the program."""
    encoding = console.encoding
    if encoding.lower().startswith("utf"):
        return text
    plain = text.plain.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return Text(plain, text.style)

"""Draw a comment of benchgate as GitHub shows it: docs/comment-light.svg and docs/comment-dark.svg.

    .venv/bin/python scripts/draw_comment.py [MARKDOWN]

Without an argument it measures a change to the functions of examples/quickstart, which takes half
a minute, and draws the comment that this gives. With one it draws that file.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from html import escape
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import cmarkgfm  # type: ignore[import-untyped]
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
QUICKSTART = ROOT / "examples" / "quickstart"
REGRESSION = 3

WIDTH_PX = 880
PADDING_PX = 16
HEADER_PX = 38
TEXT_PX, HEADING_PX, CODE_PX, SMALL_PX = 14.0, 17.5, 11.9, 10.5
CELL_X_PX, CELL_Y_PX = 11, 6
LINE_HEIGHT = 1.5
GAP_PX = 16
CODE_PADDING_PX = 5

_SANS = "-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif"
_MONO = "ui-monospace, SFMono-Regular, 'SF Mono', Menlo, Consolas, 'Liberation Mono', monospace"

# Widths of Helvetica's characters from space to tilde, in thousandths of its size. Every line is
# drawn as wide as these make it, so that it fits whatever font is there.
# fmt: off
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)
# fmt: on
_OTHER = 556
_MONOSPACED = 600
_BOLD = 1.07


@dataclass(frozen=True)
class Theme:
    """GitHub's colors."""

    canvas: str
    text: str
    muted: str
    border: str
    shaded: str
    code: str


LIGHT = Theme("#ffffff", "#1f2328", "#59636e", "#d1d9e0", "#f6f8fa", "#eff1f3")
DARK = Theme("#0d1117", "#f0f6fc", "#9198a1", "#3d444d", "#151b23", "#23292f")


@dataclass(frozen=True)
class Run:
    """Text of one style."""

    text: str
    size_px: float = TEXT_PX
    bold: bool = False
    code: bool = False

    @property
    def width_px(self) -> float:
        """How wide it is drawn."""
        per_thousand = sum(_MONOSPACED if self.code else _width(c) for c in self.text)
        return per_thousand / 1000 * self.size_px * (_BOLD if self.bold else 1)


@dataclass
class Block:
    """A heading, a paragraph, the title of a folded part, or a table; a table has rows of cells."""

    kind: str
    lines: list[list[Run]] = field(default_factory=lambda: [[]])
    rows: list[list[Block]] = field(default_factory=list)
    align: str = "left"


class Reader(HTMLParser):
    """Reads the blocks of a comment; what is folded is left out, but for its title."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[Block] = []
        self._open: Block | None = None
        self._style = Run("")
        self._folded = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a block or a style."""
        if tag == "summary" or (tag in {"h3", "p"} and not self._folded):
            self._open = Block(tag)
            self.blocks.append(self._open)
        elif tag == "details":
            self._folded = True
        elif self._folded and tag != "code":
            return
        elif tag == "table":
            self.blocks.append(Block(tag))
        elif tag == "tr":
            self.blocks[-1].rows.append([])
        elif tag in {"th", "td"}:
            self._open = Block(tag, align=dict(attrs).get("align") or "left")
            self.blocks[-1].rows[-1].append(self._open)
            self._style = Run("", bold=tag == "th")
        elif tag == "br" and self._open:
            self._open.lines.append([])
        else:
            self._switch(tag, on=True)

    def handle_endtag(self, tag: str) -> None:
        """End it."""
        if tag == "details":
            self._folded = False
        elif tag in {"h3", "p", "summary", "th", "td"}:
            self._open = None
            self._style = Run("")
        else:
            self._switch(tag, on=False)

    def handle_data(self, data: str) -> None:
        """Add text to the block that is open."""
        if self._open and data.strip("\n"):
            self._open.lines[-1].append(replace(self._style, text=data.replace("\n", " ")))

    def _switch(self, tag: str, *, on: bool) -> None:
        style = self._style
        if tag == "strong":
            self._style = replace(style, bold=on)
        elif tag == "code":
            self._style = replace(style, code=on, size_px=CODE_PX if on else TEXT_PX)
        elif tag == "sub":
            self._style = replace(style, size_px=SMALL_PX if on else TEXT_PX)


def _width(character: str) -> int:
    place = ord(character.replace("\N{NO-BREAK SPACE}", " ")) - ord(" ")
    return _WIDTHS[place] if place < len(_WIDTHS) else _OTHER


def _width_px(runs: Iterable[Run]) -> float:
    return sum(run.width_px for run in runs)


def read(markdown: str) -> list[Block]:
    """Read the blocks of a comment from the HTML that GitHub's own parser makes of it."""
    options = Options.CMARK_OPT_UNSAFE
    reader = Reader()
    reader.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, options))
    return reader.blocks


def wrapped(line: Sequence[Run], width_px: float) -> Iterator[list[Run]]:
    """Break a line between words; a word that is too long stays whole."""
    words = [
        replace(run, text=word)
        for run in line
        for word in ([run.text] if run.code else run.text.split(" "))
    ]
    current: list[Run] = []
    for word in words:
        longer = _joined(current, word)
        if current and _width_px(longer) > width_px:
            yield current
            longer = [word]
        current = longer
    yield current


def _joined(runs: Sequence[Run], word: Run) -> list[Run]:
    if runs and replace(runs[-1], text="") == replace(word, text=""):
        return [*runs[:-1], replace(word, text=f"{runs[-1].text} {word.text}")]
    return [*runs, word]


class Drawing:
    """An SVG that grows downwards."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.parts: list[str] = []
        self.y: float = HEADER_PX + PADDING_PX

    def text(self, x: float, y: float, runs: Sequence[Run], **look: str) -> None:
        """Write one line; y is that of its base line."""
        look |= {"textLength": f"{_width_px(runs):.1f}", "lengthAdjust": "spacingAndGlyphs"}
        spans = []
        for run in runs:
            style = f'font-size="{run.size_px:g}" font-weight="{600 if run.bold else 400}"'
            family = f' font-family="{_MONO}"' if run.code else ""
            spans.append(f"<tspan {style}{family}>{escape(run.text)}</tspan>")
        self.parts.append(f'<text x="{x:g}" y="{y:.1f}"{_attributes(look)}>{"".join(spans)}</text>')

    def box(self, x: float, y: float, width: float, height: float, **look: str) -> None:
        """Draw a rectangle."""
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        self.parts.append(f"<rect {place}{_attributes(look)}/>")

    def draw(self, block: Block) -> None:
        """Add a block below the others."""
        {"h3": self._heading, "table": self._table, "summary": self._folded}.get(
            block.kind, self._paragraph
        )(block)
        self.y += 8 if block.kind == "summary" else GAP_PX

    def _heading(self, block: Block) -> None:
        icon, _, words = "".join(run.text for run in block.lines[0]).partition(" ")
        self.parts.append(_icon(icon, PADDING_PX, self.y + 3))
        x = PADDING_PX + 26
        for line in wrapped([Run(words, HEADING_PX, bold=True)], WIDTH_PX - PADDING_PX - x):
            self.text(x, self.y + HEADING_PX, line)
            self.y += HEADING_PX * 1.4

    def _paragraph(self, block: Block) -> None:
        for line in filter(None, block.lines):
            for part in wrapped(line, WIDTH_PX - 2 * PADDING_PX):
                self.text(PADDING_PX, self.y + part[0].size_px, part, fill=self.theme.muted)
                self.y += part[0].size_px * LINE_HEIGHT

    def _folded(self, block: Block) -> None:
        x, y = PADDING_PX + 2, self.y + 4
        self.parts.append(f'<path d="M{x} {y:.1f}l7 5l-7 5z"/>')
        self.text(PADDING_PX + 16, self.y + TEXT_PX, block.lines[0])
        self.y += TEXT_PX * LINE_HEIGHT

    def _table(self, table: Block) -> None:
        widths = _column_widths(table)
        edges = list(accumulate(widths, initial=float(PADDING_PX)))
        for number, row in enumerate(table.rows):
            cells = [_cell_lines(cell, width) for cell, width in zip(row, widths, strict=True)]
            height_px = max(sum(map(_line_px, lines)) for lines in cells) + 2 * CELL_Y_PX
            fill = self.theme.shaded if number and number % 2 == 0 else self.theme.canvas
            for cell, lines, x, width in zip(row, cells, edges, widths, strict=False):
                self.box(x, self.y, width, height_px, fill=fill, stroke=self.theme.border)
                self._cell(cell, lines, x, width)
            self.y += height_px

    def _cell(self, cell: Block, lines: Sequence[list[Run]], x: float, width: float) -> None:
        y = self.y + CELL_Y_PX
        for line in lines:
            base = y + _line_px(line) / 2 + line[0].size_px * 0.36
            if line[0].code:
                code_px = _width_px(line) + 2 * CODE_PADDING_PX
                self.box(x + CELL_X_PX, y + 1, code_px, 19, rx="5", fill=self.theme.code)
                self.text(x + CELL_X_PX + CODE_PADDING_PX, base, line)
            elif cell.align == "right":
                self.text(x + width - CELL_X_PX, base, line, text_anchor="end")
            else:
                self.text(x + CELL_X_PX, base, line)
            y += _line_px(line)

    def finished(self, label: str) -> str:
        """Give the picture, with the frame of a comment around it."""
        height_px = self.y + PADDING_PX - GAP_PX
        theme = self.theme
        frame = Drawing(theme)
        frame.box(0, 0, WIDTH_PX, height_px + 1, fill=theme.canvas, rx="6")
        bar = f"M.5 {HEADER_PX}.5V6.5a6 6 0 0 1 6-6H{WIDTH_PX - 6.5}a6 6 0 0 1 6 6V{HEADER_PX}.5z"
        frame.parts.append(f'<path d="{bar}" fill="{theme.shaded}" stroke="{theme.border}"/>')
        frame.box(0.5, 0.5, WIDTH_PX - 1, height_px, fill="none", stroke=theme.border, rx="6")
        name = Run("github-actions", bold=True)
        x = PADDING_PX + name.width_px + 8
        frame.text(PADDING_PX, 25, [name])
        frame.box(x, 10.5, 32, 18, rx="9", fill="none", stroke=theme.border)
        frame.text(x + 16, 23.5, [Run("bot", 12)], text_anchor="middle", fill=theme.muted)
        frame.text(x + 42, 25, [Run("commented")], fill=theme.muted)
        body = "\n".join([*frame.parts, *self.parts])
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH_PX} {height_px + 1:.0f}" '
            f'width="{WIDTH_PX}" font-family="{_SANS}" fill="{theme.text}" role="img" '
            f'aria-label="{escape(label)}">\n{body}\n</svg>\n'
        )


def _line_px(line: Sequence[Run]) -> float:
    return (SMALL_PX if _is_small(line) else TEXT_PX) * LINE_HEIGHT


def _is_small(line: Sequence[Run]) -> bool:
    return bool(line) and line[0].size_px == SMALL_PX


def _attributes(look: Mapping[str, str]) -> str:
    return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in look.items())


def _cell_lines(cell: Block, width_px: float) -> list[list[Run]]:
    room_px = width_px - 2 * CELL_X_PX
    return [part for line in cell.lines if line for part in wrapped(line, room_px)]


def _column_widths(table: Block) -> list[float]:
    """As wide as the longest line; only notes, which are small, are wrapped.

    The column with the longest notes gets the room that is left.
    """
    widths, notes = [], []
    for column in zip(*table.rows, strict=True):
        lines = [line for cell in column for line in cell.lines]
        code_px = 2 * CODE_PADDING_PX if any(run.code for line in lines for run in line) else 0
        longest_px = max(_width_px(line) for line in lines if not _is_small(line))
        widths.append(longest_px + 2 * CELL_X_PX + code_px)
        notes.append(max(_width_px(line) if _is_small(line) else 0 for line in lines))
    spare_px = WIDTH_PX - 2 * PADDING_PX - sum(widths)
    widths[notes.index(max(notes))] += max(0.0, spare_px)
    return widths


def _icon(icon: str, x: float, y: float) -> str:
    """The verdict's sign, drawn, because not every font has it."""
    shapes = {
        "\N{CROSS MARK}": ("M3 3l12 12M15 3l-12 12", "#d1242f"),
        "\N{WHITE HEAVY CHECK MARK}": ("M2 10l5 5l9 -11", "#1a7f37"),
    }
    path, color = shapes.get(icon, ("M9 2v9M9 14.5v1", "#9a6700"))
    return (
        f'<path transform="translate({x:g} {y:g})" d="{path}" fill="none" stroke="{color}" '
        f'stroke-width="3.2" stroke-linecap="round"/>'
    )


def draw(blocks: Iterable[Block], theme: Theme) -> str:
    """Draw a comment."""
    blocks = list(blocks)
    drawing = Drawing(theme)
    for block in blocks:
        drawing.draw(block)
    label = "".join(run.text for run in blocks[0].lines[0])
    return drawing.finished(label)


def measured() -> str:
    """Give the comment on a change to the example project, a branch with one commit.

    Raises:
        SystemExit: the check did not find the slowdown.
    """
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "textkit")
        shutil.copytree(QUICKSTART, tree, ignore=shutil.ignore_patterns("__pycache__"))
        git = ["git", "-c", "user.name=demo", "-c", "user.email=demo@example.com"]
        for command in (
            [*git, "init", "--quiet", "--initial-branch=main"],
            [*git, "add", "."],
            [*git, "commit", "--quiet", "--message=Start textkit"],
            [*git, "switch", "--quiet", "--create", "count-words-faster"],
            [*git, "apply", "change.patch"],
            [*git, "commit", "--quiet", "--all", "--message=Count words faster"],
        ):
            subprocess.run(command, cwd=tree, check=True)
        comment = Path(folder, "comment.md")
        functions = ["--filter", "logs/*", "--filter", "text/*"]
        check = [sys.executable, "-m", "benchgate", "check", *functions, "--markdown", str(comment)]
        exit_code = subprocess.run(check, cwd=tree, check=False).returncode
        if exit_code != REGRESSION:
            sys.exit(f"the check ended with exit code {exit_code}, not {REGRESSION}: try again")
        return comment.read_text(encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    """Write both pictures."""
    markdown = Path(arguments[0]).read_text(encoding="utf-8") if arguments else measured()
    blocks = read(markdown)
    for name, theme in (("light", LIGHT), ("dark", DARK)):
        path = ROOT / "docs" / f"comment-{name}.svg"
        path.write_text(draw(blocks, theme), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

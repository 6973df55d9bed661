"""Makes text from outside (names, errors, notes) harmless; every command imports it.

A pull request from a fork can choose the name of a benchmark. In a terminal and in GitHub's
Markdown, such a name must not move the cursor, reverse the direction of the text, leave its table
cell, add a link, or notify anybody. In a spreadsheet it must not run as a formula.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


BLOCKS: Final = "▁▂▃▄▅▆▇█"
ASCII: Final = "_.-~=+*#"


_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_SPACE = re.compile(r"[^\S\t]")
_CUT = "..."
# Ids may be this long, and two of them must not become the same cell.
_CELL_LIMIT = 10_000
_COMMENT = re.compile(r"<(?=!--)")
_START_OF_BLOCK = re.compile(r"^(?P<number>\d*)(?P<mark>(?<=\d)[.)]|(?<!\d)[#+=-])")
_BACKTICKS = re.compile(r"`+")
# Spreadsheets also know the full-width forms. Where numbers have a decimal comma, they split lines
# at semicolons.
_FORMULA = re.compile("(^|;)(?=[=+@'\uff1d\uff0b\uff0d\uff20-])")

# Replacements for encodings that lack these characters; the blocks are those of a sparkline.
_ASCII: Final[dict[int, int | str]] = {
    **str.maketrans(f"µ…{BLOCKS}━─", f"u~{ASCII}#-"),
    ord("→"): "->",
}
_MAY_BREAK = "<wbr>"
# After a separator in an escaped name, and before its params.
_BETWEEN_PARTS = re.compile(r"(?<=[/.:])(?=[^/.:<])|(?<=\\_)(?=[^\\])|(?=\\\[)")

_PUNCTUATION = str.maketrans(
    {character: f"\\{character}" for character in "\\`*_[]|~"}
    | {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "&dollar;"}
)
# A zero-width space, written so that a reader of the markdown source sees it.
_BREAK = "&#8203;"
# GitHub looks for mentions, issue numbers and links in the text after it has processed markdown.
# Escapes are gone by then, so something must stand between the parts of each.
_REFERENCE = re.compile(r"(?P<head>@|#(?=\d)|GH(?=-\d)|:(?=//)|www(?=\.))", re.IGNORECASE)


def plain_line(text: str, limit: int = 300) -> str:
    """One line without control characters, at most `limit` long.

    Characters that nobody sees, or that change the direction of others, are written as their
    numbers, so that no two names look alike. Runs of white space become one space. A longer text is
    shortened in the middle, because the ends tell one benchmark from another.
    """
    line = " ".join(_visible(_ANSI.sub("", text)).split())
    if len(line) <= limit:
        return line
    kept = limit - len(_CUT)
    return f"{line[: kept - kept // 2]}{_CUT}{line[len(line) - kept // 2 :]}"


def plain_block(text: str, lines: int = 20) -> str:
    """The last `lines` lines, each harmless as in plain_line, with their indentation kept."""
    kept = _ANSI.sub("", text).rstrip().splitlines()[-lines:]
    return "\n".join(
        " " * (len(expanded) - len(expanded.lstrip())) + plain_line(expanded)
        for expanded in (line.expandtabs(4)[:2000] for line in kept)
    )


def plain_lines(text: str) -> str:
    """Lines of any number and length, with the characters of plain_line."""
    return "\n".join(_visible(_SPACE.sub(" ", line)) for line in _ANSI.sub("", text).split("\n"))


def in_encoding(text: str, encoding: str) -> str:
    r"""Text as a stream of this encoding can print it: "µs" as "us", "é" as "\xe9"."""
    if encoding.lower().startswith("utf"):
        return text
    return text.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)


def prose(text: str) -> str:
    """A plain line as markdown that shows exactly that text, in a sentence or a table cell."""
    return _REFERENCE.sub(rf"\g<head>{_BREAK}", text.translate(_PUNCTUATION))


def code_span(text: str) -> str:
    """A plain line, not empty, as a code span; GitHub finds no mention or link in it."""
    fence = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{_without_comments(text)}{pad}{fence}"


def paragraph(text: str) -> str:
    """Markdown of `prose` or `with_code` for the start of a line: no heading, no list."""
    return _START_OF_BLOCK.sub(r"\g<number>\\\g<mark>", text, count=1)


def code_cell(text: str) -> str:
    """A code span for a table cell, where a bar would end the cell."""
    return code_span(text).replace("|", "\\|")


def breaking_code(text: str) -> str:
    """A plain line as code for a table cell, with places at which its lines may break.

    Nobody copies these places with the text.
    """
    escaped = _REFERENCE.sub(rf"\g<head>{_MAY_BREAK}", text.translate(_PUNCTUATION))
    return f"<code>{_BETWEEN_PARTS.sub(_MAY_BREAK, escaped)}</code>"


def with_code(text: str, code: Callable[[str], str] = code_span) -> str:
    """A plain line as markdown in which `...` is code, as in our own messages.

    What stands in backticks can be copied as it is; every part is as harmless as without them.

    Args:
        code: `code_cell` in a table cell.
    """
    parts = text.split("`")
    is_odd_one_out = len(parts) % 2 == 0
    if is_odd_one_out or not all(part.strip() for part in parts[1:-1]):
        return prose(text)
    return "".join(code(part) if index % 2 else prose(part) for index, part in enumerate(parts))


def code_block(text: str) -> str:
    """A plain block as a fenced code block."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}text\n{_without_comments(text)}\n{fence}"


def html_text(text: str) -> str:
    """A plain line inside of an HTML block, where markdown does not apply."""
    return _REFERENCE.sub(rf"\g<head>{_BREAK}", html.escape(text, quote=False))


def html_code(text: str) -> str:
    """A plain line as code inside of an HTML block."""
    return f"<code>{html.escape(text, quote=False)}</code>"


def spreadsheet_cell(text: str) -> str:
    """One line that no spreadsheet takes for a formula, because an apostrophe stands before it.

    Whoever needs the exact text removes one apostrophe from the beginning, and after a semicolon.
    """
    return _FORMULA.sub(r"\1'", plain_line(text, _CELL_LIMIT))


def _visible(text: str) -> str:
    if text.isprintable():  # as nearly all are
        return text
    return "".join(_visible_character(one) for one in text)


def _visible_character(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":  # zero width, direction
        return f"<U+{ord(character):04X}>"
    # Control, surrogate, private use, unassigned.
    return "" if category[0] == "C" and not character.isspace() else character


def _without_comments(text: str) -> str:
    """Split comment openings: the raw text must not imitate the hidden marker of a comment."""
    return _COMMENT.sub("< ", text)


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


_NAMES_SHOWN = 3


_NAME_LIMIT = 60


def named(names: Iterable[str]) -> str:
    """Join names, with the first few in full: "a", "a and b", "a, b, c and 4 more"."""
    distinct = [plain_line(name, _NAME_LIMIT) for name in dict.fromkeys(names)]
    shown, more = distinct[:_NAMES_SHOWN], len(distinct) - _NAMES_SHOWN
    last = f"{more} more" if more > 0 else shown.pop()
    return f"{', '.join(shown)} and {last}" if shown else last

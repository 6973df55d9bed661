"""How SQL is read: its statements, and the parameters in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


ParamStyle = Literal["named", "pyformat"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where the SQL of databases differs.

    Attributes:
        backslash: whether a backslash escapes a quote in a string.
        dollar_quotes: whether `$tag$...$tag$` is a string.
        hash_comments: whether `#` begins a comment.
        nested_comments: whether `/*` in a comment opens another one.
        delimiter_lines: whether a line such as `DELIMITER //` says how statements end.
        is_complete: whether a text up to a semicolon is a whole statement.
    """

    backslash: bool = False
    dollar_quotes: bool = False
    hash_comments: bool = False
    nested_comments: bool = False
    delimiter_lines: bool = False
    is_complete: Callable[[str], bool] = lambda _: True


class SqlKind(Enum):
    """What a piece of SQL is."""

    CODE = "code"
    STRING = "string"
    COMMENT = "comment"
    PARAMETER = "parameter"
    END = "end"
    DELIMITER = "delimiter"


class Piece(NamedTuple):
    """A part of a text: `text` is as written, `name` that of a parameter or delimiter."""

    kind: SqlKind
    text: str
    name: str = ""


def pieces(sql: str, dialect: Dialect) -> Iterator[Piece]:
    """Take a text apart; the texts of the pieces joined are the text."""
    pattern = _pattern(dialect)
    position = 0
    while (found := pattern.search(sql, position)) is not None:
        if found.start() > position:
            yield Piece(SqlKind.CODE, sql[position : found.start()])
        kind, end = SqlKind(found.lastgroup), found.end()
        if kind is SqlKind.COMMENT and dialect.nested_comments:
            end = _end_of_comment(sql, found.start(), end)
        name = found["to"] if kind is SqlKind.DELIMITER else found["name"]
        yield Piece(kind, sql[found.start() : end], name or "")
        position = end
    if position < len(sql):
        yield Piece(SqlKind.CODE, sql[position:])


def names_in(sql: str, dialect: Dialect) -> frozenset[str]:
    """Return the names of the parameters in a text."""
    return frozenset(
        piece.name for piece in pieces(sql, dialect) if piece.kind is SqlKind.PARAMETER
    )


def translated(sql: str, style: ParamStyle, dialect: Dialect) -> tuple[str, bool]:
    """Write the parameters of a statement as a DB-API module wants them.

    Returns:
        The statement, and whether it has parameters. If it has none, it is as it was, and must be
        executed without any.
    """
    found = tuple(pieces(sql, dialect))
    has_params = any(piece.kind is SqlKind.PARAMETER for piece in found)
    if not has_params or style == "named":
        return sql, has_params
    texts = (
        f"%({piece.name})s" if piece.kind is SqlKind.PARAMETER else piece.text.replace("%", "%%")
        for piece in found
    )
    return "".join(texts), True


def split(sql: str, dialect: Dialect) -> tuple[str, ...]:
    """Return the statements of a text, without the ends of statements, and without empty ones."""
    statements: list[str] = []
    begun: list[Piece] = []
    delimiter = ";"

    def end() -> None:
        if any(piece.kind is not SqlKind.COMMENT and piece.text.strip() for piece in begun):
            statements.append("".join(piece.text for piece in begun).strip())
        begun.clear()

    for piece in pieces(sql, dialect):
        if piece.kind is SqlKind.DELIMITER:
            end()
            delimiter = piece.name
        elif piece.kind is SqlKind.END and delimiter == ";":
            if dialect.is_complete("".join(one.text for one in begun) + ";"):
                end()
            else:
                begun.append(piece)
        elif piece.kind is SqlKind.CODE and delimiter != ";":
            *ended, rest = piece.text.split(delimiter)
            for text in ended:
                begun.append(Piece(SqlKind.CODE, text))
                end()
            begun.append(Piece(SqlKind.CODE, rest))
        else:
            begun.append(piece)
    end()
    return tuple(statements)


def _pattern(dialect: Dialect) -> re.Pattern[str]:
    quoted = r"(?:[^{0}\\]|\\.|{0}{0})*" if dialect.backslash else r"(?:[^{0}]|{0}{0})*"
    # PostgreSQL has backslashes in E'...' alone.
    strings = [rf"{quote}{quoted.format(quote)}(?:{quote}|\Z)" for quote in "'\"`"]
    if dialect.dollar_quotes:
        strings = [
            r"\b[eE]'(?:[^'\\]|\\.|'')*(?:'|\Z)",
            *strings,
            r"(?<![\w$])\$(?P<tag>(?:[A-Za-z_]\w*)?)\$.*?(?:\$(?P=tag)\$|\Z)",
        ]
    comments = [r"--[^\n]*", r"/\*" if dialect.nested_comments else r"/\*.*?(?:\*/|\Z)"]
    if dialect.hash_comments:
        comments.append(r"\#[^\n]*")
    kinds = [
        (SqlKind.STRING, "|".join(strings)),
        (SqlKind.COMMENT, "|".join(comments)),
        (SqlKind.PARAMETER, r"(?<![:\w]):(?P<name>[A-Za-z_]\w*)"),
        (SqlKind.END, ";"),
    ]
    if dialect.delimiter_lines:
        line = r"(?im:^[ \t]*DELIMITER[ \t]+(?P<to>\S+)[ \t]*$)"
        kinds.insert(0, (SqlKind.DELIMITER, line))
    text = "|".join(f"(?P<{kind.value}>{pattern})" for kind, pattern in kinds)
    return re.compile(text, re.DOTALL)


def _end_of_comment(sql: str, start: int, after: int) -> int:
    """Return where a comment ends that began at `start`; `after` is behind its first mark."""
    if not sql.startswith("/*", start):
        return after
    depth = 1
    for mark in re.compile(r"/\*|\*/").finditer(sql, after):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(sql)

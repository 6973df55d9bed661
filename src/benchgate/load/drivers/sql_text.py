"""Reads SQL as far as drivers need it: where a statement ends, and where its parameters are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ParamStyle = Literal["named", "pyformat", "format", "qmark", "numeric"]


def _always(_text: str) -> bool:
    return True


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
    is_complete: Callable[[str], bool] = _always


class Kind(Enum):
    """What a piece of SQL is."""

    CODE = "code"
    STRING = "string"
    COMMENT = "comment"
    PARAMETER = "parameter"
    END = "end"
    DELIMITER = "delimiter"


class Piece(NamedTuple):
    """A part of a text: `text` is as written, `name` that of a parameter or delimiter."""

    kind: Kind
    text: str
    name: str = ""


def pieces(sql: str, dialect: Dialect) -> Iterator[Piece]:
    """Take a text apart; the texts of the pieces joined are the text."""
    pattern = _pattern(dialect)
    position = 0
    while (found := pattern.search(sql, position)) is not None:
        if found.start() > position:
            yield Piece(Kind.CODE, sql[position : found.start()])
        kind, end = Kind(found.lastgroup), found.end()
        if kind is Kind.COMMENT and dialect.nested_comments:
            end = _end_of_comment(sql, found.start(), end)
        name = found["to"] if kind is Kind.DELIMITER else found["name"]
        yield Piece(kind, sql[found.start() : end], name or "")
        position = end
    if position < len(sql):
        yield Piece(Kind.CODE, sql[position:])


def names_in(sql: str, dialect: Dialect) -> frozenset[str]:
    """Return the names of the parameters in a text."""
    return frozenset(piece.name for piece in pieces(sql, dialect) if piece.kind is Kind.PARAMETER)


def translated(sql: str, style: ParamStyle, dialect: Dialect) -> tuple[str, tuple[str, ...]]:
    """Write the parameters of a statement as a DB-API module wants them.

    Returns:
        The statement, and the names of its parameters in their order. If there are none, the
        statement is as it was; it must be executed without parameters.
    """
    found = tuple(pieces(sql, dialect))
    order = tuple(piece.name for piece in found if piece.kind is Kind.PARAMETER)
    if not order or style == "named":
        return sql, order
    numbers = {name: place for place, name in enumerate(dict.fromkeys(order), 1)}
    escapes = style in {"pyformat", "format"}
    texts = []
    for piece in found:
        if piece.kind is Kind.PARAMETER:
            texts.append(_placeholder(piece.name, style, numbers[piece.name]))
        else:
            texts.append(piece.text.replace("%", "%%") if escapes else piece.text)
    return "".join(texts), tuple(numbers) if style == "numeric" else order


def split(sql: str, dialect: Dialect) -> tuple[str, ...]:
    """Return the statements of a text, without the ends of statements, and without empty ones."""
    statements: list[str] = []
    begun: list[Piece] = []
    delimiter = ";"

    def end() -> None:
        if any(piece.kind is not Kind.COMMENT and piece.text.strip() for piece in begun):
            statements.append("".join(piece.text for piece in begun).strip())
        begun.clear()

    for piece in pieces(sql, dialect):
        if piece.kind is Kind.DELIMITER:
            end()
            delimiter = piece.name
        elif piece.kind is Kind.END and delimiter == ";":
            if dialect.is_complete("".join(one.text for one in begun) + ";"):
                end()
            else:
                begun.append(piece)
        elif piece.kind is Kind.CODE and delimiter != ";":
            *ended, rest = piece.text.split(delimiter)
            for text in ended:
                begun.append(Piece(Kind.CODE, text))
                end()
            begun.append(Piece(Kind.CODE, rest))
        else:
            begun.append(piece)
    end()
    return tuple(statements)


def _placeholder(name: str, style: ParamStyle, number: int) -> str:
    if style == "pyformat":
        return f"%({name})s"
    if style == "numeric":
        return f":{number}"
    return "%s" if style == "format" else "?"


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
        (Kind.STRING, "|".join(strings)),
        (Kind.COMMENT, "|".join(comments)),
        (Kind.PARAMETER, r"(?<![:\w]):(?P<name>[A-Za-z_]\w*)"),
        (Kind.END, ";"),
    ]
    if dialect.delimiter_lines:
        line = r"(?im:^[ \t]*DELIMITER[ \t]+(?P<to>\S+)[ \t]*$)"
        kinds.insert(0, (Kind.DELIMITER, line))
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

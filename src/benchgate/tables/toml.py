"""Parses TOML, and finds the line of each key."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any, Final

from benchgate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchgate.tables.document import KeyPath

MOST_LEVELS: Final = 20
"""Most brackets inside each other, and most dots between the keys of a statement."""

# Texts and comments, in which brackets have no meaning; brackets; what ends a key; and dots. A text
# that nothing closes reaches to the end: searched for its end again and again, it takes too long.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:\\.|[^"\\\n])*"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*"
    r"|[\[{\]}\n,.]",
    re.DOTALL,
)


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Parse a document.

    Raises:
        ConfigError: it is not TOML, or is nested too deeply; the message has the line.
    """
    _require_shallow(text, name)
    try:
        return tomllib.loads(text)
    except ValueError as error:  # tomllib does not wrap the error for a number of 5,000 digits
        what, _, where = str(error).partition(" (at ")
        line_column = re.match(r"line (\d+), column (\d+)", where)
        place = ":".join([name, *line_column.groups()]) if line_column else name
        if where.startswith("end"):
            what += " at the end of the file"
        raise ConfigError(
            f"{place}: is not valid TOML: {what[:1].lower()}{what[1:]}",
            hint='text needs quotes, as in margin = "2%"; https://toml.io describes the form',
        ) from None


def _require_shallow(text: str, name: str) -> None:
    """Refuse what takes long to parse, and is too deep for everything that walks the tables."""
    line, depth, dots = 1, 0, 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case ".":
                dots += 1
            case "," | "\n":
                dots = 0
        if max(depth, dots) > MOST_LEVELS:
            raise ConfigError(
                f"{name}:{line}: is nested too deeply", hint="no key needs more than three levels"
            )
        line += token[0].count("\n")


def line_numbers(text: str) -> Mapping[KeyPath, int]:
    """The line, from 1, on which each table and key of a valid TOML document starts."""
    found: dict[KeyPath, int] = {}
    last_entry: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for number, statement in statements(text):
        keys = list(paths(tomllib.loads(statement)))
        if statement.lstrip().startswith("["):
            table = _entered(keys[-1], last_entry)
            if isinstance(table[-1], int):
                found.setdefault(table[:-1], number)
            found.setdefault(table, number)
        else:
            for path in keys:
                found.setdefault((*table, *path), number)
    return found


def statements(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a valid document, with the number of their first line, from 1.

    Blank lines and comments are returned as statements that set nothing.
    """
    number, start, depth = 1, 0, 0
    for token in _TOKEN.finditer(f"{text}\n"):
        match token[0]:
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
            case "\n" if depth == 0:
                statement = text[start : token.end()]
                yield number, statement
                number += statement.count("\n")
                start = token.end()


def paths(value: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Every key below a parsed statement, outermost first; 0 stands for an entry of an array."""
    children: Iterator[tuple[str | int, object]] = iter(())
    if isinstance(value, dict):
        children = iter(value.items())
    elif isinstance(value, list):
        children = iter(enumerate(value))
    for key, child in children:
        yield (*path, key)
        yield from paths(child, (*path, key))


def _entered(header: KeyPath, last_entry: dict[KeyPath, int]) -> KeyPath:
    """The table that a header opens, in the current entry of each array on the way.

    Args:
        header: its keys, followed by 0 if it opens a new entry of an array.
        last_entry: index of the current entry of every array so far; updated for a new entry.
    """
    *parents, last = header if header[-1] != 0 else header[:-1]
    table: KeyPath = ()
    for part in parents:
        table = (*table, part)
        if table in last_entry:
            table = (*table, last_entry[table])
    table = (*table, last)
    if header[-1] != 0:
        return table
    last_entry[table] = last_entry.get(table, -1) + 1
    return (*table, last_entry[table])

"""Where a configuration came from, so that any later message can name file, line and key."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

KeyPath: TypeAlias = tuple[str | int, ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")

# Texts and comments, in which nothing opens or closes; what does; and the ends of lines.
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*"
    r"|[\[{\]}\n]",
    re.DOTALL,
)


@dataclass(frozen=True)
class Origin:
    """The document that a configuration was read from; the defaults come from nowhere.

    Attributes:
        path: its file; None for text that was not read from one.
        name: what messages call it.
        text: all of it.
        prefix: the tables that ours lie in, ("tool", "benchgate") in pyproject.toml.
        document: our tables as they were read, with the options of the command line.
        options: the command line option that each overridden key was given by.
        named: whether somebody named the file, and it was not searched for.
    """

    path: Path | None = None
    name: str = "defaults"
    text: str = ""
    prefix: tuple[str, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[tuple[str, str], str] = field(default_factory=dict)
    named: bool = False

    @cached_property
    def _lines(self) -> Mapping[KeyPath, int]:
        return line_numbers(self.text)

    def option(self, path: KeyPath) -> str | None:
        """The option that gave the value of a key, or the list that the key lies in."""
        return next((name for key, name in self.options.items() if path[: len(key)] == key), None)

    def line(self, path: KeyPath) -> int | None:
        """The line of a key, or of the table it should be in; None when neither is written."""
        if self.option(path):
            return None
        return nearest_line((*self.prefix, *path), self._lines)

    def file_and_line(self, path: KeyPath) -> str:
        """`benchgate.toml:3`, or the file alone where the key is not in it."""
        line = self.line(path)
        return self.name if line is None else f"{self.name}:{line}"

    def place(self, path: KeyPath) -> str:
        """`benchgate.toml:3: gate.margin`, or the option: `--margin`."""
        if option := self.option(path):
            return option
        file = self.file_and_line(path)
        key = dotted((*self.prefix, *path))
        return f"{file}: {key}" if key else file

    def where(self, key: str) -> str:
        """As `place`, for a dotted key; a key that nobody set is a default.

        Args:
            key: from the configuration's own root, e.g. `gate.margin` or `rule[0].margin`.
        """
        for given, option in self.options.items():
            if dotted(given) == key:
                return option
        full = ".".join([*self.prefix, key])
        for path in self._lines:
            if dotted(path) == full:
                return self.place(path[len(self.prefix) :])
        return f"{key} (default)"


def dotted(path: KeyPath) -> str:
    """A key as people write it: `gate.margin`, `benchmark[2].timeout`, `aliases."old/id"`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if _BARE_KEY.fullmatch(part) else json.dumps(part, ensure_ascii=False)
            text += f".{name}" if text else name
    return text


def line_numbers(text: str) -> Mapping[KeyPath, int]:
    """The line, from 1, that each table and key of a valid TOML document starts on."""
    found: dict[KeyPath, int] = {}
    last_entry: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for number, statement in statements(text):
        paths = list(_paths(tomllib.loads(statement)))
        if statement.lstrip().startswith("["):
            table = _entered(paths[-1], last_entry)
            if isinstance(table[-1], int):
                found.setdefault(table[:-1], number)
            found.setdefault(table, number)
        else:
            for path in paths:
                found.setdefault((*table, *path), number)
    return found


def nearest_line(path: KeyPath, lines: Mapping[KeyPath, int]) -> int | None:
    """The line of a key, or of the innermost table around it that is written down."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def statements(text: str) -> Iterator[tuple[int, str]]:
    """Statements of a valid document, with the number of their first line, from 1.

    Blank lines and comments come as statements that set nothing.
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


def _paths(value: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Every key below a parsed statement, outermost first; 0 stands for an entry of an array."""
    children: Iterator[tuple[str | int, object]] = iter(())
    if isinstance(value, dict):
        children = iter(value.items())
    elif isinstance(value, list):
        children = iter(enumerate(value))
    for key, child in children:
        yield (*path, key)
        yield from _paths(child, (*path, key))


def _entered(header: KeyPath, last_entry: dict[KeyPath, int]) -> KeyPath:
    """The table that a header opens, below the current entry of each array on the way.

    Args:
        header: its keys, and a 0 behind them when it opens a new entry of an array.
        last_entry: index of the current entry of every array so far; the new one is added.
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

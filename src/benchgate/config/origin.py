"""Where a configuration came from, so that any later message can name file, line and key."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from benchgate.config.places import dotted, line_numbers, nearest_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchgate.config.places import KeyPath


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

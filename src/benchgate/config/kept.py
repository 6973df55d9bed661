"""What of a configuration is kept with a result, so that it can be judged so again."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchgate.config.origin import dotted, statements
from benchgate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchgate.config.origin import Origin

MOST_CHARACTERS: Final = 100_000
"""As many as a text may have in a result file that is read."""

_MEASURES_ONLY = (
    ("build",),
    ("benchmark", "env"),
    ("benchmark", "prepare"),
    ("benchmark", "cleanup"),
)
_COMMAND = ("benchmark", "command")
_STAND_IN = "not-kept"


def kept_text(origin: Origin, redact: Callable[[str], str]) -> str:
    """Write the document anew, each key on the line where it was, so that messages name it.

    Left out are comments, what other tools have in the file, and what is never asked when a result
    is judged: [build], what benchmarks run, and with which variables. Secrets are taken out of one
    text at a time, so that it is still a document.

    Raises:
        ConfigError: it is too long to be kept.
    """
    text = "\n".join(_lines(origin, _Writer(origin.prefix, redact))).rstrip("\n")
    if len(text) > MOST_CHARACTERS:
        raise ConfigError(
            f"{origin.name}: has more than {MOST_CHARACTERS} characters",
            hint="A glob, in [[rule]] or [[waive]], can stand for many benchmarks.",
        )
    return text


def _lines(origin: Origin, writer: _Writer) -> Iterator[str]:
    table: tuple[str, ...] = ()
    count = 0
    for number, statement in statements(origin.text):
        path, value = _descended(tomllib.loads(statement))
        if statement.lstrip().startswith("["):
            table = path
            line = writer.header(path, is_entry=isinstance(value, list))
        else:
            line = writer.assignment(table, path, value) if path else ""
        if line:
            yield from [""] * (number - count - 1)
            yield line
            count = number


def _descended(statement: dict[str, object]) -> tuple[tuple[str, ...], object]:
    """The dotted key of a statement, and what it is set to."""
    path: tuple[str, ...] = ()
    value: object = statement
    while isinstance(value, dict) and len(value) == 1:
        ((key, value),) = value.items()
        path = (*path, key)
    return path, value


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes TOML.

    Attributes:
        prefix: the tables that ours lie in.
    """

    prefix: tuple[str, ...]
    redact: Callable[[str], str]

    def header(self, path: tuple[str, ...], *, is_entry: bool) -> str:
        """The line that opens a table; nothing where it is left out."""
        name = self._key(path)
        return (f"[[{name}]]" if is_entry else f"[{name}]") if self._is_kept(path) else ""

    def assignment(self, table: tuple[str, ...], key: tuple[str, ...], value: object) -> str:
        """The line that sets a key; nothing where it is left out."""
        path = (*table, *key)
        return f"{self._key(key)} = {self._value(path, value)}" if self._is_kept(path) else ""

    def _is_kept(self, path: tuple[str, ...]) -> bool:
        depth = len(self.prefix)
        ours = path[depth:]
        is_ours = path[:depth] == self.prefix[: len(path)]
        return is_ours and not any(ours[: len(gone)] == gone for gone in _MEASURES_ONLY)

    def _key(self, path: tuple[str, ...]) -> str:
        return dotted(tuple(map(self.redact, path)))

    def _value(self, path: tuple[str, ...], value: object) -> str:
        if isinstance(value, dict):
            pairs = [
                f"{self._key((key,))} = {self._value((*path, key), one)}"
                for key, one in value.items()
                if self._is_kept((*path, key))
            ]
            return f"{{ {', '.join(pairs)} }}"
        if isinstance(value, list):
            return f"[{', '.join(self._value(path, one) for one in value)}]"
        if isinstance(value, str):
            if path[len(self.prefix) :] == _COMMAND:
                value = _STAND_IN  # no benchmark is without one
            # JSON writes texts as TOML does, but for this character.
            return json.dumps(self.redact(value), ensure_ascii=False).replace("\x7f", "\\u007f")
        return str(value).lower() if isinstance(value, bool | float) else str(value)

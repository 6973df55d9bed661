"""A document of tables, and the place of each key in it, for messages."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from benchgate.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

KeyPath: TypeAlias = tuple[str | int, ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read, unchecked.

    Attributes:
        name: what messages call it.
        tables: what it holds.
        lines: the line, from 1, of each table and key in it, by its dotted name.
    """

    name: str
    tables: Mapping[str, Any]
    lines: Mapping[str, int]

    def line(self, path: KeyPath) -> int | None:
        """The line of a key, or of the innermost table around it that the document contains."""
        names = (dotted(path[:length]) for length in range(len(path), 0, -1))
        return next((self.lines[name] for name in names if name in self.lines), None)

    def place(self, path: KeyPath) -> str:
        """`benchgate.toml:3: gate.margin`."""
        line, key = self.line(path), dotted(path)
        file = self.name if line is None else f"{self.name}:{line}"
        return f"{file}: {key}" if key else file


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


def read_text(path: Path, name: str) -> str:
    """Read a file that a user wrote.

    Args:
        name: what messages call it.

    Raises:
        ConfigError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{name}: is not UTF-8 text (byte {error.start})", hint="save it as UTF-8"
        ) from None
    except OSError as error:
        raise ConfigError(
            f"{name}: cannot be read: {(error.strerror or str(error)).lower()}",
            hint="check the path and its permissions",
        ) from None

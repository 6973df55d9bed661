"""Counts what a JSON file holds before it is parsed: few bytes can stand for much memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from benchgate.errors import FormatError


@dataclass(frozen=True, slots=True)
class JsonLimits:
    """What a file may hold.

    Attributes:
        containers: arrays and objects. An empty one takes three bytes in the file, and twenty times
            as many in memory.
        keys: each takes four bytes with its value, and a hundred times as many in memory.
        values: a number takes two bytes, and sixteen times as many in memory.
    """

    containers: int
    keys: int
    values: int


MOST_MIB: Final = 1024
"""Size limit of any file, after expansion."""

TOOL_FILE_MIB: Final = 128
"""Usual size limit of what another tool wrote: JSON takes five times as much memory."""

OWN_FILE: Final = JsonLimits(2_000_000, 3_000_000, 10_000_000)
"""Two to four times what a result of 10,000 benchmarks x 20 launches of two metrics holds."""

OTHER_FILE: Final = JsonLimits(5_000_000, 12_000_000, 40_000_000)
"""Other tools do not pack their samples. Nobody reads their files with the rights of others."""

MAX_KEYS: Final = 100_000
"""Most keys of a document in objects with more than `KEYS_OF_AN_OBJECT`.

An unknown key takes ten bytes in the file. What tells that it is unknown takes 2,500.
"""

KEYS_OF_AN_OBJECT: Final = 1000

# What makes no structure: everything but quotes, braces, colons, and what may follow a backslash.
_CONTENT: Final = bytes(set(range(256)) - set(b'"{}:\\/bfnrtu'))

# An object of nothing but numbers, as most are; or a text, which is a key before a colon; or where
# an object begins or ends. A text that nothing closes reaches to the end.
_PIECE: Final = re.compile(
    rb'\{(?:[^"{}]*+"[^"\\{}]*+":[^"{}]*+){0,40}+\}'
    rb'|"[^"\\]*+(?:\\.[^"\\]*+)*+"?(\s*+:)?'
    rb"|[{}]",
    re.DOTALL,
)


def require_few(data: bytes, name: str, limits: JsonLimits) -> None:
    """Refuse a JSON file that would need very much memory.

    Raises:
        FormatError: it holds too many values.
    """
    counts = (
        (data.count(b"[") + data.count(b"{"), limits.containers, "arrays and objects", "launches"),
        (data.count(b":"), limits.keys, "keys", "launches"),
        (data.count(b","), limits.values, "values", "samples"),
    )
    for count, limit, what, fewer in counts:
        if count > limit:
            raise FormatError(
                f"{name}: holds more than {limit} {what}, which is the limit",
                hint=f"Measure fewer benchmarks or {fewer} into one file.",
            )


def require_few_keys(data: bytes, name: str) -> None:
    """Refuse a JSON file with objects that are far larger than those of any document.

    Raises:
        FormatError: they hold too many keys.
    """
    if data.count(b":") <= MAX_KEYS:
        return
    counts = [0]
    many = 0
    for piece in _PIECE.finditer(data.translate(None, delete=_CONTENT)):
        if piece[1] is not None:
            counts[-1] += 1
            many += counts[-1] > KEYS_OF_AN_OBJECT
            if many > MAX_KEYS:
                raise FormatError(
                    f"{name}: holds objects with more than {MAX_KEYS} keys, which is the limit",
                    hint="benchgate writes no such file: write or fetch it again.",
                )
        elif piece[0] == b"{":
            counts.append(0)
        elif piece[0] == b"}" and len(counts) > 1:
            counts.pop()

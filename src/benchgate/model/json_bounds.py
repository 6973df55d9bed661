"""Counts what a JSON file holds before it is parsed: few bytes can stand for much memory."""

from __future__ import annotations

import re
from typing import Final

from benchgate.errors import FormatError

MAX_CONTAINERS: Final = 2_000_000
"""Most arrays and objects in one file: four times those of 10,000 benchmarks x 20 launches.

An empty array takes three bytes in the file, and twenty times as many in memory.
"""

MAX_VALUES: Final = 10_000_000
"""Most values in one file: twice those of 10,000 benchmarks x 20 launches of two metrics.

A number takes two bytes in the file, and sixteen times as many in memory. Samples are packed.
"""

MAX_COLONS: Final = 3_000_000
"""Most colons in one file: three times the keys of 10,000 benchmarks of two metrics.

A key and its value take four bytes in the file, and a hundred times as many in memory.
"""

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


def require_few(data: bytes, name: str) -> None:
    """Refuse a JSON file that would need very much memory.

    Raises:
        FormatError: it holds too many values.
    """
    if data.count(b"[") + data.count(b"{") > MAX_CONTAINERS:
        raise FormatError(
            f"{name}: holds more than {MAX_CONTAINERS} arrays and objects, which is the limit",
            hint="Measure fewer benchmarks or launches into one file.",
        )
    if data.count(b":") > MAX_COLONS:
        raise FormatError(
            f"{name}: holds more than {MAX_COLONS} keys, which is the limit",
            hint="Measure fewer benchmarks or launches into one file.",
        )
    if data.count(b",") > MAX_VALUES:
        raise FormatError(
            f"{name}: holds more than {MAX_VALUES} values, which is the limit",
            hint="Measure fewer benchmarks or samples into one file.",
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

"""Numbers with their units, as tools for Rust print them for people."""

from __future__ import annotations

import re
from typing import Final

from benchgate.formats.parsed import RowError, shown

TIMES_S: Final = {
    "ps": 1e-12,
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    **dict.fromkeys(("\N{MICRO SIGN}s", "\N{GREEK SMALL LETTER MU}s"), 1e-6),
}
_POWERS = {prefix: power for power, prefix in enumerate("KMGTP", 1)} | {"k": 1}
_PREFIXED = re.compile(r"([kKMGTP])(?:(i)(?=B)|(?!i?\Z))(\S+)")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(?: (\S+))?")


def time_in(text: str, place: str) -> float:
    """The time in seconds that a text is, such as "1.25 ms".

    Raises:
        RowError: it is none.
    """
    number, unit = _split(text, place)
    if unit not in TIMES_S:
        raise RowError(f"{place}: {shown(text)} is not a time such as 1.25 ms")
    return number * TIMES_S[unit]


def amount_in(text: str, place: str) -> tuple[float, str]:
    """The number that a text is, and its unit without the prefix: "1.5 Kitem/s" is 1500 item/s.

    Raises:
        RowError: it is none.
    """
    number, unit = _split(text, place)
    if match := _PREFIXED.fullmatch(unit):
        number *= (1024.0 if match[2] else 1000.0) ** _POWERS[match[1]]
        unit = match[3]
    return number, unit


def _split(text: str, place: str) -> tuple[float, str]:
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise RowError(f"{place}: {shown(text.strip())} is not a number with a unit")
    return float(match[1]), match[2] or ""

"""Fills the places in texts of a scenario with the values of an operation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from benchgate.load.parameters import Parameters, Value


_NAME = re.compile(r"(?<![:\w]):([A-Za-z_]\w*)")


def names_in(text: str) -> frozenset[str]:
    """Return the names that may be parameters in a text."""
    return frozenset(_NAME.findall(text))


def text_of(value: Value) -> str:
    """Write a value as JSON does, but text without quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def filler(
    text: str, names: Collection[str], write: Callable[[Value], str] = text_of
) -> Callable[[Parameters], str]:
    """Return a function that replaces the parameters of a text by their values.

    Args:
        names: of the parameters; a colon in front of anything else is left alone.
        write: makes a value text.
    """
    parts: list[tuple[str, str]] = []
    end = 0
    for found in _NAME.finditer(text):
        if found[1] in names:
            parts.append((text[end : found.start()], found[1]))
            end = found.end()
    rest = text[end:]
    if not parts:
        return lambda _: text

    def fill(params: Parameters) -> str:
        return "".join([before + write(params[name]) for before, name in parts]) + rest

    return fill


def json_filler(value: object, names: Collection[str]) -> Callable[[Parameters], object]:
    """Return a function that replaces the parameters in all texts of a JSON value.

    A text that is nothing but a parameter becomes its value, with its type.
    """
    if isinstance(value, str):
        if value[:1] == ":" and value[1:] in names:
            name = value[1:]
            return lambda params: params[name]
        return filler(value, names)
    if isinstance(value, dict):
        items = {key: json_filler(item, names) for key, item in value.items()}
        return lambda params: {key: fill(params) for key, fill in items.items()}
    if isinstance(value, list):
        entries = [json_filler(item, names) for item in value]
        return lambda params: [fill(params) for fill in entries]
    return lambda _: value

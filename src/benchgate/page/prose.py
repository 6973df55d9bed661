"""Renders sentences with code in them, in which no text from outside becomes markup."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from markdown import Markdown

if TYPE_CHECKING:
    from collections.abc import Iterable

# What Markdown, as the library knows it, reads as markup.
_MARKUP: Final = re.compile(r"([\\*_{}\[\]()#+.!-])")
_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "`": "&#96;"})
_BEFORE_UNIT: Final = re.compile(r"(?<=\d) (?=(?:%|(?:[nµm]?s|min|h|[KMGT]?i?B)\b))")
_NUL: Final = re.compile("[\x02\x03]")  # the library's own marks


def sentence(text: str) -> str:
    """A plain line as HTML in which `...` is code; everything else shows as it is."""
    parts = _NUL.sub("", text).split("`")
    is_paired = len(parts) % 2 == 1 and all(part.strip() for part in parts[1:-1])
    # The library would drop the spaces at the ends of code.
    if not is_paired or any(part != part.strip() for part in parts[1::2]):
        return _inline(_plain(text))
    return _inline(
        "".join(f"`{part}`" if index % 2 else _plain(part) for index, part in enumerate(parts))
    )


def unbroken(text: str) -> str:
    """The same text, in which a line does not end between a number and its unit."""
    return _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text)


def sentences(texts: Iterable[str]) -> tuple[str, ...]:
    """Several of them."""
    return tuple(map(sentence, texts))


def _plain(text: str) -> str:
    return _MARKUP.sub(r"\\\1", unbroken(text)).translate(_ENTITIES)


def _inline(source: str) -> str:
    html = _markdown().reset().convert(source.strip() or "\\-")
    return html.removeprefix("<p>").removesuffix("</p>")


@cache
def _markdown() -> Markdown:
    found = Markdown()
    found.preprocessors.deregister("html_block")
    for name in (
        "html",
        "link",
        "image_link",
        "autolink",
        "automail",
        "reference",
        "short_reference",
    ):
        found.inlinePatterns.deregister(name)
    return found

"""The frame of every page: one file of HTML with its style, scripts and data, and no network.

A page is a template in `assets/` that fills the blocks of `frame.html`:

    {% extends "frame.html" %}
    {% from "parts.html" import figure %}
    {% block main %}
      <h1>{{ title }}</h1>
      {{ figure("trend-1", "How the time of parse/logs went; 2 change points.") }}
    {% endblock %}

and one call:

    render(
        "history.html",
        title="History",
        figures={"trend-1": chart},
        rows=rows,                # whatever else the template shows
    )

Every value is escaped, so a template needs no filter. `figure(key, caption)` makes the place of a
chart; the browser draws it when it comes into view, or when the `<details>` around it is opened.
`charts.py` has the types of charts: lines, steps, points, bars and bands on one or two axes, with
vertical and horizontal marks, zoom, a cursor for pointer and keyboard, and a table of the data.

`extra_style` and `extra_script` name more files in `assets/`. All of it becomes part of the page,
and the policy of the page (CSP) allows exactly that: no network, no other script, no `style`
attribute, no `on...` attribute.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown import Markdown
from markupsafe import Markup

from benchgate import __version__
from benchgate.page.charts import packed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchgate.page.charts import Chart


_ASSETS: Final = resources.files("benchgate.page") / "assets"
_STYLE: Final = ("frame.css",)
_EARLY_SCRIPT: Final = ("theme.js",)
_SCRIPT: Final = ("charts.js", "explore.js", "frame.js")
_SEPARATORS: Final = re.compile(r"(?<=[/._\-,])(?=.)")
# What ends a script element, or begins a comment in one, must not occur in its data.
_ESCAPES: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def render(
    template: str,
    *,
    title: str,
    figures: Mapping[str, Chart] | None = None,
    nav: Iterable[tuple[str, str]] = (),
    extra_style: tuple[str, ...] = (),
    extra_script: tuple[str, ...] = (),
    **values: object,
) -> str:
    """Write a whole page.

    Args:
        template: name of a file in `assets/` that extends "frame.html".
        title: of the window and the tab.
        figures: charts by the keys that the template gives to `figure`.
        nav: text and address of links to other pages, shown at the top.
        values: what the template shows besides `title`.
    """
    style = "\n".join(map(asset, (*_STYLE, *extra_style)))
    early = "\n".join(map(asset, _EARLY_SCRIPT))
    script = "\n".join(map(asset, (*_SCRIPT, *extra_script)))
    return (
        _environment()
        .get_template(template)
        .render(
            values,
            title=title,
            nav=tuple(nav),
            version=__version__,
            policy=policy((style,), (early, script)),
            style=_as_is(style),
            early_script=_as_is(early),
            script=_as_is(script),
            figures=_as_is(json_text(packed(figures or {}))),
        )
    )


@cache
def asset(name: str) -> str:
    """The text of a file in `assets/`."""
    return (_ASSETS / name).read_text("utf-8")


def json_text(value: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    """Compact JSON that may stand in a script element, whatever it says."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES)


def policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """The content security policy of a page with exactly these inline styles and scripts."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src {' '.join(map(_source, styles))}",
            f"script-src {' '.join(map(_source, scripts))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("benchgate.page", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {"breakable": breakable, "sentence": lambda text: _as_is(sentence(text))}
    return found


def breakable(name: str) -> Markup:
    """A name that a line may end within, after a separator."""
    return _as_is("<wbr>").join(_SEPARATORS.split(name))


def _as_is(text: str) -> Markup:
    return Markup(text)  # noqa: S704 - our own files, and JSON that `json_text` escapes


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

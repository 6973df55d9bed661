"""Makes the bytes of requests, as far as possible before the first one is sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from benchgate.load.drivers.placeholders import filler, json_filler, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import TypeAlias

    from benchgate.load.drivers.http_tables import Request
    from benchgate.load.values import Parameters, Value

    Message: TypeAlias = Callable[[Parameters], tuple[bytes, bytes]]
    """Makes a request: what goes before further header lines, and what goes behind them."""

_KEPT_IN_PATH: Final = "%/?:@!$&'()*+,;=~-._[]"


def message_of(
    request: Request, names: Collection[str], *, prefix: str, headers: Mapping[str, str]
) -> Message:
    """Return what makes a request's bytes.

    Args:
        names: of its parameters.
        prefix: what comes before its path.
        headers: all of its headers.
    """
    path = filler(quote(prefix + request.path, safe=_KEPT_IN_PATH), names, _in_path)
    body = _body_of(request, names)
    lines = filler("".join(f"{name}: {text}\r\n" for name, text in headers.items()), names, _line)

    def message(params: Parameters) -> tuple[bytes, bytes]:
        content = b"" if body is None else body(params)
        length = "" if body is None else f"Content-Length: {len(content)}\r\n"
        head = f"{request.method} {path(params)} HTTP/1.1\r\n{lines(params)}{length}"
        return head.encode(), b"\r\n" + content

    if names:
        return message
    ready = message({})
    return lambda _: ready


def with_headers(headers: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Add headers; they replace those of the same name, in capitals or not."""
    added = {name.lower() for name in more}
    return {name: text for name, text in headers.items() if name.lower() not in added} | {**more}


def _body_of(request: Request, names: Collection[str]) -> Callable[[Parameters], bytes] | None:
    if request.json_body is not None:
        value = json_filler(request.json_body, names)
        return lambda params: json.dumps(value(params), separators=(",", ":")).encode()
    if request.body is not None:
        text = filler(request.body, names)
        return lambda params: text(params).encode()
    if request.method in {"POST", "PUT", "PATCH"}:
        return lambda _: b""
    return None


def _in_path(value: Value) -> str:
    return quote(text_of(value), safe="")


def _line(value: Value) -> str:
    text = text_of(value)
    if "\r" in text or "\n" in text:
        raise ValueError("a header cannot hold a line break")
    return text

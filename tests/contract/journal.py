"""What was asked, and what of it no GitHub would have understood."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from werkzeug.wrappers import Request


@dataclass(frozen=True, slots=True)
class Asked:
    """One request.

    Args:
        path: as routes name it: without GHES's prefix, by the repository's name.
        headers: names in lower case; of Authorization the scheme alone.
        body: decoded JSON; text where it is none.
    """

    host: Literal["api", "downloads"]
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any

    def is_like(self, pattern: str) -> bool:
        return fnmatchcase(f"{self.method} {self.path}", pattern)


class Journal:
    """Requests and violations, in the order in which they came."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.requests: list[Asked] = []
        self.violations: list[str] = []

    def record(self, host: Literal["api", "downloads"], path: str, request: Request) -> None:
        headers = {name.lower(): value for name, value in request.headers.items()}
        if "authorization" in headers:
            headers["authorization"] = f"{headers['authorization'].partition(' ')[0]} ***"
        asked = Asked(host, request.method, path, request.args.to_dict(), headers, _body(request))
        with self._lock:
            self.requests.append(asked)

    def violation(self, request: Request, text: str) -> None:
        with self._lock:
            self.violations.append(f"{request.method} {request.full_path.rstrip('?')}: {text}")


def _body(request: Request) -> object:
    text = request.get_data(as_text=True)
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text

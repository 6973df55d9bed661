"""A client for the part of GitHub's REST API that benchgate uses: every failure is an error."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from pydantic_core import from_json
from requests.utils import parse_header_links

from benchgate.errors import GitHubError
from benchgate.github.exchange import Answer, Request
from benchgate.github.failed_requests import decide
from benchgate.github.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import requests

    from benchgate.github.exchange import Reply
    from benchgate.github.transport import Token

LIMIT_S: Final = 90.0
"""Time limit of one call, including repetitions and all pages.

If GitHub limits requests, it mostly asks for a wait of a minute, which must fit in.
"""

MAX_JSON_BYTES: Final = 32 << 20
MAX_PAGES: Final = 100
PAGE_SIZE: Final = 100
"""The most that GitHub returns on one page."""

_BETWEEN_WRITES_S = 1.0  # GitHub's advice for creating content


class Client:
    """Sends requests to GitHub, and repeats them within limits if they fail.

    Every method raises a GitHubError if GitHub refuses, does not answer in time, or gives an answer
    that cannot be understood. The error names the method, the path and the status.

    Args:
        api_url: "https://api.github.com", or "https://HOST/api/v3" of a GitHub Enterprise Server.
        token: None to read public data only.
        session: its proxies and certificates are used, also those of the environment; ~/.netrc not.
        clock: seconds; never goes backwards.
        draw: returns a random number from 0 to 1.

    Raises:
        UsageError: the address is not one to which a token may be sent.
    """

    def __init__(
        self,
        api_url: str,
        token: Token | None,
        *,
        session: requests.Session,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        draw: Callable[[], float],
        limit_s: float = LIMIT_S,
    ) -> None:
        self._api_url = api_url.rstrip("/")
        self._transport = Transport(api_url, token, session=session, clock=clock)
        self._clock = clock
        self._sleep = sleep
        self._draw = draw
        self._limit_s = limit_s
        self._next_write_s = clock()

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Get the object at a path.

        Args:
            path: below the API's address; begins with a slash, and is quoted if needed.
        """
        request = Request("GET", path, self._url(path, params))
        return _object(request, _parsed(request, self._ask(request, limit_s=self._limit_s)))

    def pages(
        self, path: str, params: Mapping[str, str] | None = None, *, key: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Get the objects of a list; a page is requested after the previous one was used up.

        Args:
            key: key of the list, if the answer is an object that holds the list.
        """
        url = self._url(path, {"per_page": str(PAGE_SIZE), **(params or {})})
        request = Request("GET", path, url)
        left_s = self._limit_s
        for _ in range(MAX_PAGES):
            asked_s = self._clock()
            answer = self._ask(request, limit_s=left_s)
            left_s -= self._clock() - asked_s
            yield from _items(request, _parsed(request, answer), key)
            following = _next_page(answer)
            if following is None:
                return
            if not self._transport.is_api(following):
                raise _unbelievable(request, "its next page is on another host")
            request = replace(request, url=following)
        raise _unbelievable(request, f"it has more than {MAX_PAGES} pages")

    def post(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Create an object; return it.

        A request is not repeated if GitHub may have done it: the hint of the error says so.
        """
        return self._write("POST", path, body)

    def patch(self, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        """Change an object; return its new state."""
        return self._write("PATCH", path, body)

    def delete(self, path: str) -> None:
        """Delete an object."""
        self._send(Request("DELETE", path, self._url(path, None)))

    def download(self, path: str, *, limit_bytes: int) -> bytes | None:
        """Download from a path, maybe from another host; None if there is more than the limit."""
        request = Request("GET", path, self._url(path, None))
        return self._ask(request, limit_s=self._limit_s, limit_bytes=limit_bytes).body

    def _url(self, path: str, params: Mapping[str, str] | None) -> str:
        return f"{self._api_url}{path}{'?' + urlencode(params) if params else ''}"

    def _write(self, method: str, path: str, body: Mapping[str, object]) -> dict[str, Any]:
        request = Request(method, path, self._url(path, None), json.dumps(body).encode())
        return _object(request, _parsed(request, self._send(request)))

    def _send(self, request: Request) -> Answer:
        """Send a request that changes something, some time after the one before."""
        if (wait_s := self._next_write_s - self._clock()) > 0:
            self._sleep(wait_s)
        try:
            return self._ask(request, limit_s=self._limit_s)
        finally:
            self._next_write_s = self._clock() + _BETWEEN_WRITES_S

    def _ask(
        self, request: Request, *, limit_s: float, limit_bytes: int = MAX_JSON_BYTES
    ) -> Answer:
        deadline_s = self._clock() + limit_s
        failures: list[Reply] = []
        while True:
            reply = self._transport.exchange(
                request, limit_bytes=limit_bytes, deadline_s=deadline_s
            )
            if isinstance(reply, Answer) and reply.is_success:
                return reply
            failures.append(reply)
            left_s = deadline_s - self._clock()
            decision = decide(request, failures, left_s=left_s, draw=self._draw())
            if isinstance(decision, GitHubError):
                raise decision
            self._sleep(decision)


def _parsed(request: Request, answer: Answer) -> object:
    if answer.body is None:
        raise _unbelievable(request, f"it holds more than {MAX_JSON_BYTES} bytes")
    try:
        document: object = from_json(answer.body)
    except ValueError:
        raise _unbelievable(request, "it is not JSON") from None
    return document


def _object(request: Request, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _unbelievable(request, "it is not an object")
    return value


def _items(request: Request, page: object, key: str | None) -> list[dict[str, Any]]:
    values = page if key is None else _object(request, page).get(key)
    if not isinstance(values, list):
        raise _unbelievable(request, f"{f'`{key}`' if key else 'it'} is not a list")
    return [_object(request, value) for value in values]


def _next_page(answer: Answer) -> str | None:
    links = parse_header_links(answer.headers.get("link", ""))
    return next((link["url"] for link in links if link.get("rel") == "next"), None)


def _unbelievable(request: Request, why: str) -> GitHubError:
    return GitHubError(
        f"{request.method} {request.path}: GitHub's answer cannot be used: {why}",
        hint="A proxy may have answered instead of GitHub: check GITHUB_API_URL.",
    )

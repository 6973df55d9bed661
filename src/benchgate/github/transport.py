"""Requests to GitHub, limited in time and size."""

from __future__ import annotations

import ipaddress
import re
import ssl
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from requests.auth import AuthBase

from benchgate import __version__
from benchgate.errors import UsageError
from benchgate.github.answers import Answer, NoAnswer, Reply, Request, harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


CONNECT_S: Final = 10.0
READ_S: Final = 30.0
"""Longest time without any bytes from the server."""

_HEADERS = {
    "Accept": "application/vnd.github+json",
    "Accept-Encoding": "gzip",
    "User-Agent": f"benchgate/{__version__}",
    "X-GitHub-Api-Version": "2022-11-28",
}
_REDIRECTS = {301, 302, 307, 308}  # for all of them, GitHub means: repeat the same request there
_MOST_REDIRECTS = 3
_CHUNK_BYTES = 1 << 16
_MESSAGE_BYTES = 1 << 16
_TOKEN = re.compile(r"[!-~]+")
_CERTIFICATES = "Set REQUESTS_CA_BUNDLE to a file with the certificates to trust."
_PROXY_ERRORS = (
    requests.exceptions.ProxyError,
    requests.exceptions.InvalidProxyURL,
    requests.exceptions.InvalidSchema,  # of a proxy: other addresses were checked before
)
_PROXY = "HTTPS_PROXY and NO_PROXY set which proxy is used."


class Token:
    """A token that is never printed, and only sent to the API.

    Args:
        value: as in the environment; white space around it is ignored.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value.strip()
        if not _TOKEN.fullmatch(self._value):
            raise UsageError(
                "the GitHub token is empty, or has characters that cannot be in a token",
                hint="Pass it as GITHUB_TOKEN.",
            )

    def __repr__(self) -> str:
        return "Token(...)"

    def authorization(self) -> str:
        return f"Bearer {self._value}"


class Transport:
    """Sends requests, follows redirects, and returns the answer or why there is none.

    Args:
        api_url: "https://api.github.com", or "https://HOST/api/v3" of a GitHub Enterprise Server.
        token: None if no request needs one.
        clock: seconds; never goes backwards.
    """

    def __init__(
        self,
        api_url: str,
        token: Token | None,
        *,
        session: requests.Session,
        clock: Callable[[], float],
    ) -> None:
        if not _is_safe(api_url, plain=True):
            raise UsageError(
                f"{api_url!r} is not an address of GitHub's API: it must start with https://",
                hint="Set GITHUB_API_URL to https://api.github.com, or to https://HOST/api/v3.",
            )
        self._origin = _origin(api_url)
        self._plain = urlsplit(api_url).scheme == "http"
        self._token = token
        self._session = session
        self._clock = clock

    def is_api(self, url: str) -> bool:
        """Whether an address has the scheme, host and port of the API."""
        return _origin(url) == self._origin

    def exchange(self, request: Request, *, limit_bytes: int, deadline_s: float) -> Reply:
        """Send a request; return its answer, or the reason why none came.

        A redirect to another host is followed without the token, and only for a GET.

        Args:
            limit_bytes: for the body of a success; of a failure's body, the beginning is kept.
            deadline_s: time on the clock at which it must have ended.
        """
        url = request.url
        for _ in range(_MOST_REDIRECTS + 1):
            host = harmless(urlsplit(url).netloc.rpartition("@")[2])
            try:
                with self._send(request, url, deadline_s) as response:
                    if response.status_code not in _REDIRECTS:
                        body = self._body(response, limit_bytes, deadline_s)
                        status, headers = response.status_code, response.headers
                        return Answer(host, not self.is_api(url), status, headers, body)
                    url = _target(url, response.headers.get("location", ""))
            except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
                return _no_answer(error, host)
            if not self._may_follow(request, url):
                return NoAnswer(host, "it redirects to a forbidden address", is_final=True)
        return NoAnswer(host, "it redirects too many times", is_final=True)

    def _send(self, request: Request, url: str, deadline_s: float) -> requests.Response:
        left_s = deadline_s - self._clock()
        if left_s <= 0:
            raise TimeoutError
        headers = {**_HEADERS, **({"Content-Type": "application/json"} if request.body else {})}
        # Set even if there is nothing to add: otherwise requests would look into ~/.netrc.
        auth = _Authorization(self._token if self.is_api(url) else None)
        asked = requests.Request(request.method, url, headers, data=request.body, auth=auth)
        # Not session.send, which reads the whole body of a redirect and follows it by itself.
        settings = self._session.merge_environment_settings(url, {}, None, None, None)
        return self._session.get_adapter(url).send(
            self._session.prepare_request(asked),
            stream=True,
            timeout=(min(CONNECT_S, left_s), min(READ_S, left_s)),
            verify=settings["verify"] or True,
            cert=settings["cert"],
            proxies=settings["proxies"],
        )

    def _body(
        self, response: requests.Response, limit_bytes: int, deadline_s: float
    ) -> bytes | None:
        failed = response.status_code >= 300
        body = bytearray()
        # Not iter_content, which waits for a whole chunk, however slowly its bytes arrive.
        while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=True):
            body += chunk
            if failed and len(body) >= _MESSAGE_BYTES:
                return bytes(body[:_MESSAGE_BYTES])
            if len(body) > limit_bytes:
                return None
            if self._clock() > deadline_s:
                raise TimeoutError
        return bytes(body)

    def _may_follow(self, request: Request, url: str) -> bool:
        if request.method != "GET" and not self.is_api(url):
            return False
        return _is_safe(url, plain=self._plain)


class _Authorization(AuthBase):
    """Sets the Authorization header, or leaves it out."""

    def __init__(self, token: Token | None) -> None:
        self._token = token

    def __call__(self, prepared: requests.PreparedRequest) -> requests.PreparedRequest:
        prepared.headers.pop("Authorization", None)
        if self._token is not None:
            prepared.headers["Authorization"] = self._token.authorization()
        return prepared


def _target(url: str, location: str) -> str:
    """The address that a redirect leads to; None if it is not valid."""
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def _origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an address; None if it is not a valid HTTP address."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}[parts.scheme]
    except (ValueError, KeyError):
        return None
    return parts.scheme, parts.hostname or "", port


def _is_safe(url: str, *, plain: bool) -> bool:
    """Whether a token may be sent there: by https, or unencrypted within this machine."""
    match _origin(url):
        case None | (_, "", _):
            return False
        case ("http", host, _):
            return plain and _is_loopback(host)
    return True


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _no_answer(error: Exception, host: str) -> NoAnswer:
    """Why there is no answer, in our own words: those of the error may hold secrets."""
    causes = tuple(_causes(error))

    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    if has(ssl.SSLCertVerificationError):
        reason = "its certificate is not trusted"
        return NoAnswer(host, reason, sent=False, hint=_CERTIFICATES, is_final=True)
    if has(*_PROXY_ERRORS):
        return NoAnswer(host, "the connection through the proxy failed", sent=False, hint=_PROXY)
    sent = not has(requests.ConnectTimeout, urllib3.exceptions.NewConnectionError)
    if has(TimeoutError, requests.Timeout, urllib3.exceptions.ReadTimeoutError):
        return NoAnswer(host, "it timed out", sent=sent)
    said = (cause.strerror for cause in causes if isinstance(cause, OSError))
    return NoAnswer(host, next(filter(None, said), "the connection was lost"), sent=sent)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

"""Requests to GitHub, limited in time and size."""

from __future__ import annotations

import ipaddress
import re
import ssl
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import requests
import urllib3

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


class Transport(requests.Session):
    """Sends requests, follows redirects, and returns the answer or why there is none.

    Proxies and certificates are those of the environment; passwords of ~/.netrc are not used.

    Args:
        api_url: "https://api.github.com", or "https://HOST/api/v3" of a GitHub Enterprise Server.
        token: None if no request needs one.
        clock: seconds; never goes backwards.
    """

    def __init__(self, api_url: str, token: Token | None, *, clock: Callable[[], float]) -> None:
        if not _is_safe(api_url, plain=True):
            raise UsageError(
                f"{api_url!r} is not an address of GitHub's API: it must start with https://",
                hint="Set GITHUB_API_URL to https://api.github.com, or to https://HOST/api/v3.",
            )
        super().__init__()
        self.headers.update(_HEADERS)
        self.auth = self._authorize
        self.max_redirects = _MOST_REDIRECTS
        self._api_url = self._url = api_url
        self._token = token
        self._clock = clock
        self._deadline_s = clock()

    def is_api(self, url: str) -> bool:
        """Whether an address has the scheme, host and port of the API."""
        return _origin(url) == _origin(self._api_url)

    def exchange(self, request: Request, *, limit_bytes: int, deadline_s: float) -> Reply:
        """Send a request; return its answer, or the reason why none came.

        A redirect to another host is followed without the token, and only for a GET.

        Args:
            limit_bytes: for the body of a success; of a failure's body, the beginning is kept.
            deadline_s: time on the clock at which it must have ended.
        """
        self._deadline_s = deadline_s
        try:
            response = self.request(request.method, request.url, json=request.body, stream=True)
            with response:
                body = self._body(response, limit_bytes)
            elsewhere = not self.is_api(self._url)
            return Answer(self._host, elsewhere, response.status_code, response.headers, body)
        except requests.TooManyRedirects:
            return NoAnswer(self._host, "it redirects too many times", is_final=True)
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            return _no_answer(error, self._host)
        except ValueError:
            return NoAnswer(self._host, "it redirects to a forbidden address", is_final=True)

    @property
    def _host(self) -> str:
        """The host that was asked last."""
        return harmless(urlsplit(self._url).netloc.rpartition("@")[2])

    def send(self, request: requests.PreparedRequest, **settings: Any) -> requests.Response:  # noqa: ANN401 - what requests passes
        left_s = self._deadline_s - self._clock()
        if left_s <= 0:
            raise TimeoutError
        self._url = request.url or ""
        settings["timeout"] = (min(CONNECT_S, left_s), min(READ_S, left_s))
        return super().send(request, **settings)

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target is not None:
            resp.close()  # requests would read the whole body, which may be endless
            if resp.status_code in {301, 302}:
                resp.status_code = 307  # GitHub always means: repeat the same request there
        return target

    def rebuild_auth(
        self,
        prepared_request: requests.PreparedRequest,
        response: requests.Response,  # noqa: ARG002 - what requests passes
    ) -> None:
        url = prepared_request.url or ""
        is_plain = self._api_url.startswith("http:")
        may_leave = prepared_request.method == "GET" and _is_safe(url, plain=is_plain)
        if not (may_leave or self.is_api(url)):
            raise ValueError  # as requests does if the address is not valid
        self._authorize(prepared_request)

    def _authorize(self, prepared: requests.PreparedRequest) -> requests.PreparedRequest:
        prepared.headers.pop("Authorization", None)
        if self._token is not None and self.is_api(prepared.url or ""):
            prepared.headers["Authorization"] = self._token.authorization()
        return prepared

    def _body(self, response: requests.Response, limit_bytes: int) -> bytes | None:
        body = bytearray()
        # Not iter_content, which waits for a whole chunk, however slowly its bytes arrive.
        while chunk := response.raw.read1(_CHUNK_BYTES, decode_content=True):
            body += chunk
            if response.status_code >= 300 and len(body) >= _MESSAGE_BYTES:
                return bytes(body[:_MESSAGE_BYTES])
            if len(body) > limit_bytes:
                return None
            if self._clock() > self._deadline_s:
                raise TimeoutError
        return bytes(body)


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

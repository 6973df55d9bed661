"""Requests to GitHub, limited in time and size, repeated if that may help."""

from __future__ import annotations

import ipaddress
import math
import re
import ssl
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from pydantic_core import from_json
from requests.auth import AuthBase

from benchgate import __version__
from benchgate.errors import GitHubError, UsageError
from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


_LONGEST_MESSAGE = 300
_MOST_ERRORS = 5


@dataclass(frozen=True, slots=True)
class Request:
    """A request to read or to change something on GitHub.

    Attributes:
        method: "GET", "POST", "PATCH" or "DELETE".
        path: below the API's address and without a query, as shown in messages.
        body: as JSON; None for a GET or DELETE.
    """

    method: str
    path: str
    url: str
    body: bytes | None = None

    @property
    def is_repeatable(self) -> bool:
        """Whether sending it twice has the same effect as once: a PATCH sets what it names."""
        return self.method != "POST"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, with any status.

    Attributes:
        elsewhere: whether a redirect led away from the API.
        headers: names are looked up in lower case.
        body: None if it is larger than the limit.
    """

    host: str
    elsewhere: bool
    status: int
    headers: Mapping[str, str]
    body: bytes | None

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        """GitHub's description of a failure, made safe and on one line; "" if there is none."""
        try:
            said = from_json(self.body or b"")
        except ValueError:
            return ""
        if not isinstance(said, dict):
            return ""
        errors = said.get("errors")
        parts = [said.get("message"), *(errors[:_MOST_ERRORS] if isinstance(errors, list) else ())]
        return harmless(": ".join(filter(None, map(_words, parts))))


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """No complete answer arrived.

    Attributes:
        reason: the cause, to end the sentence "no answer from api.github.com: ".
        sent: whether the request may have arrived.
        is_final: whether a repeated request would fail in the same way.
    """

    host: str
    reason: str
    sent: bool = True
    hint: str = ""
    is_final: bool = False


Reply: TypeAlias = Answer | NoAnswer


def harmless(text: str) -> str:
    """One line of bounded length, without control, direction and invisible characters."""
    shown = "".join(c if c.isprintable() else " " for c in text[: 10 * _LONGEST_MESSAGE])
    line = " ".join(shown.split())
    return line if len(line) <= _LONGEST_MESSAGE else f"{line[: _LONGEST_MESSAGE - 3]}..."


def _words(part: Any) -> str:  # noqa: ANN401 - whatever the answer holds
    """A message, or one of the errors of a "Validation Failed"."""
    if isinstance(part, dict):
        return str(part.get("message") or f"{part.get('field', '')} {part.get('code', '')}".strip())
    return part if isinstance(part, str) else ""


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


# The path after /repos/OWNER/NAME/, and the permission that a job needs for it.
_AREAS = {
    "actions": "actions",
    "check-runs": "checks",
    "issues": "pull-requests",  # benchgate uses only comments on pull requests
    "pulls": "pull-requests",
    "statuses": "statuses",
}
_ACCEPTED = re.compile(r"([a-z_]{1,40})=(read|write|admin)")
_MOST_ACCEPTED = 300

_SIGN_ON = "Authorize the token for the organization's single sign-on."
_READ_ONLY = (
    " The token of a pull request from a fork is always read-only: use a second workflow"
    " with `benchgate publish` to comment there."
)
_UNAUTHORIZED = (
    "The token is missing, wrong or expired. The action passes the job's token; `benchgate ci` "
    "reads BENCHGATE_TOKEN, and `benchgate check --run` reads GITHUB_TOKEN or GH_TOKEN."
)
_EXPIRED = "`retention-days` sets how long GitHub keeps artifacts; the next run uploads a new one."
_STORAGE = "Try again. If a firewall is in the way, it must allow {host} too."
_LATER = "Try again later; https://www.githubstatus.com lists incidents."
_MAYBE_DONE = "GitHub may have done it anyway: check before you repeat it."
_SOMETIME = "GitHub limits the rate of requests, and does not say for how long. Try again later."
_WHEN = "The rate limit resets in {wait}, longer than benchgate waits. Try again then."


MOST_FAILURES: Final = 5
"""After so many server errors and lost connections, benchgate gives up a request."""

_FIRST_LIMIT_S = 60.0
_LEAST_LIMIT_S = 2.0
_FIRST_BACKOFF_S = 1.0
_NUMBER = re.compile(r"[0-9]{1,12}")
_LIMIT_WORDS = ("rate limit", "abuse detection")
_STALE_LINK = {403, 404, 410}


def failure(request: Request, reply: Reply, *, limited_s: float | None = None) -> GitHubError:
    """Make the error that ends a request.

    Args:
        limited_s: until a rate limit ends, if that is why GitHub refuses; infinite if GitHub does
            not say.
    """
    what = f"{request.method} {request.path}"
    status = None
    if isinstance(reply, NoAnswer):
        message = f"{what}: no answer from {reply.host}: {reply.reason}"
        hint = reply.hint or _LATER
        is_known = not reply.sent
    else:
        status = reply.status
        who = f"the storage at {reply.host}" if reply.elsewhere else "GitHub"
        message = f"{what}: {who} answered {status}"
        if reply.message:
            message = f"{message}: {reply.message}"
        hint = _hint(request, reply)
        is_known = status < 500
    if limited_s == math.inf:
        hint = _SOMETIME
    elif limited_s is not None:
        hint = _WHEN.format(wait=format_duration(limited_s))
    elif not request.is_repeatable and not is_known:
        hint = _MAYBE_DONE
    return GitHubError(message, hint=hint, status=status)


def _hint(request: Request, answer: Answer) -> str:
    if answer.elsewhere:
        return _STORAGE.format(host=answer.host)
    if answer.status == 403:
        return _permission_hint(request, answer)
    if answer.status == 404:
        return f"It does not exist, or the token lacks `{_needed(request)}` and cannot see it."
    if answer.status == 410 and "/artifacts/" in request.path:
        return _EXPIRED
    if answer.status >= 500:
        return _LATER
    return _UNAUTHORIZED if answer.status == 401 else ""


def _permission_hint(request: Request, answer: Answer) -> str:
    if "SAML" in answer.message:
        return _SIGN_ON
    if not request.path.startswith("/repos/"):
        return "A job's own token has no access to this."
    needed = _accepted(answer) or _needed(request)
    hint = f"The token lacks `{needed}`: add it to the job's `permissions`."
    return hint if request.method == "GET" else hint + _READ_ONLY


def _needed(request: Request) -> str:
    """The permission that a request needs, as a workflow writes it: "actions: read"."""
    below = request.path.split("/")[4:5]  # the part after /repos/OWNER/NAME/
    area = _AREAS.get("".join(below), "contents")
    return f"{area}: {'read' if request.method == 'GET' else 'write'}"


def _accepted(answer: Answer) -> str:
    """The permissions that GitHub names itself, "issues=write; pull_requests=write"."""
    header = answer.headers.get("x-accepted-github-permissions", "")[:_MOST_ACCEPTED]
    ways = (
        "` and `".join(f"{area.replace('_', '-')}: {level}" for area, level in found)
        for found in map(_ACCEPTED.findall, header.split(";"))
        if found
    )
    return "` or `".join(ways)


class _Kind(Enum):
    RATE_LIMIT = auto()
    STALE_LINK = auto()
    PASSING = auto()
    FINAL = auto()


def decide(
    request: Request, failures: Sequence[Reply], *, left_s: float, draw: float
) -> float | GitHubError:
    """Decide how many seconds to wait before repeating the request, or make the final error.

    Args:
        failures: the replies of this request so far, the newest last.
        left_s: seconds that the request may still take, including waits.
        draw: a random number from 0 to 1.
    """
    last = failures[-1]
    if isinstance(last, Answer) and _kind(last) is _Kind.RATE_LIMIT:
        return _wait_for_limit(request, last, failures, left_s)
    wait_s = _wait_s(request, failures, draw)
    if wait_s is not None and wait_s < left_s:
        return wait_s
    return failure(request, last)


def _wait_for_limit(
    request: Request, last: Answer, failures: Sequence[Reply], left_s: float
) -> float | GitHubError:
    times = sum(_kind(one) is _Kind.RATE_LIMIT for one in failures)
    told_s = _limited_s(last.headers, times)
    wait_s = min(_FIRST_LIMIT_S * 2.0 ** (times - 1), left_s / 2) if told_s is None else told_s
    if wait_s < left_s and (told_s is not None or wait_s >= _LEAST_LIMIT_S):
        return wait_s
    return failure(request, last, limited_s=math.inf if told_s is None else told_s)


def _wait_s(request: Request, failures: Sequence[Reply], draw: float) -> float | None:
    last = failures[-1]
    kind = _kind(last)
    times = sum(_kind(one) is kind for one in failures)
    if kind is _Kind.STALE_LINK:
        return 0.0 if times == 1 else None
    if kind is _Kind.FINAL or times >= MOST_FAILURES:
        return None
    if not request.is_repeatable and not (isinstance(last, NoAnswer) and not last.sent):
        return None
    asked_s = _number(last.headers, "retry-after") if isinstance(last, Answer) else None
    return asked_s or _FIRST_BACKOFF_S * 2 ** (times - 1) * (0.5 + draw)


def _kind(reply: Reply) -> _Kind:
    if isinstance(reply, NoAnswer):
        return _Kind.FINAL if reply.is_final else _Kind.PASSING
    if reply.elsewhere and reply.status in _STALE_LINK:
        return _Kind.STALE_LINK
    if reply.status == 429 or (reply.status == 403 and _speaks_of_a_limit(reply)):
        return _Kind.RATE_LIMIT
    return _Kind.PASSING if reply.status >= 500 else _Kind.FINAL


def _speaks_of_a_limit(answer: Answer) -> bool:
    return (
        "retry-after" in answer.headers
        or answer.headers.get("x-ratelimit-remaining") == "0"
        or any(words in answer.message.lower() for words in _LIMIT_WORDS)
    )


def _limited_s(headers: Mapping[str, str], times: int) -> float | None:
    """Seconds until a rate limit ends, by GitHub's own clock; None if it does not say."""
    asked_s = _number(headers, "retry-after")
    if asked_s is not None:
        return asked_s if times == 1 else max(asked_s, 2.0 ** (times - 1))
    reset_s, now_s = _number(headers, "x-ratelimit-reset"), _date_s(headers)
    if headers.get("x-ratelimit-remaining") == "0" and reset_s is not None and now_s is not None:
        return max(reset_s - now_s + 1.0, 2.0**times)
    return None


def _number(headers: Mapping[str, str], name: str) -> float | None:
    text = headers.get(name, "").strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def _date_s(headers: Mapping[str, str]) -> float | None:
    """When GitHub answered, in seconds since 1970; a runner's own clock may be wrong."""
    try:
        return parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, OverflowError):
        return None

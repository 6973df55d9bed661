"""The driver `http`: requests to a server, over one connection for each worker."""

from __future__ import annotations

import base64
import json
import re
import ssl
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Annotated, Final, Self
from urllib.parse import quote, unquote, urljoin, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from benchgate.load.drivers.driver import (
    Connection,
    Driver,
    OperationError,
    PlainJson,
    TargetError,
    check_params,
)
from benchgate.load.drivers.fillers import filler, json_filler, names_in, text_of
from benchgate.load.drivers.http_wire import ERRORS, SEEN_BYTES, Wire, reason
from benchgate.load.placeholders import each_expanded
from benchgate.load.scenario import Pattern, Script, Step, Target
from benchgate.tables import fields
from benchgate.tables.fields import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from email.message import Message
    from typing import TypeAlias

    from benchgate.load.drivers.driver import LaunchPlace, Operation
    from benchgate.load.parameters import Parameters, Value


if TYPE_CHECKING:
    RequestMaker: TypeAlias = Callable[[Parameters], tuple[bytes, bytes]]
    """Makes a request: what goes before further header lines, and what goes behind them."""

_KEPT_IN_PATH: Final = "%/?:@!$&'()*+,;=~-._[]"


def message_of(
    request: HttpRequest, names: Collection[str], *, prefix: str, headers: Mapping[str, str]
) -> RequestMaker:
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


def _body_of(request: HttpRequest, names: Collection[str]) -> Callable[[Parameters], bytes] | None:
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


_METHOD = re.compile(r"[A-Za-z]{1,20}")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})


def _method(name: str) -> str:
    if not _METHOD.fullmatch(name):
        raise ValueError("must be a method such as GET or POST")
    return name.upper()


def _path(path: str) -> str:
    if not path.startswith("/"):
        raise ValueError("must begin with /")
    if "#" in path:
        raise ValueError("has a # and what follows it, which is not sent to a server")
    return path


def _header(name: str) -> str:
    if not _HEADER.fullmatch(name):
        raise ValueError(f"{name!r} cannot be the name of a header")
    if name.lower() in _FRAMING:
        raise ValueError(f"benchgate itself sends {name}")
    return name


def _one_line(text: str) -> str:
    if any(char in text for char in "\r\n\0"):
        raise ValueError("must be one line")
    return text


def _one_or_more(value: object) -> object:
    return (value,) if isinstance(value, int) else fields.as_tuple(value)


Status = Annotated[int, Field(ge=100, le=599)]
Statuses = Annotated[tuple[Status, ...], BeforeValidator(_one_or_more)]
Headers = Mapping[
    Annotated[str, AfterValidator(_header)], Annotated[str, AfterValidator(_one_line)]
]


class HttpTarget(Target):
    """An HTTP server."""

    url: fields.Text = Field(description="Where the server is, such as `http://127.0.0.1:{port}`.")
    headers: Headers = Field(default_factory=dict, description="Headers of all requests.")
    timeout_s: fields.Duration = Field(
        default="30s",
        alias="timeout",
        validate_default=True,
        description="If an operation takes longer, with all of its answer, it has failed.",
    )
    follow_redirects: bool = Field(
        default=False, description="Whether a redirect is followed, as a part of the operation."
    )
    verify: bool = Field(
        default=True, description="Whether the certificate of a server is checked."
    )

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        # Its port may be a placeholder, so that nothing else can be checked here.
        if not re.match(r"https?://[^/]", url):
            raise ValueError("must begin with http:// or https:// and a host")
        if "?" in url or "#" in url:
            raise ValueError("ends with a path: write the query in the path of a step")
        return url

    def texts(self) -> tuple[str, ...]:
        return (self.url, *self.headers.values())

    @property
    def server(self) -> str:
        return self.url


class HttpRequest(Table):
    """A request, and which answer is a good one."""

    method: Annotated[str, AfterValidator(_method)] = Field(
        default="GET", description="The method."
    )
    path: Annotated[str, AfterValidator(_one_line), AfterValidator(_path)] = Field(
        default="/",
        description="Path and query; `:name` stands for a parameter.",
    )
    headers: Headers = Field(
        default_factory=dict, description="Headers; `:name` stands for a parameter."
    )
    body: str | None = Field(
        default=None, description="The body as text; `:name` stands for a parameter."
    )
    json_body: PlainJson = Field(
        default=None,
        alias="json",
        description="The body as a value that is sent as JSON; a text `:name` becomes the parameter"
        " with its type.",
    )
    expect_status: Statuses = Field(
        default=(),
        description="Statuses of a good answer; by default 200 to 399.",
    )
    expect_body: Pattern | None = Field(
        default=None, description="A regular expression that is found in the body of a good answer."
    )

    @model_validator(mode="after")
    def _has_one_body(self) -> Self:
        if self.body is not None and self.json_body is not None:
            raise ValueError("has both body and json")
        return self

    def texts(self) -> tuple[str, ...]:
        """All its texts in which placeholders and parameters are replaced."""
        in_json: list[str] = []
        _with_texts(self.json_body, in_json.append)
        return (self.path, *self.headers.values(), self.body or "", *in_json)


class HttpStep(HttpRequest, Step):
    """A request to the server."""

    @model_validator(mode="after")
    def _uses_all_params(self) -> Self:
        found = {name for text in self.texts() for name in names_in(text)}
        # A colon has other uses here, such as 12:30; so only what has a value is a parameter.
        check_params(found & self.params.keys(), self.params)
        return self


class HttpScript(Script):
    """Requests around a launch."""

    requests: Annotated[tuple[HttpRequest, ...], BeforeValidator(fields.as_tuple)] = Field(
        default=(), description="Requests, one after the other; each must get a good answer."
    )

    def texts(self) -> tuple[str, ...]:
        return tuple(text for request in self.requests for text in request.texts())


def host_and_port(url: str) -> tuple[str, int]:
    """Return the host and the port of a URL.

    Raises:
        ValueError: it has no host, or its port is not a number.
    """
    parts = urlsplit(url)
    if not parts.hostname:
        raise ValueError("it has no host")
    return parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_SAME_METHOD: Final = frozenset({307, 308})
_CONTENT_HEADER: Final = re.compile(rb"(?im)^content-(?:type|length):.*\n")
_MOST_REDIRECTS: Final = 10
_SHOWN_CHARACTERS: Final = 200


class HttpDriver(Driver[HttpTarget, HttpStep, HttpScript]):
    """Loads a server with HTTP/1.1."""

    NAME = "http"
    TARGET = HttpTarget
    STEP = HttpStep
    SCRIPT = HttpScript

    def __init__(self, target: HttpTarget, steps: Sequence[HttpStep], place: LaunchPlace) -> None:
        super().__init__(target, steps, place)
        url = place.expand(target.url).rstrip("/")
        try:
            self.host, self.port = host_and_port(url)
        except ValueError as error:
            raise TargetError(self.conceal(f"the url cannot be used: {error}")) from None
        parts = urlsplit(url)
        authority = parts.netloc.rpartition("@")[2]
        self.prefix = parts.path
        self.origin = f"{parts.scheme}://{authority}"
        self.tls = _tls(verify=target.verify) if parts.scheme == "https" else None
        own = {"Host": authority, "User-Agent": "benchgate", "Accept": "*/*"}
        if parts.username is not None:
            both = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            own["Authorization"] = f"Basic {base64.b64encode(both.encode()).decode()}"
        self.headers = with_headers(own, self.expanded(target.headers))

    def expanded(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Replace placeholders and variables in headers."""
        return {name: self.place.expand(text) for name, text in headers.items()}

    def expanded_request(self, request: HttpRequest) -> HttpRequest:
        """Replace placeholders and variables in a request; what a path gets is percent-encoded."""
        expand = self.place.expand
        return request.model_copy(
            update={
                "path": each_expanded(request.path, lambda one: quote(expand(one), safe="")),
                "headers": self.expanded(request.headers),
                "body": request.body and expand(request.body),
                "json_body": _with_texts(request.json_body, expand),
            }
        )

    def connect(self, worker: int) -> HttpConnection:  # noqa: ARG002 - all workers do the same
        wire = Wire(self.host, self.port, tls=self.tls, timeout_s=self.target.timeout_s)
        try:
            wire.open()
        except ERRORS as error:
            message = f"cannot connect to {self.origin}: {reason(error)}"
            raise TargetError(self.conceal(message)) from None
        return HttpConnection(self, wire)

    def run(self, script: HttpScript) -> None:
        connection = self.connect(0)
        try:
            for number, request in enumerate(script.requests, 1):
                try:
                    connection.operation(request, ())({})
                except OperationError as error:
                    where = f"requests[{number}], {request.method} {request.path}"
                    raise TargetError(self.conceal(f"{where}: {error}")) from None
        finally:
            connection.close()

    def introspect(self) -> Mapping[str, str]:
        """Ask for the Server header."""
        connection = self.connect(0)
        try:
            server = connection.server()
        except OperationError as error:
            raise TargetError(str(error)) from None
        finally:
            connection.close()
        return {} if server is None else {"server": self.conceal(server)}


class HttpConnection(Connection):
    """A worker's connection, and the cookies that the server gave it."""

    def __init__(self, driver: HttpDriver, wire: Wire) -> None:
        self._driver = driver
        self._wire = wire
        self._cookies: dict[str, str] = {}
        self._cookie_line = b""

    def operations(self) -> Sequence[Operation]:
        return [self.operation(step, step.params) for step in self._driver.steps]

    def interrupt(self) -> None:
        self._wire.interrupt()

    def close(self) -> None:
        self._wire.close()

    def operation(self, request: HttpRequest, names: Collection[str]) -> Operation:
        """Return a function that sends a request and checks the answer.

        Args:
            names: of its parameters.
        """
        driver, exchange, method = self._driver, self._wire.exchange, request.method
        request = driver.expanded_request(request)
        headers = with_headers(driver.headers, request.headers)
        if request.json_body is not None:
            headers = with_headers({"Content-Type": "application/json"}, headers)
        message = message_of(request, names, prefix=driver.prefix, headers=headers)
        good = frozenset(request.expect_status or range(200, 400))
        pattern = request.expect_body
        find = None if pattern is None else re.compile(pattern.encode()).search
        whole, follows = find is not None, driver.target.follow_redirects

        def operation(params: Parameters) -> None:
            try:
                head, rest = message(params)
                sent = head + self._cookie_line + rest
                status, answered, body = exchange(sent, method, whole=whole)
                if "set-cookie" in answered:
                    self._keep_cookies(answered)
                if follows and status in _REDIRECTS:
                    status, body = self._followed(
                        (head, rest), (status, answered, body), whole=whole
                    )
            except ERRORS as error:
                raise OperationError(driver.conceal(reason(error))) from None
            if status not in good:
                # A secret that is cut would not be recognized.
                shown = driver.conceal(body[:SEEN_BYTES].decode("utf-8", "replace"))
                raise OperationError(f"status {status} {shown[:_SHOWN_CHARACTERS]}".strip())
            if find is not None and find(body) is None:
                raise OperationError(driver.conceal(f"the body does not match {pattern!r}"))

        return operation

    def server(self) -> str | None:
        """Ask what the server calls itself.

        Raises:
            OperationError: there was no answer.
        """
        driver, request = self._driver, HttpRequest(method="HEAD")
        message = message_of(request, (), prefix=driver.prefix, headers=driver.headers)
        try:
            return self._wire.exchange(b"".join(message({})), request.method)[1].get("Server")
        except ERRORS as error:
            raise OperationError(driver.conceal(reason(error))) from None

    def _keep_cookies(self, headers: Message) -> None:
        for text in headers.get_all("set-cookie", ()):
            try:
                for name, cookie in SimpleCookie(text).items():
                    if cookie["max-age"] == "0":
                        self._cookies.pop(name, None)
                    else:
                        self._cookies[name] = cookie.coded_value
            except CookieError:
                continue
        pairs = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        self._cookie_line = f"Cookie: {pairs}\r\n".encode() if pairs else b""

    def _followed(
        self, request: tuple[bytes, bytes], answer: tuple[int, Message, bytes], *, whole: bool
    ) -> tuple[int, bytes]:
        """Follow redirects on the same server; return the last status and body."""
        (head, rest), (status, headers, body) = request, answer
        origin = self._driver.origin
        first, _, lines = head.partition(b"\r\n")
        method, path, _ = first.decode().split(" ")
        for _ in range(_MOST_REDIRECTS):
            location = headers.get("Location")
            if status not in _REDIRECTS or location is None:
                return status, body
            url = urljoin(origin + path, location)
            if not url.startswith(f"{origin}/"):
                raise ValueError("a redirect to another server is not followed")
            path = url.removeprefix(origin).partition("#")[0]
            if status not in _SAME_METHOD and method != "HEAD":
                method, rest = "GET", b"\r\n"
                lines = _CONTENT_HEADER.sub(b"", lines)
            message = f"{method} {path} HTTP/1.1\r\n".encode() + lines + self._cookie_line + rest
            status, headers, body = self._wire.exchange(message, method, whole=whole, goes_on=True)
            self._keep_cookies(headers)
        raise ValueError(f"more than {_MOST_REDIRECTS} redirects")


def _with_texts(value: object, change: Callable[[str], object]) -> object:
    """A JSON value whose texts, other than keys, are changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _with_texts(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_texts(item, change) for item in value]
    return value


def _tls(*, verify: bool) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context

"""The driver `http`: requests to a server, over one connection for each worker."""

from __future__ import annotations

import base64
import re
import ssl
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote, urljoin, urlsplit

from benchgate.load.drivers.concealing import Concealer, passwords_in, values_in
from benchgate.load.drivers.driver import Connection, Driver, OperationError, TargetError
from benchgate.load.drivers.http_message import message_of, with_headers
from benchgate.load.drivers.http_tables import (
    HttpScript,
    HttpStep,
    HttpTarget,
    Request,
    host_and_port,
)
from benchgate.load.drivers.http_wire import ERRORS, SEEN_BYTES, Wire, reason
from benchgate.load.substitution import each_expanded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from email.message import Message

    from benchgate.load.drivers.driver import Operation, Place
    from benchgate.load.values import Parameters

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

    def __init__(self, target: HttpTarget, steps: Sequence[HttpStep], place: Place) -> None:
        super().__init__(target, steps, place)
        url = place.expand(target.url).rstrip("/")
        written = [*target.texts(), *(text for step in steps for text in step.texts())]
        self._secrets = values_in(written, place.expand) | passwords_in(url)
        self.conceal = Concealer(self._secrets)
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

    def expanded_request(self, request: Request) -> Request:
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
        """Open the connection of a worker.

        Raises:
            TargetError: it cannot be opened.
        """
        wire = Wire(self.host, self.port, tls=self.tls, timeout_s=self.target.timeout_s)
        try:
            wire.open()
        except ERRORS as error:
            message = f"cannot connect to {self.origin}: {reason(error)}"
            raise TargetError(self.conceal(message)) from None
        return HttpConnection(self, wire)

    def run(self, script: HttpScript) -> None:
        """Send requests, one after the other.

        Raises:
            TargetError: one of them did not get a good answer.
        """
        more = values_in(script.texts(), self.place.expand)
        self.conceal = Concealer(self._secrets | more)
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
        """Ask for the Server header.

        Raises:
            TargetError: it does not answer.
        """
        connection = self.connect(0)
        try:
            server = connection.headers_of(Request(method="HEAD")).get("Server")
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
        """Return one operation for each step."""
        return [self.operation(step, step.params) for step in self._driver.steps]

    def interrupt(self) -> None:
        """Make the running request fail soon."""
        self._wire.interrupt()

    def close(self) -> None:
        """Close it."""
        self._wire.close()

    def operation(self, request: Request, names: Collection[str]) -> Operation:
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
                shown = driver.conceal.in_lines(body[:SEEN_BYTES].decode("utf-8", "replace"))
                text = f"status {status} {shown[:_SHOWN_CHARACTERS]}"
                raise OperationError(driver.conceal(text))
            if find is not None and find(body) is None:
                raise OperationError(driver.conceal(f"the body does not match {pattern!r}"))

        return operation

    def headers_of(self, request: Request) -> Message:
        """Send a request, and return the headers of the answer, whatever its status is.

        Raises:
            OperationError: there was no answer.
        """
        driver = self._driver
        message = message_of(request, (), prefix=driver.prefix, headers=driver.headers)
        try:
            return self._wire.exchange(b"".join(message({})), request.method)[1]
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


def _with_texts(value: object, change: Callable[[str], str]) -> object:
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

"""A connection to an HTTP/1.1 server that stays open between requests.

It sends requests as bytes that are ready, and looks at most answers no closer than it must. That
costs a tenth of what a `requests` session does, so less of the measured time is the generator's.
"""

from __future__ import annotations

import io
import re
import select
import socket
import ssl
import sys
import time
from contextlib import suppress
from email.message import Message
from functools import partial
from http.client import HTTPException, HTTPResponse, IncompleteRead, RemoteDisconnected
from typing import TYPE_CHECKING, Final, cast

from benchgate.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed import WriteableBuffer as Buffer

ERRORS: Final = (OSError, HTTPException, ValueError)
MOST_CHECKED_BYTES: Final = 2**26
"""Size limit of a body that is looked at; of another one, only the beginning is kept."""

SEEN_BYTES: Final = 2**14
"""How much of a body is kept that is not looked at, for messages."""

_CHUNK_BYTES: Final = 2**14
_BUFFER_BYTES: Final = 2**16
_NO_HEADERS: Final = Message()
_NOT_PLAIN: Final = (0, 0, 0)
_PLAIN_STATUS: Final = re.compile(rb"http/1\.1 ((?:2|4|5)\d\d)[ \r]")
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,15})[ \t]*(?=\r\n)")
_MATTERS: Final = re.compile(
    rb"\r\n(?:transfer-encoding|set-cookie|connection:(?![ \t]*keep-alive[ \t]*\r\n))"
)
_REASONS: Final[Mapping[type[Exception], str]] = {
    TimeoutError: "the server did not answer in time",
    ConnectionRefusedError: "the connection was refused",
    RemoteDisconnected: "the server closed the connection without an answer",
    IncompleteRead: "the server closed the connection in the middle of its answer",
}


class Wire:
    """One connection, opened when it is needed.

    Args:
        tls: for https; None for http.
        timeout_s: an exchange that takes longer has failed.
    """

    def __init__(
        self, host: str, port: int, *, tls: ssl.SSLContext | None, timeout_s: float
    ) -> None:
        self._host = host
        self._port = port
        self._tls = tls
        self._timeout_s = timeout_s
        self._deadline_s = 0.0
        self._buffer: memoryview | None = None
        self._socket: socket.socket | None = None
        self._poll = select.poll()

    def open(self) -> socket.socket:
        """Connect.

        Raises:
            OSError: the server does not accept, or its certificate is not valid.
        """
        raw = socket.create_connection((self._host, self._port), self._timeout_s)
        try:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            opened = raw
            if self._tls is not None:
                opened = self._tls.wrap_socket(raw, server_hostname=self._host)
        except BaseException:
            raw.close()
            raise
        self._poll = select.poll()
        self._poll.register(opened, select.POLLIN)
        self._socket = opened
        return opened

    def exchange(
        self, message: bytes, method: str, *, whole: bool = False, goes_on: bool = False
    ) -> tuple[int, Message, bytes]:
        """Send a request, and receive the whole answer: its status, headers and body.

        Args:
            whole: whether the body is returned whole; otherwise only its first SEEN_BYTES, or more.
            goes_on: whether the time limit is that of the exchange before.
        """
        if not goes_on:
            self._deadline_s = time.monotonic() + self._timeout_s
        opened = self._socket
        if opened is not None and self._poll.poll(0) and _is_closed(opened):
            self.close()
            opened = None
        is_late = goes_on or opened is None or len(message) > _CHUNK_BYTES
        if opened is None:
            opened = self.open()
        try:
            opened.sendall(message)
            if is_late:  # the others have all the time left, and are spared a system call
                self._set_timeout(opened)
            first = opened.recv(_CHUNK_BYTES)
            status, length, start = _plain_head(first) if method != "HEAD" else _NOT_PLAIN
            body = first[start:]
            if status and len(body) == length and not is_late:
                return status, _NO_HEADERS, body
            try:
                if status:
                    receive = partial(self._receive, opened)
                    return status, _NO_HEADERS, self._body(receive, body, length, whole=whole)
                return self._any_answer(opened, first, method, whole=whole)
            except TimeoutError:
                raise ValueError(
                    f"the answer did not end within {format_duration(self._timeout_s)}, "
                    "the `timeout` of the target"
                ) from None
            finally:
                if self._socket is not None:
                    opened.settimeout(self._timeout_s)
        except BaseException:
            self.close()
            raise

    def _set_timeout(self, opened: socket.socket) -> None:
        """Let the next call of the socket take what is left."""
        left_s = self._deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        opened.settimeout(left_s)

    def _receive(self, opened: socket.socket, buffer: Buffer) -> int:
        self._set_timeout(opened)
        return opened.recv_into(buffer)

    def _any_answer(
        self, opened: socket.socket, first: bytes, method: str, *, whole: bool
    ) -> tuple[int, Message, bytes]:
        receive = partial(self._receive, opened)
        stream = cast("socket.socket", _Stream(first, receive))
        with HTTPResponse(stream, method=method) as response:
            response.begin()
            body = self._body(response.readinto, b"", response.length, whole=whole)
            if response.will_close:
                self.close()
        return response.status, response.headers, body

    def _body(
        self,
        read_into: Callable[[memoryview], int | None],
        begun: bytes,
        length: int | None,
        *,
        whole: bool,
    ) -> bytes:
        """Receive a body to its end, and keep all of it, or its beginning.

        Args:
            begun: what is there already.
            length: of the whole body; None if only its sender knows.
        """
        if length is not None and len(begun) > length:
            raise ValueError("the answer is longer than it says")
        self._buffer = buffer = self._buffer or memoryview(bytearray(_BUFFER_BYTES))
        missing = sys.maxsize if length is None else length - len(begun)
        body = bytearray(begun)
        while missing and (count := read_into(buffer[:missing])):
            missing -= count
            if whole or len(body) < SEEN_BYTES:
                body += buffer[:count]
            if len(body) > MOST_CHECKED_BYTES:
                raise ValueError(
                    f"the body is larger than {MOST_CHECKED_BYTES >> 20} MiB, so `expect_body`"
                    " cannot check it"
                )
        if missing and length is not None:
            raise IncompleteRead(b"", missing)
        return bytes(body)

    def interrupt(self) -> None:
        """Make a running exchange fail; called from another thread."""
        opened = self._socket
        if opened is not None:
            with suppress(OSError):  # it is closed already
                opened.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        opened, self._socket = self._socket, None
        if opened is not None:
            opened.close()


class _Stream(io.RawIOBase):
    """What a server sends, when its beginning was received already.

    It is what HTTPResponse needs of a socket.
    """

    def __init__(self, first: bytes, receive: Callable[[Buffer], int]) -> None:
        super().__init__()
        self._first = first
        self._receive = receive

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        if not self._first:
            return self._receive(view)
        part = self._first[: len(view)]
        view[: len(part)] = part
        self._first = self._first[len(part) :]
        return len(part)


def _plain_head(data: bytes) -> tuple[int, int, int]:
    """Read the head of an answer in which nothing matters but its status and length.

    Returns:
        Its status, the length of its body, and where the body begins. The status is 0 if it is not
        such an answer, or not whole.
    """
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return _NOT_PLAIN
    head = data[: end + 2].lower()
    status, lengths = _PLAIN_STATUS.match(head), _LENGTH.findall(head)
    if status is None or len(lengths) != 1 or _MATTERS.search(head):
        return _NOT_PLAIN
    return int(status[1]), int(lengths[0]), end + 4


def _is_closed(opened: socket.socket) -> bool:
    """Whether the server has closed the connection, or says what nobody asked for."""
    timeout = opened.gettimeout()
    opened.settimeout(0)
    try:
        opened.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):  # it was a message of TLS itself
        opened.settimeout(timeout)
        return False
    except OSError:
        return True
    return True


def reason(error: Exception) -> str:
    """Say why an exchange failed."""
    for kind, text in _REASONS.items():
        if isinstance(error, kind):
            return text
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {error.verify_message}"
    if isinstance(error, HTTPException):
        return f"the answer is not valid HTTP: {error!r}"
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__

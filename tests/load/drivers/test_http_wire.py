"""Answers in all forms, in one piece and in many."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager, suppress
from itertools import product
from typing import TYPE_CHECKING

import pytest
from tests.patience import limited

from benchgate.load.drivers import http_wire
from benchgate.load.drivers.http_wire import ERRORS, SEEN_BYTES, Wire, reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LARGE = b"0123456789abcdef" * 2**16
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

WHOLE = [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
    (b"HTTP/1.1 200\r\ncontent-length:2  \r\n\r\nok", 200, b"ok"),
    (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404, b""),
    (b"HTTP/1.1 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
    (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
    (b"HTTP/1.1 301 Moved\r\nLocation: /\r\nContent-Length: 2\r\n\r\nok", 301, b"ok"),
    (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
    (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
    (
        CHUNKED + b"1;x=y\r\no\r\n1\r\nk\r\n0\r\nTrailer: 1\r\n\r\n",
        200,
        b"ok",
    ),
    (b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(LARGE) + LARGE, 200, LARGE),
    (b"HTTP/1.1 500 X\r\nX: %b\r\nContent-Length: 2\r\n\r\nok" % (b"y" * 40_000), 500, b"ok"),
]
UNTIL_CLOSED = [
    (b"HTTP/1.1 200 OK\r\n\r\nok", 200, b"ok"),
    (b"HTTP/1.0 200 OK\r\n\r\n", 200, b""),
]
WRONG = [
    (b"", "the server closed the connection without an answer"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", "in the middle of its answer"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nok", "the answer is longer than it says"),
    (
        CHUNKED + b"9\r\nok",
        "in the middle of its answer",
    ),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", "in the middle of its answer"),
    (b"hello\r\n\r\n", "the answer is not valid HTTP: BadStatusLine"),
]
PIECES = pytest.mark.parametrize("size", [2**21, 7])


def exchanged(sent: bytes, size: int, *, then_close: bool, whole: bool = True) -> tuple[int, bytes]:
    """Get an answer that comes in pieces of a size; the first 30 of them one by one."""
    pieces = [sent[begin : begin + size] for begin in range(0, min(len(sent), 30 * size), size)]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        wire = Wire("127.0.0.1", port, tls=None, timeout_s=20)
        thread = threading.Thread(
            target=_serve, args=(listener, [*pieces, sent[30 * size :]], then_close)
        )
        thread.start()
        try:
            status, _, body = wire.exchange(b"GET / HTTP/1.1\r\n\r\n", "GET", whole=whole)
            return status, body
        finally:
            wire.close()
            thread.join()


def _serve(listener: socket.socket, pieces: Sequence[bytes], then_close: bool) -> None:  # noqa: FBT001
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection:
        connection.recv(1000)
        for piece in filter(None, pieces):
            connection.sendall(piece)
            time.sleep(0.001)
        if not then_close:
            connection.recv(1)  # until the client closes it


@PIECES
@pytest.mark.parametrize(("sent", "status", "body"), WHOLE)
def test_a_whole_answer(sent: bytes, size: int, status: int, body: bytes) -> None:
    assert exchanged(sent, size, then_close=False) == (status, body)


@PIECES
@pytest.mark.parametrize(("sent", "status", "body"), UNTIL_CLOSED)
def test_an_answer_without_a_length(sent: bytes, size: int, status: int, body: bytes) -> None:
    assert exchanged(sent, size, then_close=True) == (status, body)


@PIECES
@pytest.mark.parametrize(("sent", "why"), WRONG)
def test_a_wrong_answer(sent: bytes, size: int, why: str) -> None:
    if "longer" in why and size < len(sent):
        return  # what comes later is found before the next request
    with pytest.raises(ERRORS) as caught:
        exchanged(sent, size, then_close=True)
    assert why in reason(caught.value)


HEADS = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
    CHUNKED,
]
OPEN_HEAD = b"HTTP/1.1 200 OK\r\nX: "


@contextmanager
def endless(head: bytes, pause_s: float = 0.0, timeout_s: float = 60.0) -> Iterator[Wire]:
    """A connection to a server whose answer never ends."""
    piece = b"fff0\r\n" + b"x" * 0xFFF0 + b"\r\n" if head == CHUNKED else b"x" * 2**16
    if pause_s:
        piece = b"1\r\nx\r\n" if head == CHUNKED else b"x"

    def serve() -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.recv(1000)
            connection.sendall(head)
            while True:
                connection.sendall(piece)
                time.sleep(pause_s)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        wire = Wire("127.0.0.1", listener.getsockname()[1], tls=None, timeout_s=timeout_s)
        try:
            yield wire
        finally:
            wire.close()
            thread.join()


@pytest.mark.parametrize(("head", "pause_s"), [*product(HEADS, [0.0, 0.05]), (OPEN_HEAD, 0.05)])
def test_an_answer_that_does_not_end(head: bytes, pause_s: float) -> None:
    reasons: list[str] = []

    def exchange(limit_s: float) -> None:
        with endless(head, pause_s, limit_s) as wire, pytest.raises(ERRORS) as caught:
            wire.exchange(b"GET / HTTP/1.1\r\n\r\n", "GET")
        reasons.append(reason(caught.value))

    limited(exchange, lambda: reasons[-1] != "the server did not answer in time")
    assert reasons[-1].startswith("the answer did not end within ")
    assert reasons[-1].endswith(" s, the `timeout` of the target")


def test_a_line_that_does_not_end() -> None:
    with endless(OPEN_HEAD) as wire, pytest.raises(ERRORS) as caught:
        wire.exchange(b"GET / HTTP/1.1\r\n\r\n", "GET")
    assert reason(caught.value).startswith("the answer is not valid HTTP: LineTooLong")


@pytest.mark.parametrize("head", HEADS)
def test_a_body_that_is_too_large_to_check(head: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_wire, "MOST_CHECKED_BYTES", 2**20)
    with endless(head) as wire, pytest.raises(ERRORS) as caught:
        wire.exchange(b"GET / HTTP/1.1\r\n\r\n", "GET", whole=True)
    assert reason(caught.value) == (
        "the body is larger than 1 MiB, so `expect_body` cannot check it"
    )


@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_of_a_body_that_is_not_checked_only_the_beginning_is_kept(framing: str) -> None:
    head = b"HTTP/1.1 200 OK\r\n"
    sent = head + b"Content-Length: %d\r\n\r\n" % len(LARGE) + LARGE
    if framing == "chunks":
        sent = CHUNKED + b"%x\r\n" % len(LARGE) + LARGE + b"\r\n0\r\n\r\n"
    status, body = exchanged(sent, 2**21, then_close=False, whole=False)
    assert status == 200
    assert SEEN_BYTES <= len(body) < SEEN_BYTES + 2**16
    assert LARGE.startswith(body)

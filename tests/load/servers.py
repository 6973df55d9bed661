"""HTTP servers on loopback whose answers are scripted."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping, Sequence
    from io import BufferedReader


@dataclass(frozen=True, slots=True)
class Request:
    """What the server received."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server answers.

    Attributes:
        delay_s: how long it waits first.
        hang_up: whether it closes the connection without an answer.
        last: whether it closes the connection after the answer.
        chunked: whether the body is sent in chunks.
    """

    body: bytes = b"ok"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    hang_up: bool = False
    last: bool = False
    chunked: bool = False

    def __bytes__(self) -> bytes:
        framing = (
            {"Transfer-Encoding": "chunked"}
            if self.chunked
            else {"Content-Length": str(len(self.body))}
        )
        close = {"Connection": "close"} if self.last else {}
        lines = [f"HTTP/1.1 {self.status} Scripted"]
        lines += [f"{name}: {text}" for name, text in {**framing, **close, **self.headers}.items()]
        head = "\r\n".join(lines).encode() + b"\r\n\r\n"
        if self.chunked:
            return head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(self.body), self.body)
        return head + self.body


OK = Answer()


class HttpServer:
    """Serves HTTP/1.1 with keep-alive on loopback, one thread for each connection.

    Args:
        answer: called for each request, from several threads.
        stalls: times in seconds since `restart_clock` (or the start), and how long the whole server
            answers nothing from then on.
        port: where to listen; 0 for any.
        tls: to speak HTTPS.
    """

    def __init__(
        self,
        answer: Callable[[Request], Answer] = lambda _: OK,
        *,
        stalls: Sequence[tuple[float, float]] = (),
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.answer = answer
        self.stalls = tuple(stalls)
        self._tls = tls
        self.requests: list[Request] = []
        self.connections = 0
        self._began = time.monotonic()
        self._open: set[socket.socket] = set()
        self._closing = threading.Event()
        self._server = _Listener(("127.0.0.1", port), self._serve)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def restart_clock(self) -> None:
        """Let the times of `stalls` count from now."""
        self._began = time.monotonic()

    def close(self) -> None:
        """Close the port and all connections."""
        self._closing.set()
        self._server.shutdown()
        for connection in list(self._open):
            with suppress(OSError):  # the client was faster
                connection.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _serve(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections += 1
        self._open.add(connection)
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as stream:
                while (request := _read(stream)) is not None:
                    self.requests.append(request)
                    answer = self.answer(request)
                    self._wait(answer)
                    if answer.hang_up:
                        return
                    connection.sendall(bytes(answer))
                    if answer.last:
                        return
        except OSError:
            pass  # the client went away
        finally:
            self._open.discard(connection)

    def _wait(self, answer: Answer) -> None:
        if answer.delay_s:
            self._closing.wait(answer.delay_s)
        for begin_s, length_s in self.stalls:
            now_s = time.monotonic() - self._began
            if begin_s <= now_s < begin_s + length_s:
                self._closing.wait(begin_s + length_s - now_s)


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], serve: Callable[[socket.socket], None]) -> None:
        super().__init__(address, socketserver.BaseRequestHandler)
        self._serve = serve

    def finish_request(self, request: object, client_address: object) -> None:  # noqa: ARG002
        assert isinstance(request, socket.socket)
        self._serve(request)


def _read(stream: BufferedReader) -> Request | None:
    readline = stream.readline
    first = readline()
    if not first.strip():
        return None
    method, path, _ = first.decode("latin-1").split(" ", 2)
    headers = {}
    while (line := readline()) not in {b"\r\n", b""}:
        name, _, text = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = text.strip()
    size = int(headers.get("content-length", "0"))
    body = stream.read(size) if size else b""
    return Request(method, path, headers, body)

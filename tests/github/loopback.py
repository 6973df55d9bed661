"""A web server on loopback that answers as a test says, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from benchgate.github.client import Client
from benchgate.github.transport import Token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

SECRET = "ghs_" + "s3cr3t" * 6


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """Of a dropped connection nothing comes; of a cut one half of what was announced."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: Iterable[bytes] = ()
    dropped: bool = False
    cut: bool = False


def answered(value: object, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status, json.dumps(value).encode(), named)


def moved(url: str, status: int = 302) -> Reply:
    return Reply(status, headers={"Location": url})


class Server(ThreadingHTTPServer):
    """Gives its replies in order, the last one again and again."""

    def __init__(self, *replies: Reply | Callable[[Asked], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies = list(replies)
        self.asked: list[Asked] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply if isinstance(reply, Reply) else reply(asked)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.reply(Asked(self.command, self.path, headers, self.rfile.read(length)))
        self.close_connection = True
        if reply.dropped:
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if not reply.chunks:
            self.send_header("Content-Length", str(len(reply.body) * (1 + reply.cut)))
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for chunk in reply.chunks or (reply.body,):
                self.wfile.write(chunk)
                self.wfile.flush()
        except OSError:  # the client has seen enough
            return

    do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815 - the names are http.server's

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(*replies: Reply | Callable[[Asked], Reply]) -> Iterator[Server]:
    with Server(*replies) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@dataclass(slots=True)
class Time:
    """Passes when it is slept, and by `step_s` whenever it is looked at."""

    now_s: float = 1000.0
    step_s: float = 0.0
    slept: list[float] = field(default_factory=list)

    def clock(self) -> float:
        self.now_s += self.step_s
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


class RealTime(Time):
    def clock(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@contextmanager
def client_of(
    url: str, passing: Time | None = None, *, token: str | None = SECRET, limit_s: float = 120.0
) -> Iterator[Client]:
    passing = passing or Time()
    yield Client(
        url,
        None if token is None else Token(token),
        clock=passing.clock,
        sleep=passing.sleep,
        draw=lambda: 0.5,
        limit_s=limit_s,
    )

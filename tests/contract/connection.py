"""HTTP on loopback: a server in a thread, and the ways in which a connection can fail."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING, Any

from werkzeug.serving import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from wsgiref.types import WSGIApplication, WSGIEnvironment

    from werkzeug.wrappers import Response

LOOPBACK = "127.0.0.1"


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002, ANN401 - werkzeug's
        """Say nothing: the journal knows."""


class Host:
    """One server on a port of its own, from entering to leaving.

    Args:
        name: by which clients reach it.
    """

    def __init__(self, app: WSGIApplication, name: str) -> None:
        self._server = make_server(LOOPBACK, 0, app, threaded=True, request_handler=_Quiet)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.005}, daemon=True
        )
        self.url = f"http://{name}:{self._server.port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def hang_up(environ: WSGIEnvironment) -> None:
    """End the connection as a machine does that goes down.

    Raises:
        ConnectionAbortedError: werkzeug takes it for the client's own doing.
    """
    environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    raise ConnectionAbortedError


def cut_short(response: Response, environ: WSGIEnvironment) -> None:
    """Let a response end after half of the body whose length its headers promise."""
    body = response.get_data()

    def half() -> Iterator[bytes]:
        yield body[: len(body) // 2]
        hang_up(environ)

    response.response = half()
    response.content_length = len(body)
